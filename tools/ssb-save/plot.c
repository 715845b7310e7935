#include "tools/ssb-save/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/ssb-save/canvas.h"

/* In points; options->zoom pixels make one. */
enum { WIDTH = 880, HEIGHT = 640, LEFT = 104, TOP = 84, RIGHT = 744, RIGHT_OF_LINE = 840, BOTTOM = 556, BAR_LEFT = 768, BAR_RIGHT = 788 };
enum { TITLE = 16, LABEL = 15, NUMBER = 13, TICK = 6, MARK = 8, MOST_TICKS = 8 };

static const double LINE_MARGIN = 0.04; /* above and below a line, of its span */
static const double black[3] = {0, 0, 0}, white[3] = {1, 1, 1}, line_color[3] = {0.10, 0.33, 0.60};

/* A side of a rectangle with the values at its two ends; along x where it lies below, else from the bottom up. */
typedef struct side { enum { BELOW, ON_THE_LEFT, ON_THE_RIGHT } where; double low, high; } side;

typedef struct plot {
	canvas canvas;
	double zoom, left, top, right, bottom; /* pixels: the rectangle that holds the values */
	const save_content *content;
	const save_map *map;
} plot;

/* ---- axes ---- */

static double tick_step(double span)
{
	const double power = pow(10, floor(log10(span / MOST_TICKS))), part = span / MOST_TICKS / power;
	return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

static void number_text(double value, double step, char text[32])
{
	const int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
	if (fabs(value) >= 1e6 || decimals > 7)
		snprintf(text, 32, "%.6g", value);
	else
		snprintf(text, 32, "%.*f", decimals, value);
}

static double place_on(const plot *p, const side *s, double value)
{
	const double part = (value - s->low) / (s->high - s->low);
	return s->where == BELOW ? p->left + part * (p->right - p->left) : p->bottom - part * (p->bottom - p->top);
}

static void draw_tick(plot *p, const side *s, double at, const char *text)
{
	const double tick = TICK * p->zoom, gap = 4 * p->zoom, height = NUMBER * p->zoom;
	canvas *c = &p->canvas;
	switch (s->where) {
	case BELOW:
		canvas_line(c, (segment){at, p->bottom, at, p->bottom + tick});
		canvas_text(c, text, at, p->bottom + tick + gap, height, 0.5, false);
		break;
	case ON_THE_LEFT:
		canvas_line(c, (segment){p->left - tick, at, p->left, at});
		canvas_text(c, text, p->left - tick - gap, at - height / 2, height, 1, false);
		break;
	case ON_THE_RIGHT:
		canvas_line(c, (segment){p->right, at, p->right + tick, at});
		canvas_text(c, text, p->right + tick + gap, at - height / 2, height, 0, false);
	}
}

static void draw_side(plot *p, const side *s)
{
	const double step = tick_step(s->high - s->low);
	const double first = ceil(s->low / step - 1e-9);
	const int count = (int)(floor(s->high / step + 1e-9) - first) + 1;
	for (int i = 0; i < count; i++) {
		const double value = (first + i) * step + 0.0; /* + 0.0: no "-0" */
		char text[32];
		number_text(value, step, text);
		draw_tick(p, s, place_on(p, s, value), text);
	}
}

static void draw_frame(plot *p)
{
	canvas_line(&p->canvas, (segment){p->left, p->top, p->right, p->top});
	canvas_line(&p->canvas, (segment){p->right, p->top, p->right, p->bottom});
	canvas_line(&p->canvas, (segment){p->right, p->bottom, p->left, p->bottom});
	canvas_line(&p->canvas, (segment){p->left, p->bottom, p->left, p->top});
}

/* The length that numbers on an axis are short in, and its size in nm. */
static const char *shown_unit(const map_axis *axis, double *size)
{
	const double most = fmax(fabs(axis->first), fabs(axis->last));
	*size = strcmp(axis->unit, "nm") != 0 || most < 1e4 ? 1 : most < 1e7 ? 1e3 : 1e6;
	return *size == 1 ? axis->unit : *size == 1e3 ? "µm" : "mm";
}

/* From half a step before the first value to half a step after the last, where each has a cell. */
static side axis_side(const map_axis *axis, int where, bool cells)
{
	double size;
	shown_unit(axis, &size);
	const double half = cells ? (axis->last - axis->first) / (double)(axis->count - 1) / 2 : 0;
	return (side){where, (axis->first - half) / size, (axis->last + half) / size};
}

static void axis_title(const map_axis *axis, char text[100])
{
	double size;
	const char *unit = shown_unit(axis, &size);
	if (strcmp(unit, "1") == 0)
		snprintf(text, 100, "%.60s", axis->name);
	else
		snprintf(text, 100, "%.60s (%.20s)", axis->name, unit);
}

static void name_below(plot *p, const char *text)
{
	canvas_text(&p->canvas, text, (p->left + p->right) / 2, p->bottom + 46 * p->zoom, LABEL * p->zoom, 0.5, false);
}

static void name_on_the_left(plot *p, const char *text)
{
	canvas_text(&p->canvas, text, 20 * p->zoom, (p->top + p->bottom) / 2, LABEL * p->zoom, 0.5, true);
}

/* ---- what both have ---- */

static void draw_titles(plot *p, size_t best)
{
	const size_t columns = p->content->columns;
	const bool line = p->map->axes == 1;
	char text[300];
	int used = snprintf(text, sizeof text, "best %.4g", map_shown(p->map, content_value(p->content, best)));
	for (size_t i = 0; i < p->map->axes; i++) {
		const map_axis *axis = &p->map->axis[i];
		const bool has_unit = strcmp(axis->unit, "1") != 0;
		used += snprintf(text + used, sizeof text - (size_t)used, "%s %.60s %.6g%s%.20s", i ? "," : " at", axis->name,
		                 map_axis_value(axis, i == 0 && !line ? best / columns : best % columns), has_unit ? " " : "", has_unit ? axis->unit : "");
	}
	canvas_text(&p->canvas, p->map->variance ? "variance (rad²)" : map_shown_name(p->map), p->left, 24 * p->zoom, TITLE * p->zoom, 0, false);
	canvas_text(&p->canvas, text, p->left, 54 * p->zoom, NUMBER * p->zoom, 0, false);
}

static void draw_mark(plot *p, double x, double y)
{
	p->canvas.half_width = 2.4 * p->zoom;
	canvas_ring(&p->canvas, x, y, MARK * p->zoom);
	canvas_dry(&p->canvas, black);
	p->canvas.half_width = 1.1 * p->zoom;
	canvas_ring(&p->canvas, x, y, MARK * p->zoom);
	canvas_dry(&p->canvas, white);
}

/* ---- two parameters: colour ---- */

static void fill_cells(plot *p, int colormap, const double limits[2])
{
	const map_axis *across = &p->map->axis[0], *up = &p->map->axis[1];
	const double width = (p->right - p->left) / (double)across->count, height = (p->bottom - p->top) / (double)up->count;
	for (size_t i = 0; i < across->count; i++)
		for (size_t j = 0; j < up->count; j++) {
			const double shown = map_shown(p->map, content_value(p->content, i * up->count + j));
			const double part = (shown - limits[0]) / (limits[1] - limits[0]), left = p->left + (double)i * width,
			             bottom = p->bottom - (double)j * height;
			double color[3];
			colormap_color(colormap, isfinite(part) ? fmin(fmax(part, 0), 1) : 0, color);
			canvas_fill(&p->canvas, left, bottom - height, left + width, bottom, color);
		}
}

static void draw_colour_bar(plot *p, int colormap, const double limits[2])
{
	const side values = {ON_THE_RIGHT, limits[0], limits[1]};
	const plot area = *p;
	p->left = BAR_LEFT * p->zoom;
	p->right = BAR_RIGHT * p->zoom;
	const int height = (int)(p->bottom - p->top);
	for (int i = 0; i < height; i++) {
		double color[3];
		colormap_color(colormap, (i + 0.5) / height, color);
		canvas_fill(&p->canvas, p->left, p->bottom - i - 1, p->right, p->bottom - i, color);
	}
	draw_side(p, &values);
	draw_frame(p);
	p->left = area.left;
	p->right = area.right;
}

static void draw_cells(plot *p, int colormap, const double limits[2], size_t best)
{
	const map_axis *across = &p->map->axis[0], *up = &p->map->axis[1];
	const side below = axis_side(across, BELOW, true), left = axis_side(up, ON_THE_LEFT, true);
	char text[100];
	fill_cells(p, colormap, limits);
	draw_colour_bar(p, colormap, limits);
	draw_side(p, &below);
	draw_side(p, &left);
	axis_title(across, text);
	name_below(p, text);
	axis_title(up, text);
	name_on_the_left(p, text);
	const size_t i = best / up->count, j = best % up->count;
	const double x = ((double)i + 0.5) / (double)across->count, y = ((double)j + 0.5) / (double)up->count;
	draw_frame(p);
	draw_titles(p, best);
	canvas_dry(&p->canvas, black);
	draw_mark(p, p->left + x * (p->right - p->left), p->bottom - y * (p->bottom - p->top));
}

/* ---- one parameter: a line ---- */

static void draw_line(plot *p, const double limits[2], size_t best)
{
	const map_axis *axis = &p->map->axis[0];
	const side below = axis_side(axis, BELOW, false), left = {ON_THE_LEFT, limits[0], limits[1]};
	char text[100];
	double x[2] = {0}, y[2] = {0}, best_x = 0, best_y = 0;
	draw_side(p, &below);
	draw_side(p, &left);
	draw_frame(p);
	axis_title(axis, text);
	name_below(p, text);
	draw_titles(p, best);
	canvas_dry(&p->canvas, black);
	p->canvas.half_width = p->zoom;
	for (size_t i = 0; i < axis->count; i++) {
		x[1] = p->left + (double)i / (double)(axis->count - 1) * (p->right - p->left);
		y[1] = place_on(p, &left, fmin(fmax(map_shown(p->map, content_value(p->content, i)), limits[0]), limits[1]));
		if (i > 0)
			canvas_line(&p->canvas, (segment){x[0], y[0], x[1], y[1]});
		if (i == best) {
			best_x = x[1];
			best_y = y[1];
		}
		x[0] = x[1];
		y[0] = y[1];
	}
	canvas_dry(&p->canvas, line_color);
	draw_mark(p, best_x, best_y);
}

/* ---- all of it ---- */

static bool lay_out(save_picture *picture, const picture_options *options, ssb_error *err)
{
	const double zoom = options->zoom ? (double)options->zoom : 1, height = HEIGHT * zoom, width = WIDTH * zoom;
	const double bytes = height * width * ((double)picture->channels * sizeof *picture->samples + sizeof(float));
	if (fmax(height, width) > PICTURE_SIDE_LIMIT || bytes > (double)options->memory)
		return ssb_fail(err, SSB_RUNTIME, "a picture of %.0f x %.0f pixels is too large (see --zoom and --memory)", height, width);
	picture->height = (size_t)height;
	picture->width = (size_t)width;
	return true;
}

/* The shown values at the ends of the colours or of the line's axis, never the same. */
static bool set_limits(save_picture *picture, const save_content *content, const picture_options *options, ssb_error *err)
{
	if (!content_percentiles(content, options->contrast, picture->limits, err))
		return false;
	const size_t points = content->rows * content->columns;
	for (size_t i = 0; i < points; i++) {
		picture->clipped[0] += content_value(content, i) < picture->limits[0];
		picture->clipped[1] += content_value(content, i) > picture->limits[1];
	}
	for (int i = 0; i < 2; i++)
		picture->limits[i] = map_shown(&content->map, picture->limits[i]);
	const double margin = content->map.axes == 1 ? LINE_MARGIN * (picture->limits[1] - picture->limits[0]) : 0;
	picture->limits[0] -= margin;
	picture->limits[1] += margin;
	if (picture->limits[0] == picture->limits[1]) {
		const double room = fmax(fabs(picture->limits[0]) * 1e-3, 1e-9);
		picture->limits[0] -= room;
		picture->limits[1] += room;
	}
	return true;
}

bool plot_make(save_picture *picture, const save_content *content, const picture_options *options, ssb_error *err)
{
	*picture = (save_picture){.channels = colormap_channels(options->colormap), .maximum = (1u << options->bits) - 1};
	plot p = {.zoom = options->zoom ? (double)options->zoom : 1, .content = content, .map = &content->map};
	if (!lay_out(picture, options, err) || !set_limits(picture, content, options, err))
		return false;
	const bool ok = canvas_make(&p.canvas, picture, err), line = p.map->axes == 1;
	if (ok) {
		const size_t best = map_best(p.map, content->objective);
		p.canvas.half_width = 0.75 * p.zoom;
		p.left = LEFT * p.zoom;
		p.right = (line ? RIGHT_OF_LINE : RIGHT) * p.zoom;
		p.top = TOP * p.zoom;
		p.bottom = BOTTOM * p.zoom;
		if (line)
			draw_line(&p, picture->limits, best);
		else
			draw_cells(&p, options->colormap, picture->limits, best);
	} else {
		picture_free(picture);
	}
	canvas_free(&p.canvas);
	return ok;
}
