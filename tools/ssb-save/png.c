#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/message.h"
#include "tools/ssb-save/plot.h"
#include "tools/ssb-save/writers.h"

typedef struct png_sink { bytes *out; ssb_error *err; bool failed; } png_sink;

static void png_failed(png_structp png, png_const_charp text)
{
	png_sink *sink = png_get_error_ptr(png);
	ssb_fail(sink->err, SSB_RUNTIME, "libpng: %s", text);
	sink->failed = true;
	png_longjmp(png, 1);
}

static void png_said(png_structp png, png_const_charp text)
{
	(void)png;
	message_detail("libpng: %s", text);
}

static void png_put(png_structp png, png_bytep data, size_t size)
{
	png_sink *sink = png_get_io_ptr(png);
	if (!bytes_append(sink->out, data, size, sink->err))
		png_error(png, "out of memory"); /* not sink->err->text, which png_failed writes to */
}

static void png_flushed(png_structp png)
{
	(void)png;
}

/* What the picture's numbers mean, as text chunks and (with -v) on stderr. */
typedef struct statement { char scaling[300], sampling[200], bar[100], sheet[200]; } statement;

static void state(statement *s, const save_picture *picture, const save_content *content, const picture_options *options)
{
	snprintf(s->scaling, sizeof s->scaling,
	         "0 = %.9g %s, %u = %.9g %s, linear%s; percentiles %g and %g; %zu pixels below, %zu above, %zu without a number drawn as 0",
	         picture->limits[0], content_unit(content), picture->maximum, picture->limits[1], content_unit(content),
	         picture->channels == 1 ? "" : " along the colour map", options->contrast[0], options->contrast[1], picture->clipped[0],
	         picture->clipped[1], content->not_finite);
	if (picture->pixel_A[0] > 0)
		snprintf(s->sampling, sizeof s->sampling, "%.9g A per pixel down, %.9g A across; image of %zu x %zu pixels of %.9g x %.9g A, nearest neighbour",
		         picture->pixel_A[0], picture->pixel_A[1], content->rows, content->columns, content->sampling_A[0], content->sampling_A[1]);
	else
		snprintf(s->sampling, sizeof s->sampling, "detector of %zu x %zu pixels, nearest neighbour", content->rows, content->columns);
	if (picture->bar_A > 0)
		snprintf(s->bar, sizeof s->bar, "%.9g A = %zu pixels", picture->bar_A, picture->bar_pixels);
	else
		snprintf(s->bar, sizeof s->bar, "none");
	if (content->pages > 1)
		snprintf(s->sheet, sizeof s->sheet, "%zu images, %zu side by side, row by row", content->pages, picture->across);
	if (content->stack)
		snprintf(s->sheet + strlen(s->sheet), sizeof s->sheet - strlen(s->sheet), ", %.30s from %.9g to %.9g %.30s",
		         json_string_value(json_object_get(content->stack, "parameter")), content_page_value(content, 0),
		         content_page_value(content, content->pages - 1), json_string_value(json_object_get(content->stack, "unit")));
	message_detail("picture of %zu x %zu pixels: %s", picture->height, picture->width, s->scaling);
	message_detail("picture sampling: %s; scale bar: %s", s->sampling, s->bar);
}

static void state_plot(statement *s, const save_picture *picture, const save_content *content)
{
	const save_map *map = &content->map;
	snprintf(s->scaling, sizeof s->scaling, "%s from %.9g to %.9g%s; %zu points below, %zu above, %zu without a number drawn as the lowest",
	         map_shown_name(map), picture->limits[0], picture->limits[1], map->variance ? " rad2" : "", picture->clipped[0], picture->clipped[1],
	         content->not_finite);
	snprintf(s->sampling, sizeof s->sampling, "%s of %zu values across%s%s", map->axis[0].name, map->axis[0].count, map->axes > 1 ? ", up: " : "",
	         map->axes > 1 ? map->axis[1].name : "");
	snprintf(s->bar, sizeof s->bar, "none");
	message_detail("picture of %zu x %zu pixels: %s; %s", picture->height, picture->width, s->scaling, s->sampling);
}

