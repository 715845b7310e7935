#include "tools/ssb-decode/options.h"

#include <hdf5.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "r0:r1": two whole numbers, the first below the second. */
static const char *parse_span(const char *text, size_t *first, size_t *end)
{
	char *rest;
	if (*text < '0' || *text > '9')
		return NULL;
	const unsigned long long low = strtoull(text, &rest, 10);
	if (*rest != ':' || rest[1] < '0' || rest[1] > '9')
		return NULL;
	const unsigned long long high = strtoull(rest + 1, &rest, 10);
	*first = low;
	*end = high;
	return low < high && high < 1ull << 32 ? rest : NULL;
}

static bool parse_range(const cli_option *option, const char *text, ssb_error *err)
{
	range_option range = {.given = true, .full = strcmp(text, "full") == 0};
	const char *rest = range.full ? NULL : parse_span(text, &range.first[0], &range.end[0]);
	if (!range.full && rest && *rest == ',')
		rest = parse_span(rest + 1, &range.first[1], &range.end[1]);
	else if (!range.full)
		rest = NULL;
	if (!range.full && (!rest || *rest))
		return ssb_fail(err, SSB_USAGE, "'%.80s' is no rectangle: r0:r1,c0:c1 with r0 < r1 and c0 < c1, or full", text);
	*(range_option *)option->target = range;
	return true;
}

bool options_box(const range_option *range, const size_t shape[2], const char *what, box *bounds, ssb_error *err)
{
	*bounds = (box){{0, 0}, {shape[0], shape[1]}};
	if (!range->given || range->full)
		return true;
	for (size_t axis = 0; axis < 2; axis++) {
		if (range->end[axis] > shape[axis])
			return ssb_fail(err, SSB_BAD_INPUT, "region %zu:%zu,%zu:%zu leaves the %s of %zux%zu", range->first[0], range->end[0],
			                range->first[1], range->end[1], what, shape[0], shape[1]);
		bounds->origin[axis] = range->first[axis];
		bounds->shape[axis] = range->end[axis] - range->first[axis];
	}
	return true;
}

static const char *libraries(void)
{
	static char text[64];
	unsigned major, minor, release;
	H5get_libversion(&major, &minor, &release);
	snprintf(text, sizeof text, "HDF5 %u.%u.%u, LZ4 %s", major, minor, release, LZ4_versionString());
	return text;
}

enum { OPTIONS = 9 };

static void option_table(decode_options *o, cli_option table[OPTIONS])
{
	const cli_option own[OPTIONS] = {
		{"output", 'o', "REGION", cli_text, &o->output, "where the region goes (default: standard output)"},
		{"scan", 0, "ROWSxCOLUMNS", cli_shape, o->scan, "scan shape, slow axis first (default: what the files state; it is never guessed)"},
		{"scan-roi", 0, "r0:r1,c0:c1|full", parse_range, &o->scan_roi, "scan positions to keep, ends excluded (default: full)"},
		{"roi", 0, "r0:r1,c0:c1|full", parse_range, &o->roi,
		 "detector pixels to keep, ends excluded (default: the bright field's bounding box and a margin, which is said)"},
		{"bad-pixels", 0, "mask|median|zero|keep", cli_choice, &o->bad_pixels,
		 "counts of pixels that a mask flags or that read the stored type's largest value: as read (mask, the default); median of the valid "
		 "ones of 8 neighbours, as read where there is none; 0; as read and used by later stages"},
		{"mask", 0, "FILE.npy", cli_text, &o->mask, "a 2-D array of the detector's shape: nonzero pixels are bad, too"},
		{"dataset", 0, "PATH", cli_text, &o->dataset, "the set, or the group of data_000001 and so on, in the HDF5 file that holds the frames"},
		{"codec", 0, "raw|zstd", cli_choice, &o->codec, "how the output's arrays are stored (default: raw)"},
		{"partial", 0, NULL, cli_flag, &o->partial, "accept missing frames: their positions become invalid"},
	};
	memcpy(table, own, sizeof own);
}

static cli_program program_of(const cli_option *table)
{
	return (cli_program){
		.name = "ssb-decode",
		.summary = "cut the counts of a 4D-STEM acquisition to a region, exactly",
		.operands = "ACQUISITION [-o REGION]",
		.description = "ACQUISITION is a Dectris-style HDF5 master (BASE_master.h5 with /entry/data/data_000001 and so on), any HDF5 file with one set "
		               "of three or four axes, or a .npy file; unsigned integers of 8, 16 or 32 bits. The scan shape comes from --scan, the "
		               "set's own four axes, an attribute scan_shape or the camera's companion file BASE.h5.",
		.options = table,
		.option_count = OPTIONS,
		.libraries = libraries(),
	};
}

void options_parse(decode_options *o, int argc, char **argv)
{
	cli_option table[OPTIONS];
	ssb_error err;
	*o = (decode_options){.output = "-"};
	option_table(o, table);
	const cli_program program = program_of(table);
	cli_parse(&program, &o->common, argc, argv);
	bool ok = o->common.operands == 1 || ssb_fail(&err, SSB_USAGE, "needs one acquisition, got %zu (ssb-decode -h shows the usage)",
	                                              o->common.operands);
	if (ok)
		o->input = o->common.operand[0];
	ok = ok && cli_distinct(o->input, o->output, &err) && (!o->mask || cli_distinct(o->mask, o->output, &err));
	if (ok)
		return;
	cli_release(&o->common);
	exit(cli_end(false, &err));
}

json_t *options_history(const decode_options *o, json_t *inputs)
{
	const cli_program program = {.name = "ssb-decode"};
	return cli_history(&program, &o->common, NULL, inputs);
}
