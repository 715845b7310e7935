#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "tools/ssb-save/writers.h"

/* libtiff's file: a block of memory and a place in it. */
typedef struct tiff_memory { bytes *out; size_t position; ssb_error *err; } tiff_memory;

static tmsize_t memory_read(thandle_t handle, void *data, tmsize_t size)
{
	tiff_memory *memory = handle;
	const size_t left = memory->out->size > memory->position ? memory->out->size - memory->position : 0;
	const size_t count = (size_t)size < left ? (size_t)size : left;
	if (count)
		memcpy(data, memory->out->data + memory->position, count);
	memory->position += count;
	return (tmsize_t)count;
}

static tmsize_t memory_write(thandle_t handle, void *data, tmsize_t size)
{
	tiff_memory *memory = handle;
	if (!bytes_put(memory->out, memory->position, data, (size_t)size, memory->err))
		return -1;
	memory->position += (size_t)size;
	return size;
}

static toff_t memory_seek(thandle_t handle, toff_t offset, int whence)
{
	tiff_memory *memory = handle;
	const size_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? memory->position : memory->out->size;
	memory->position = base + (size_t)offset;
	return memory->position;
}

static int memory_close(thandle_t handle)
{
	(void)handle;
	return 0;
}

static toff_t memory_size(thandle_t handle)
{
	return ((tiff_memory *)handle)->out->size;
}

/* Counts are written as floating point that holds each of them exactly: float32 to 2^24, float64 to 2^53. A map's values are float64. */
static bool counts_bits(const save_content *content, int *bits, ssb_error *err)
{
	uint64_t largest = 0;
	for (size_t i = 0; content->counts && i < content_pixels(content); i++)
		if (content->counts[i] > largest)
			largest = content->counts[i];
	*bits = largest <= 1u << 24 && !content->objective ? 32 : 64;
	return largest <= (uint64_t)1 << 53 || ssb_fail(err, SSB_RUNTIME, "counts up to %llu are more than a TIFF holds exactly: save .npy or .h5",
	                                                (unsigned long long)largest);
}

/* Of a stack in nm ImageJ's spacing between slices is in angstrom too, as its unit is. */
static bool describe_pages(bytes *text, const save_content *content, ssb_error *err)
{
	const char *unit = json_string_value(json_object_get(content->stack, "unit"));
	if (!bytes_print(text, err, "images=%zu\n", content->pages))
		return false;
	if (content->pages == 1)
		return true;
	if (!bytes_print(text, err, "slices=%zu\nloop=false\n", content->pages))
		return false;
	return !unit || strcmp(unit, "nm") != 0 ||
	       bytes_print(text, err, "spacing=%.9g\n", 10 * (content_page_value(content, 1) - content_page_value(content, 0)));
}

/* Rows of a map run along its first axis, columns along its last. */
static bool describe_axes(bytes *text, const save_content *content, ssb_error *err)
{
	bool ok = true;
	for (size_t i = 0; ok && i < content->map.axes; i++) {
		const map_axis *axis = &content->map.axis[i];
		ok = bytes_print(text, err, "%s=%s from %.9g to %.9g %s\n", i + 1 < content->map.axes ? "rows" : "columns", axis->name, axis->first, axis->last,
		                 axis->unit);
	}
	return ok;
}

/* The lines ImageJ reads (unit, display range), then the exact sampling, which the resolution tags hold to seven digits. */
static bool describe(bytes *text, const save_content *content, const picture_options *options, ssb_error *err)
{
	double limits[2];
	const double *size = content->sampling_A;
	return content_percentiles(content, options->contrast, limits, err) && bytes_print(text, err, "ImageJ=1.53t\n") &&
	       describe_pages(text, content, err) &&
	       bytes_print(text, err, "unit=%s\nmin=%.9g\nmax=%.9g\nvalues=%s in %s\n", size[0] > 0 ? "\\u00C5" : "pixel", limits[0], limits[1],
	                   content_name(content), content_unit(content)) &&
	       describe_axes(text, content, err) && (!(size[0] > 0) || bytes_print(text, err, "row_spacing_A=%.17g\ncolumn_spacing_A=%.17g\n", size[0], size[1])) &&
	       bytes_append(text, "", 1, err);
}