/* One row as PNG wants it: bytes, or 16 bits with the high byte first. */
static void pack_row(const save_picture *picture, size_t y, uint8_t *row)
{
	const size_t count = picture->width * picture->channels;
	const uint16_t *samples = picture->samples + y * count;
	for (size_t i = 0; i < count; i++) {
		if (picture->maximum > 255)
			*row++ = (uint8_t)(samples[i] >> 8);
		*row++ = (uint8_t)samples[i];
	}
}

static void describe(png_structp png, png_infop info, const save_picture *picture, const statement *s, const char *record)
{
	char scale[2][32];
	png_text texts[] = {
		{.compression = PNG_TEXT_COMPRESSION_NONE, .key = "Software", .text = "ssb-save"},
		{.compression = PNG_TEXT_COMPRESSION_NONE, .key = "Scaling", .text = (char *)s->scaling},
		{.compression = PNG_TEXT_COMPRESSION_NONE, .key = "Sampling", .text = (char *)s->sampling},
		{.compression = PNG_TEXT_COMPRESSION_NONE, .key = "Scale bar", .text = (char *)s->bar},
		{.compression = PNG_TEXT_COMPRESSION_zTXt, .key = "Record", .text = (char *)record},
		{.compression = PNG_TEXT_COMPRESSION_NONE, .key = "Sheet", .text = (char *)s->sheet},
	};
	const int count = (int)(sizeof texts / sizeof *texts) - (*s->sheet == 0);
	for (int i = 0; i < count; i++)
		texts[i].text_length = strlen(texts[i].text);
	png_set_text(png, info, texts, count);
	if (picture->pixel_A[0] > 0) {
		for (int i = 0; i < 2; i++)
			snprintf(scale[i], sizeof scale[i], "%.9g", picture->pixel_A[1 - i] * 1e-10);
		png_set_sCAL_s(png, info, PNG_SCALE_METER, scale[0], scale[1]);
	}
}

static bool encode(const save_picture *picture, const statement *s, const char *record, png_sink *sink)
{
	uint8_t *row = malloc(picture->width * picture->channels * 2);
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, sink, png_failed, png_said);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	sink->failed = !row || !info;
	if (sink->failed)
		ssb_fail(sink->err, SSB_RUNTIME, "out of memory");
	else if (!setjmp(png_jmpbuf(png))) {
		png_set_write_fn(png, sink, png_put, png_flushed);
		png_set_IHDR(png, info, (png_uint_32)picture->width, (png_uint_32)picture->height, picture->maximum > 255 ? 16 : 8,
		             picture->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
		             PNG_FILTER_TYPE_DEFAULT);
		describe(png, info, picture, s, record);
		png_write_info(png, info);
		for (size_t y = 0; y < picture->height; y++) {
			pack_row(picture, y, row);
			png_write_row(png, row);
		}
		png_write_end(png, info);
	}
	png_destroy_write_struct(&png, &info);
	free(row);
	return !sink->failed;
}

bool write_png(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	save_picture picture;
	statement s = {"", "", "", ""};
	char *record = json_dumps(content->record, JSON_ENSURE_ASCII | JSON_COMPACT);
	bool ok = record != NULL || ssb_fail(err, SSB_RUNTIME, "out of memory");
	ok = ok && (content->objective ? plot_make(&picture, content, options, err) : picture_make(&picture, content, options, err));
	if (ok) {
		if (content->objective)
			state_plot(&s, &picture, content);
		else
			state(&s, &picture, content, options);
		ok = encode(&picture, &s, record, &(png_sink){out, err, false});
		picture_free(&picture);
	}
	free(record);
	return ok;
}
