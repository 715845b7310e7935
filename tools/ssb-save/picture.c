#include "tools/ssb-save/picture.h"

#include <math.h>
#include <stdlib.h>

static size_t smallest_zoom(size_t width, size_t height)
{
	size_t zoom = (PICTURE_WIDTH + width - 1) / width;
	if (zoom * height > PICTURE_HEIGHT_LIMIT)
		zoom = PICTURE_HEIGHT_LIMIT / height;
	return zoom ? zoom : 1;
}

/* Width and height, from the size of the image's pixels. */
static bool lay_out(save_picture *picture, const save_content *content, const picture_options *options, ssb_error *err)
{
	const double *size = content->sampling_A;
	const double fine = size[0] > 0 ? fmin(size[0], size[1]) : 1;
	const double height = size[0] > 0 ? round((double)content->rows * size[0] / fine) : (double)content->rows;
	const double width = size[0] > 0 ? round((double)content->columns * size[1] / fine) : (double)content->columns;
	const size_t zoom = options->zoom ? options->zoom : height < 1e6 && width < 1e6 ? smallest_zoom((size_t)width, (size_t)height) : 1;
	const double pixels = height * width * (double)zoom * (double)zoom;
	if (width * (double)zoom > 1e6 || height * (double)zoom > 1e6 || pixels * 6 > (double)options->memory)
		return ssb_fail(err, SSB_RUNTIME, "a picture of %.0f x %.0f pixels is too large (--zoom, --memory)", height * (double)zoom,
		                width * (double)zoom);
	picture->height = (size_t)height * zoom;
	picture->width = (size_t)width * zoom;
	picture->pixel_A[0] = size[0] * (double)content->rows / (double)picture->height;
	picture->pixel_A[1] = size[1] * (double)content->columns / (double)picture->width;
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
		picture->clipped[0] += value < picture->limits[0];
		picture->clipped[1] += value > picture->limits[1];
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
