/* A scale bar whose letters are strokes, so that they are smooth at every size: white, with a dark rim for light ground. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/ssb-save/picture.h"

/* A straight stroke from (a,b) to (c,d), or an arc of the ellipse around (a,b) with half axes c and d, from `from` to `to` degrees
 * (0 is right, 90 down). In units of the height of a digit; y runs down, the baseline is at 1. */
typedef struct stroke { char kind; float a, b, c, d, from, to; } stroke;

typedef struct letter { const char *character; float width; stroke strokes[5]; } letter;

#define LINE(x0, y0, x1, y1) {'L', x0, y0, x1, y1, 0, 0}
#define ARC(x, y, rx, ry, from, to) {'A', x, y, rx, ry, from, to}

static const letter glyphs[] = {
	{"0", 0.60f, {ARC(.30f, .50f, .28f, .50f, 0, 360)}},
	{"1", 0.46f, {LINE(.06f, .20f, .34f, .00f), LINE(.34f, .00f, .34f, 1.f)}},
	{"2", 0.58f, {ARC(.29f, .28f, .27f, .28f, 185, 395), LINE(.51f, .44f, .02f, 1.f), LINE(.02f, 1.f, .57f, 1.f)}},
	{"5", 0.58f, {LINE(.52f, .00f, .11f, .00f), LINE(.11f, .00f, .07f, .46f), ARC(.28f, .67f, .29f, .33f, 219, 508)}},
	{"n", 0.48f, {LINE(.00f, .34f, .00f, 1.f), ARC(.23f, .58f, .23f, .24f, 180, 360), LINE(.46f, .58f, .46f, 1.f)}},
	{"m", 0.80f, {LINE(.00f, .34f, .00f, 1.f), ARC(.20f, .56f, .20f, .22f, 180, 360), LINE(.40f, .56f, .40f, 1.f),
	              ARC(.60f, .56f, .20f, .22f, 180, 360), LINE(.80f, .56f, .80f, 1.f)}},
	{"p", 0.52f, {LINE(.00f, .34f, .00f, 1.32f), ARC(.25f, .67f, .25f, .33f, 0, 360)}},
	{"Å", 0.70f, {LINE(.00f, 1.f, .35f, .08f), LINE(.35f, .08f, .70f, 1.f), LINE(.13f, .68f, .57f, .68f), ARC(.35f, -.08f, .11f, .11f, 0, 360)}},
	{" ", 0.12f, {{0}}},
};

enum { ARC_PARTS = 24, MOST_SEGMENTS = 400 };

typedef struct segment { double x0, y0, x1, y1; } segment;

/* What is drawn, in pixels: a filled rectangle (the bar) and the segments of the label with their common half width. */
typedef struct bar_drawing {
	double left, top, right, bottom;
	segment segments[MOST_SEGMENTS];
	size_t count;
	double half_width;
} bar_drawing;

static const letter *find_glyph(const char **text)
{
	for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++) {
		const size_t length = strlen(glyphs[i].character);
		if (!strncmp(*text, glyphs[i].character, length)) {
			*text += length;
			return &glyphs[i];
		}
	}
	return NULL;
}

static const double letter_gap = 0.23;

/* Infinite when a character has no glyph: no picture has room for a label that would say something else. */
static double label_width(const char *label)
{
	double width = 0;
	for (const letter *glyph; *label && (glyph = find_glyph(&label));)
		width += glyph->width + letter_gap;
	return *label ? INFINITY : width - letter_gap;
}

static void add_segment(bar_drawing *drawing, double x0, double y0, double x1, double y1)
{
	if (drawing->count < MOST_SEGMENTS)
		drawing->segments[drawing->count++] = (segment){x0, y0, x1, y1};
}

static void add_stroke(bar_drawing *drawing, const stroke *s, double x, double y, double height)
{
	if (s->kind == 'L')
		add_segment(drawing, x + height * s->a, y + height * s->b, x + height * s->c, y + height * s->d);
	for (int i = 0; s->kind == 'A' && i < ARC_PARTS; i++) {
		const double step = (s->to - s->from) / ARC_PARTS;
		const double t0 = (s->from + i * step) * M_PI / 180, t1 = (s->from + (i + 1) * step) * M_PI / 180;
		add_segment(drawing, x + height * (s->a + s->c * cos(t0)), y + height * (s->b + s->d * sin(t0)),
		            x + height * (s->a + s->c * cos(t1)), y + height * (s->b + s->d * sin(t1)));
	}
}

