#include "tools/ssb-save/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double smallest_zoom(double height, double width)
{
	const double zoom = fmin(ceil(PICTURE_WIDTH / width), floor(PICTURE_HEIGHT_LIMIT / height));
	return fmax(zoom, 1);
}

/* About as many images across as makes the sheet square. */
static size_t images_across(size_t pages, double height, double width)
{
	const double across = fmin(ceil(sqrt((double)pages * height / width)), (double)pages);
	return across > 1 ? (size_t)across : 1;
}

/* Height and width from the extent of the image in the specimen: one pixel along the finer axis is `zoom` pixels. */
static bool lay_out(save_picture *picture, const save_content *content, const picture_options *options, ssb_error *err)
{
	const double *size = content->sampling_A, fine = fmin(size[0], size[1]);
	double height = (double)content->rows * (fine > 0 ? size[0] / fine : 1), width = (double)content->columns * (fine > 0 ? size[1] / fine : 1);
	picture->across = images_across(content->pages, height, width);
	const double across = (double)picture->across, down = ceil((double)content->pages / across);
	const double zoom = options->zoom ? (double)options->zoom : smallest_zoom(height * down, width * across);
	height = fmax(round(height * zoom), 1);
	width = fmax(round(width * zoom), 1);
	const double all_high = height * down + PICTURE_GAP * (down - 1), all_wide = width * across + PICTURE_GAP * (across - 1);
	const double bytes = all_high * all_wide * picture->channels * sizeof *picture->samples;
	if (fmax(all_high, all_wide) > PICTURE_SIDE_LIMIT || bytes > (double)options->memory)
		return ssb_fail(err, SSB_RUNTIME, "a picture of %.0f x %.0f pixels is too large (see --zoom and --memory)", all_high, all_wide);
	picture->tile[0] = (size_t)height;
	picture->tile[1] = (size_t)width;
	picture->height = (size_t)all_high;
	picture->width = (size_t)all_wide;
	picture->pixel_A[0] = size[0] * (double)content->rows / height;
	picture->pixel_A[1] = size[1] * (double)content->columns / width;
	return true;
}

static double scaled(const save_picture *picture, double value)
{
	const double span = picture->limits[1] - picture->limits[0];
	if (!isfinite(value))
		return 0;
	return span > 0 ? fmin(fmax((value - picture->limits[0]) / span, 0), 1) : 0.5;
}

static void count_clipped(save_picture *picture, const save_content *content)
{
	for (size_t i = 0; i < content_pixels(content); i++) {
		const double value = content_value(content, i);
		picture->clipped[0] += isfinite(value) && value < picture->limits[0];
		picture->clipped[1] += isfinite(value) && value > picture->limits[1];
	}
}

/* The image's pixel under (y, x) of the picture; false between the images. */
static bool pixel_at(const save_picture *picture, const save_content *content, size_t y, size_t x, size_t *pixel)
{
	const size_t pitch[2] = {picture->tile[0] + PICTURE_GAP, picture->tile[1] + PICTURE_GAP};
	const size_t page = y / pitch[0] * picture->across + x / pitch[1], in_y = y % pitch[0], in_x = x % pitch[1];
	const size_t row = (2 * in_y + 1) * content->rows / (2 * picture->tile[0]);
	const size_t column = (2 * in_x + 1) * content->columns / (2 * picture->tile[1]);
	*pixel = (page * content->rows + row) * content->columns + column;
	return page < content->pages && in_y < picture->tile[0] && in_x < picture->tile[1];
}

static void fill(save_picture *picture, const save_content *content, int colormap)
{
	const unsigned channels = picture->channels;
#pragma omp parallel for schedule(static)
	for (size_t y = 0; y < picture->height; y++)
		for (size_t x = 0; x < picture->width; x++) {
			double color[3] = {1, 1, 1};
			size_t pixel;
			if (pixel_at(picture, content, y, x, &pixel))
				colormap_color(colormap, scaled(picture, content_value(content, pixel)), color);
			for (unsigned c = 0; c < channels; c++)
				picture->samples[(y * picture->width + x) * channels + c] = (uint16_t)lrint(color[c] * picture->maximum);
		}
}

static void add_scale_bar(save_picture *picture)
{
	const double length_A = scalebar_length(0.3 * (double)picture->tile[1] * picture->pixel_A[1], picture->bar_label);
	const size_t length = (size_t)lrint(length_A / picture->pixel_A[1]);
	if (!scalebar_draw(picture, length, picture->bar_label))
		return;
	picture->bar_A = length_A;
	picture->bar_pixels = length;
}

static void add_labels(save_picture *picture, const save_content *content)
{
	for (size_t page = 0; content->stack && page < content->pages; page++) {
		char label[60];
		snprintf(label, sizeof label, "%.4g %.30s", content_page_value(content, page),
		         json_string_value(json_object_get(content->stack, "unit")));
		picture_label(picture, page, label);
	}
}

bool picture_make(save_picture *picture, const save_content *content, const picture_options *options, ssb_error *err)
{
	*picture = (save_picture){.channels = colormap_channels(options->colormap), .maximum = (1u << options->bits) - 1};
	if (!lay_out(picture, content, options, err) || !content_percentiles(content, options->contrast, picture->limits, err))
		return false;
	picture->samples = malloc(picture->width * picture->height * picture->channels * sizeof *picture->samples);
	if (!picture->samples)
		return ssb_fail(err, SSB_RUNTIME, "out of memory for a picture of %zu x %zu pixels", picture->height, picture->width);
	count_clipped(picture, content);
	fill(picture, content, options->colormap);
	if (options->scale_bar && picture->pixel_A[1] > 0)
		add_scale_bar(picture);
	add_labels(picture, content);
	return true;
}

void picture_free(save_picture *picture)
{
	free(picture->samples);
	*picture = (save_picture){0};
}
