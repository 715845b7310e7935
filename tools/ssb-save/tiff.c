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

/* Counts are written as floating point that holds each of them exactly: float32 to 2^24, float64 to 2^53. */
static bool counts_bits(const save_content *content, int *bits, ssb_error *err)
{
	uint64_t largest = 0;
	for (size_t i = 0; content->counts && i < content->rows * content->columns; i++)
		if (content->counts[i] > largest)
			largest = content->counts[i];
	*bits = largest <= 1u << 24 ? 32 : 64;
	return largest <= (uint64_t)1 << 53 || ssb_fail(err, SSB_RUNTIME, "counts up to %llu are more than a TIFF holds exactly: save .npy or .h5",
	                                                (unsigned long long)largest);
}

/* The lines ImageJ reads (unit, display range), then the exact sampling, which the resolution tags hold to seven digits. */
static bool set_calibration(TIFF *tiff, const save_content *content, const picture_options *options, ssb_error *err)
{
	double limits[2];
	char text[400];
	const double *size = content->sampling_A;
	if (!content_percentiles(content, options->contrast, limits, err))
		return false;
	int used = snprintf(text, sizeof text, "ImageJ=1.53t\nimages=1\nunit=%s\nmin=%.9g\nmax=%.9g\nvalues=%s in %s\n",
	                    size[0] > 0 ? "\\u00C5" : "pixel", limits[0], limits[1], content_name(content), content_unit(content));
	if (size[0] > 0) {
		snprintf(text + used, sizeof text - (size_t)used, "row_spacing_A=%.17g\ncolumn_spacing_A=%.17g\n", size[0], size[1]);
		TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 1 / size[1]);
		TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 1 / size[0]);
		TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
	}
	TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, text);
	TIFFSetField(tiff, TIFFTAG_SOFTWARE, "ssb-save");
	return true;
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
}

static bool write_rows(TIFF *tiff, const save_content *content, int bits)
{
	double *row = malloc(content->columns * sizeof *row);
	float *narrow = (void *)row;
	bool ok = row != NULL;
	for (size_t r = 0; ok && r < content->rows; r++) {
		for (size_t c = 0; c < content->columns; c++) {
			const double value = content_value(content, r * content->columns + c);
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

bool write_tiff(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	int bits;
	if (!counts_bits(content, &bits, err))
		return false;
	TIFFSetErrorHandler(NULL);
	TIFFSetWarningHandler(NULL);
	tiff_memory memory = {out, 0, err};
	const bool big = (double)content->rows * (double)content->columns * bits / 8 > 4.0e9; /* beyond, a TIFF has 64-bit offsets */
	ssb_fail(err, SSB_RUNTIME, "libtiff cannot write it");
	TIFF *tiff = TIFFClientOpen("memory", big ? "wl8" : "wl", &memory, memory_read, memory_write, memory_seek, memory_close, memory_size,
	                            NULL, NULL);
	if (!tiff)
		return false;
	set_layout(tiff, content, bits);
	const bool ok = set_calibration(tiff, content, options, err) && write_rows(tiff, content, bits) && TIFFFlush(tiff) == 1;
	TIFFClose(tiff);
	return ok;
}