static void add_label(bar_drawing *drawing, const char *label, double x, double y, double height)
{
	for (const letter *glyph; *label && (glyph = find_glyph(&label));) {
		for (int i = 0; i < 5; i++)
			add_stroke(drawing, &glyph->strokes[i], x, y, height);
		x += height * (glyph->width + letter_gap);
	}
}

static double segment_distance(const segment *s, double x, double y)
{
	const double dx = s->x1 - s->x0, dy = s->y1 - s->y0, square = dx * dx + dy * dy;
	double t = square > 0 ? ((x - s->x0) * dx + (y - s->y0) * dy) / square : 0;
	t = fmin(fmax(t, 0), 1);
	return hypot(x - s->x0 - t * dx, y - s->y0 - t * dy);
}

/* Distance of a point from what is drawn, negative inside. */
static double distance(const bar_drawing *drawing, double x, double y)
{
	const double dx = fmax(drawing->left - x, x - drawing->right), dy = fmax(drawing->top - y, y - drawing->bottom);
	double least = fmin(fmax(dx, dy), 0) + hypot(fmax(dx, 0), fmax(dy, 0));
	for (size_t i = 0; i < drawing->count; i++)
		least = fmin(least, segment_distance(&drawing->segments[i], x, y) - drawing->half_width);
	return least;
}

/* Each pixel takes the part of black, then of white, that covers it. */
static void paint(save_picture *picture, const bar_drawing *drawing, double rim, size_t x_end, size_t y_start)
{
	for (size_t y = y_start; y < picture->height; y++) {
		for (size_t x = 0; x < x_end; x++) {
			const double d = distance(drawing, (double)x + 0.5, (double)y + 0.5);
			const double dark = fmin(fmax(0.5 + rim - d, 0), 1), light = fmin(fmax(0.5 - d, 0), 1);
			uint16_t *sample = picture->samples + (y * picture->width + x) * picture->channels;
			for (unsigned c = 0; dark > 0 && c < picture->channels; c++)
				sample[c] = (uint16_t)lrint(sample[c] * (1 - dark) * (1 - light) + light * picture->maximum);
		}
	}
}

double scalebar_length(double limit_A, char label[16])
{
	const int power = (int)floor(log10(limit_A));
	const double left = limit_A / pow(10, power);
	const int digit = left >= 5 ? 5 : left >= 2 ? 2 : 1;
	const char *unit = power >= 1 ? "nm" : power == 0 ? "Å" : "pm";
	const int shift = power >= 1 ? power - 1 : power == 0 ? 0 : power + 2;
	snprintf(label, 16, "%g %s", digit * pow(10, shift), unit);
	return digit * pow(10, power);
}

bool scalebar_draw(save_picture *picture, size_t length, const char *label)
{
	const double side = (double)(picture->width < picture->height ? picture->width : picture->height);
	const double height = fmax(round(side / 24), 7), thickness = fmax(round(height / 3.5), 2), margin = fmax(round(side / 26), 3);
	const double half_width = height * 0.075, rim = fmax(height * 0.1, 0.75), text_width = label_width(label) * height;
	const double bottom = (double)picture->height - margin, wide = fmax(text_width, (double)length);
	bar_drawing drawing = {.left = margin + floor((wide - (double)length) / 2), .bottom = bottom, .top = bottom - thickness, .half_width = half_width};
	drawing.right = drawing.left + (double)length;
	const double baseline = drawing.top - round(height * (strchr(label, 'p') ? 0.75 : 0.45));
	const double x_end = margin + wide + margin, y_start = baseline - height * 1.3 - margin;
	if (length < 4 || x_end > (double)picture->width || y_start < 0)
		return false;
	add_label(&drawing, label, (drawing.left + drawing.right - text_width) / 2, baseline - height, height);
	paint(picture, &drawing, rim, (size_t)x_end, (size_t)y_start);
	return true;
}
