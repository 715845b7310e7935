/* A scale bar, and labels: white, with a dark rim for light ground. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/ssb-save/letters.h"
#include "tools/ssb-save/picture.h"

enum { MOST_SEGMENTS = 400 };

/* What is drawn, in pixels: a filled rectangle (the bar; left of INFINITY: none) and the segments of the label. */
typedef struct bar_drawing {
	double left, top, right, bottom;
	segment segments[MOST_SEGMENTS];
	size_t count;
} bar_drawing;

static double shorter_side(const save_picture *picture)
{
	return (double)(picture->tile[1] < picture->tile[0] ? picture->tile[1] : picture->tile[0]);
}

static double letter_height(const save_picture *picture)
{
	return fmax(round(shorter_side(picture) / 24), 7);
}

static void add_segment(void *to, segment s)
{
	bar_drawing *drawing = to;
	if (drawing->count < MOST_SEGMENTS)
		drawing->segments[drawing->count++] = s;
}

/* Distance of a point from what is drawn, negative inside. */
static double distance(const bar_drawing *drawing, double x, double y, double half_width)
{
	const double dx = fmax(drawing->left - x, x - drawing->right), dy = fmax(drawing->top - y, y - drawing->bottom);
	double least = fmin(fmax(dx, dy), 0) + hypot(fmax(dx, 0), fmax(dy, 0));
	for (size_t i = 0; i < drawing->count; i++)
		least = fmin(least, segment_distance(&drawing->segments[i], x, y) - half_width);
	return least;
}

typedef struct pixel_box { size_t top, left, bottom, right; } pixel_box;

/* Each pixel of the box takes the part of black, then of white, that covers it: strokes for letters of this height. */
static void paint(save_picture *picture, const bar_drawing *drawing, double height, pixel_box box)
{
	const double half_width = height * 0.075, rim = fmax(height * 0.1, 0.75);
	for (size_t y = box.top; y < box.bottom; y++) {
		for (size_t x = box.left; x < box.right; x++) {
			const double d = distance(drawing, (double)x + 0.5, (double)y + 0.5, half_width);
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
	const double height = letter_height(picture), side = shorter_side(picture), thickness = fmax(round(height / 3.5), 2), margin = fmax(round(side / 26), 3);
	const double text_width = letters_width(label) * height;
	const double bottom = (double)picture->height - margin, wide = fmax(text_width, (double)length);
	bar_drawing drawing = {.left = margin + floor((wide - (double)length) / 2), .bottom = bottom, .top = bottom - thickness};
	drawing.right = drawing.left + (double)length;
	const double baseline = drawing.top - round(height * (strchr(label, 'p') ? 0.75 : 0.45));
	const double x_end = margin + wide + margin, y_start = baseline - height * 1.3 - margin;
	if (!letters_known(label) || length < 4 || x_end > (double)picture->tile[1] || y_start < (double)(picture->height - picture->tile[0]))
		return false;
	letters_draw(label, (drawing.left + drawing.right - text_width) / 2, baseline - height, height, false, add_segment, &drawing);
	paint(picture, &drawing, height, (pixel_box){(size_t)y_start, 0, picture->height, (size_t)x_end});
	return true;
}

void picture_label(save_picture *picture, size_t page, const char *label)
{
	const double height = letter_height(picture), margin = fmax(round(shorter_side(picture) / 26), 3);
	const size_t top = page / picture->across * (picture->tile[0] + PICTURE_GAP), left = page % picture->across * (picture->tile[1] + PICTURE_GAP);
	const size_t high = (size_t)(height * 1.5 + 2 * margin), wide = (size_t)(height * letters_width(label) + 2 * margin);
	bar_drawing drawing = {.left = INFINITY};
	if (!letters_known(label) || high > picture->tile[0] || wide > picture->tile[1])
		return;
	letters_draw(label, (double)left + margin, (double)top + margin + height * 0.2, height, false, add_segment, &drawing);
	paint(picture, &drawing, height, (pixel_box){top, left, top + high, left + wide});
}
