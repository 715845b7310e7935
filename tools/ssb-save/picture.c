#include "tools/ssb-save/picture.h"

#include <math.h>
#include <stdlib.h>

static double smallest_zoom(double height, double width)
{
	const double zoom = fmin(ceil(PICTURE_WIDTH / width), floor(PICTURE_HEIGHT_LIMIT / height));
	return fmax(zoom, 1);
}

/* Height and width from the extent of the image in the specimen: one pixel along the finer axis is `zoom` pixels. */
static bool lay_out(save_picture *picture, const save_content *content, const picture_options *options, ssb_error *err)
{
	const double *size = content->sampling_A, fine = fmin(size[0], size[1]);
	double height = (double)content->rows * (fine > 0 ? size[0] / fine : 1), width = (double)content->columns * (fine > 0 ? size[1] / fine : 1);
	const double zoom = options->zoom ? (double)options->zoom : smallest_zoom(height, width);
	height = fmax(round(height * zoom), 1);
	width = fmax(round(width * zoom), 1);
	const double bytes = height * width * picture->channels * sizeof *picture->samples;
	if (fmax(height, width) > PICTURE_SIDE_LIMIT || bytes > (double)options->memory)
		return ssb_fail(err, SSB_RUNTIME, "a picture of %.0f x %.0f pixels is too large (see --zoom and --memory)", height, width);
	picture->height = (size_t)height;
	picture->width = (size_t)width;
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
	for (size_t i = 0; i < content->rows * content->columns; i++) {
		const double value = content_value(content, i);
		picture->clipped[0] += isfinite(value) && value < picture->limits[0];
		picture->clipped[1] += isfinite(value) && value > picture->limits[1];
	}
}

static void fill(save_picture *picture, const save_content *content, int colormap)
{
	const unsigned channels = picture->channels;
#pragma omp parallel for schedule(static)
	for (size_t y = 0; y < picture->height; y++) {
		const size_t row = (2 * y + 1) * content->rows / (2 * picture->height);
		for (size_t x = 0; x < picture->width; x++) {
			const size_t column = (2 * x + 1) * content->columns / (2 * picture->width);
			double color[3];
			colormap_color(colormap, scaled(picture, content_value(content, row * content->columns + column)), color);
			for (unsigned c = 0; c < channels; c++)
				picture->samples[(y * picture->width + x) * channels + c] = (uint16_t)lrint(color[c] * picture->maximum);
		}
	}
}

static void add_scale_bar(save_picture *picture)
{
	const double length_A = scalebar_length(0.3 * (double)picture->width * picture->pixel_A[1], picture->bar_label);
	const size_t length = (size_t)lrint(length_A / picture->pixel_A[1]);
	if (!scalebar_draw(picture, length, picture->bar_label))
		return;
	picture->bar_A = length_A;
	picture->bar_pixels = length;
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
	return true;
}

void picture_free(save_picture *picture)
{
	free(picture->samples);
	*picture = (save_picture){0};
}
