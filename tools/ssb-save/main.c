/* ssb-save: a phase image, the sum pattern of a region or the table of a fit in the formats of other programs. */
#include <archive.h>
#include <hdf5.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#include "tools/common/cli.h"
#include "tools/common/message.h"
#include "tools/common/meta.h"
#include "tools/common/profile.h"
#include "tools/ssb-save/outputs.h"

/* 0 ("auto") or a whole number. */
static bool parse_zoom(const cli_option *option, const char *text, ssb_error *err)
{
	if (strcmp(text, "auto") != 0)
		return cli_count(option, text, err);
	*(size_t *)option->target = 0;
	return true;
}

static bool parse_contrast(const cli_option *option, const char *text, ssb_error *err)
{
	double *percent = option->target;
	if (!cli_pair(option, text, err))
		return false;
	return (0 <= percent[0] && percent[0] < percent[1] && percent[1] <= 100) ||
	       ssb_fail(err, SSB_USAGE, "'%s' are no two percentiles, the lower first, from 0 to 100", text);
}

/* The container's history with this stage. Never a time of day: the same picture is the same bytes. */
static json_t *history_of(const cli_program *program, const cli_common *common, const ssb_reader *reader, const char *digest)
{
	cli_common timeless = *common;
	timeless.reproducible = true;
	return cli_history(program, &timeless, ssb_reader_history(reader), json_pack("[o]", meta_input(reader, digest)));
}

/* A map's picture shows all of its values, in colour. */
static void set_map_defaults(picture_options *options, const json_t *given)
{
	if (!json_object_get(given, "contrast")) {
		options->contrast[0] = 0;
		options->contrast[1] = 100;
	}
	if (!json_object_get(given, "colormap"))
		options->colormap = COLORMAP_VIRIDIS;
}

static bool save(const cli_program *program, const cli_common *common, const content_choice *choice, picture_options *options, ssb_error *err)
{
	const char *const *paths = common->operand + 1;
	const size_t count = common->operands - 1;
	save_content content = {0};
	char digest[17];
	profile_phase("read");
	ssb_reader *reader = ssb_reader_open(common->operand[0], common->memory, err);
	bool ok = reader && content_load(&content, reader, choice, digest, err) &&
	          content_record(&content, digest, history_of(program, common, reader, digest), err);
	if (ok && content.not_finite)
		message_warn(NULL, "%zu of %zu pixels hold no number: a picture shows them as the lowest value", content.not_finite,
		             content_pixels(&content));
	options->memory = common->memory;
	if (content.objective)
		set_map_defaults(options, common->options);
	profile_phase("write");
	ok = ok && outputs_write(&content, options, paths, count, err);
	content_free(&content);
	ssb_reader_close(reader);
	return ok;
}

static bool check_operands(const cli_common *common, ssb_error *err)
{
	if (common->operands < 2)
		return ssb_fail(err, SSB_USAGE, "an input and at least one output are needed (ssb-save -h shows the usage)");
	for (size_t i = 1; i < common->operands; i++)
		if (!cli_distinct(common->operand[0], common->operand[i], err))
			return false;
	return outputs_check(common->operand + 1, common->operands - 1, err);
}

static const char *library_versions(char text[200])
{
	unsigned hdf5[3] = {0};
	char tiff[16] = "";
	H5get_libversion(&hdf5[0], &hdf5[1], &hdf5[2]);
	sscanf(TIFFGetVersion(), "LIBTIFF, Version %15s", tiff);
	snprintf(text, 200, "HDF5 %u.%u.%u, libpng %s, libtiff %s, %s", hdf5[0], hdf5[1], hdf5[2], png_get_libpng_ver(NULL), tiff,
	         archive_version_string());
	return text;
}

int main(int argc, char **argv)
{
	picture_options options = {.contrast = {0.5, 99.5}};
	content_choice choice = {0};
	int bits = 0, array = -1;
	bool no_scale_bar = false;
	char versions[200];
	static const char *const arrays[] = {"phase", "thin", "halves"};
	const cli_option table[] = {
		{"array", 0, "phase|thin|halves", cli_choice, &array, "the array of a phase file to save, alone (default: phase, and in .npz and .h5 the others too)"},
		{"page", 0, "N", cli_count, &choice.page, "of a stack the image to save, alone, 1 the first (default: all; in a .png side by side)"},
		{"colormap", 0, COLORMAP_NAMES, cli_choice, &options.colormap, "colours of a picture (default: gray; of a map viridis)"},
		{"contrast", 0, "LOW,HIGH", parse_contrast, options.contrast, "percentiles of the pixels that become a picture's darkest and lightest (default: 0.5,99.5; of a map 0,100)"},
		{"bits", 0, "8|16", cli_choice, &bits, "bits of a picture's gray or colours (default: 8)"},
		{"zoom", 0, "N|auto", parse_zoom, &options.zoom, "pixels of a picture for each pixel of the image (default: auto, to be at least 512 wide); pixels that are not square in the specimen are made square; of a map the size of everything (default 1)"},
		{"no-scale-bar", 0, NULL, cli_flag, &no_scale_bar, "leave the scale bar out"},
	};
	const cli_program program = {
		"ssb-save", "Save a phase, the sum pattern of a region, the table of a fit or a map for other programs.", "INPUT OUTPUT…",
		"INPUT is a file of ssb-recon, ssb-decode or ssb-fit, or - for standard input. The extension of each OUTPUT says its format: "
		".npy .npz .tif .png .h5 (NeXus) .json .zip (all of these) for an image, .json .csv .txt .zip for a fit, all but .txt for a map, "
		".csv .txt for the Fourier ring correlation of a phase with halves. All outputs are written, or none. "
		"In every format position (0,0) is top left and the scan's rows run down. A picture notes its scaling in a text chunk; the others hold the values unchanged.",
		table, sizeof table / sizeof *table, library_versions(versions),
	};
	cli_common common;
	ssb_error err;
	cli_parse(&program, &common, argc, argv);
	choice.array = array < 0 ? NULL : arrays[array];
	options.bits = bits ? 16 : 8;
	options.scale_bar = !no_scale_bar;
	const bool ok = check_operands(&common, &err) && save(&program, &common, &choice, &options, &err);
	cli_release(&common);
	return cli_end(ok, &err);
}