static void set_layout(TIFF *tiff, const save_content *content, int bits)
{
	TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)content->columns);
	TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)content->rows);
	TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
	TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
	TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
	TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
	TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
	TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
	TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
	TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, (uint32_t)content->rows); /* one strip: what ImageJ maps fastest */
	TIFFSetField(tiff, TIFFTAG_SOFTWARE, "ssb-save");
	if (content->sampling_A[0] > 0) {
		TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 1 / content->sampling_A[1]);
		TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 1 / content->sampling_A[0]);
		TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
	}
}

/* "C10 = -30 nm", which viewers that know it show above the page. */
static void name_page(TIFF *tiff, const save_content *content, size_t page)
{
	char name[100];
	snprintf(name, sizeof name, "%.30s = %.9g %.30s", json_string_value(json_object_get(content->stack, "parameter")),
	         content_page_value(content, page), json_string_value(json_object_get(content->stack, "unit")));
	TIFFSetField(tiff, TIFFTAG_PAGENAME, name);
}

static bool write_rows(TIFF *tiff, const save_content *content, size_t page, int bits)
{
	double *row = malloc(content->columns * sizeof *row);
	float *narrow = (void *)row;
	bool ok = row != NULL;
	for (size_t r = 0; ok && r < content->rows; r++) {
		for (size_t c = 0; c < content->columns; c++) {
			const double value = content_value(content, (page * content->rows + r) * content->columns + c);
			if (bits == 64)
				row[c] = value;
			else
				narrow[c] = (float)value;
		}
		ok = TIFFWriteScanline(tiff, row, (uint32_t)r, 0) == 1;
	}
	free(row);
	return ok;
}

static bool write_image(TIFF *tiff, const save_content *content, int bits, const char *description)
{
	set_layout(tiff, content, bits);
	TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, description);
	return write_rows(tiff, content, 0, bits) && TIFFFlush(tiff) == 1;
}

/* First all directories, then the images without a gap: of what calls itself a stack of ImageJ, ImageJ reads the first directory alone and
 * takes the other images to follow the first. */
static bool write_stack(TIFF *tiff, const save_content *content, int bits, const char *description)
{
	bool ok = true;
	for (size_t page = 0; ok && page < content->pages; page++) {
		set_layout(tiff, content, bits);
		if (page == 0)
			TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, description);
		if (content->stack)
			name_page(tiff, content, page);
		ok = TIFFDeferStrileArrayWriting(tiff) && TIFFWriteCheck(tiff, 0, "ssb-save") && TIFFWriteDirectory(tiff);
	}
	for (size_t page = 0; ok && page < content->pages; page++)
		ok = TIFFSetDirectory(tiff, (tdir_t)page) && write_rows(tiff, content, page, bits) && TIFFFlushData(tiff) &&
		     TIFFForceStrileArrayWriting(tiff);
	return ok;
}

bool write_tiff(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	int bits;
	bytes description = {0};
	if (!counts_bits(content, &bits, err) || !describe(&description, content, options, err)) {
		bytes_free(&description);
		return false;
	}
	TIFFSetErrorHandler(NULL);
	TIFFSetWarningHandler(NULL);
	tiff_memory memory = {out, 0, err};
	const bool big = (double)content_pixels(content) * bits / 8 > 4.0e9; /* beyond, a TIFF has 64-bit offsets */
	ssb_fail(err, SSB_RUNTIME, "libtiff cannot write it");
	TIFF *tiff = TIFFClientOpen("memory", big ? "wl8" : "wl", &memory, memory_read, memory_write, memory_seek, memory_close, memory_size,
	                            NULL, NULL);
	const bool ok = tiff && (content->pages > 1 ? write_stack : write_image)(tiff, content, bits, (const char *)description.data);
	if (tiff)
		TIFFClose(tiff);
	bytes_free(&description);
	return ok;
}
