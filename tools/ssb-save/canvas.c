#include "tools/ssb-save/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RING_PARTS = 48 };

bool canvas_make(canvas *c, save_picture *picture, ssb_error *err)
{
	const size_t pixels = picture->height * picture->width;
	*c = (canvas){.picture = picture, .half_width = 0.5};
	picture->samples = malloc(pixels * picture->channels * sizeof *picture->samples);
	c->cover = calloc(pixels, sizeof *c->cover);
	if (!picture->samples || !c->cover)
		return ssb_fail(err, SSB_RUNTIME, "out of memory for a picture of %zu x %zu pixels", picture->height, picture->width);
	for (size_t i = 0; i < pixels * picture->channels; i++)
		picture->samples[i] = (uint16_t)picture->maximum;
	return true;
}

void canvas_free(canvas *c)
{
	free(c->cover);
}

static void blend(save_picture *p, size_t y, size_t x, double part, const double color[3])
{
	uint16_t *sample = p->samples + (y * p->width + x) * p->channels;
	for (unsigned i = 0; i < p->channels; i++)
		sample[i] = (uint16_t)lrint(sample[i] * (1 - part) + color[i] * p->maximum * part);
}

static size_t clamp(double at, size_t most)
{
	return at < 0 ? 0 : at > (double)most ? most : (size_t)at;
}

void canvas_fill(canvas *c, double left, double top, double right, double bottom, const double color[3])
{
	save_picture *p = c->picture;
	const size_t x0 = clamp(round(left), p->width), x1 = clamp(round(right), p->width);
	for (size_t y = clamp(round(top), p->height); y < clamp(round(bottom), p->height); y++)
		for (size_t x = x0; x < x1; x++)
			blend(p, y, x, 1, color);
}

void canvas_line(canvas *c, segment s)
{
	const size_t height = c->picture->height, width = c->picture->width;
	const double reach = c->half_width + 1;
	const size_t x_end = clamp(ceil(fmax(s.x0, s.x1) + reach), width), y_end = clamp(ceil(fmax(s.y0, s.y1) + reach), height);
	for (size_t y = clamp(fmin(s.y0, s.y1) - reach, height); y < y_end; y++)
		for (size_t x = clamp(fmin(s.x0, s.x1) - reach, width); x < x_end; x++) {
			const double part = 0.5 + c->half_width - segment_distance(&s, (double)x + 0.5, (double)y + 0.5);
			float *cover = &c->cover[y * width + x];
			*cover = fmaxf(*cover, (float)fmin(fmax(part, 0), 1));
		}
}

void canvas_ring(canvas *c, double x, double y, double radius)
{
	for (int i = 0; i < RING_PARTS; i++) {
		const double t0 = i * 2 * M_PI / RING_PARTS, t1 = (i + 1) * 2 * M_PI / RING_PARTS;
		canvas_line(c, (segment){x + radius * cos(t0), y + radius * sin(t0), x + radius * cos(t1), y + radius * sin(t1)});
	}
}

static void put_line(void *to, segment s)
{
	canvas_line(to, s);
}

void canvas_text(canvas *c, const char *text, double x, double y, double height, double anchor, bool upwards)
{
	const double before = anchor * height * letters_width(text);
	letters_draw(text, upwards ? x : x - before, upwards ? y + before : y, height, upwards, put_line, c);
}

void canvas_dry(canvas *c, const double color[3])
{
	save_picture *p = c->picture;
	for (size_t y = 0; y < p->height; y++)
		for (size_t x = 0; x < p->width; x++)
			if (c->cover[y * p->width + x] > 0)
				blend(p, y, x, c->cover[y * p->width + x], color);
	memset(c->cover, 0, p->height * p->width * sizeof *c->cover);
}
