#include "tools/ssb-fit/map.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "tools/common/message.h"
#include "tools/common/quantity.h"
#include "tools/ssb-fit/variance.h"
#include "tools/transfer/optics_io.h"

/* The unit of an axis, and what it is in A or rad; the detector's scale has none. */
typedef struct axis_unit {
	enum quantity dimension;
	const char *name;
	double size;
} axis_unit;

static axis_unit unit_of(int parameter)
{
	if (parameter == ROTATION)
		return (axis_unit){QUANTITY_ANGLE, "deg", M_PI / 180};
	if (parameter == TILT_R || parameter == TILT_C)
		return (axis_unit){QUANTITY_ANGLE, "mrad", 1e-3};
	if (parameter == SAMPLING)
		return (axis_unit){.name = "1"};
	return (axis_unit){QUANTITY_LENGTH, "nm", 10};
}

const char *map_unit(const map_axis *axis)
{
	return unit_of(axis->parameter).name;
}

double map_value(const map_axis *axis, size_t i)
{
	return axis->range[0] + (axis->range[1] - axis->range[0]) * (double)i / (double)(axis->count - 1);
}

/* ---- from text ---- */

static bool parse_name(map_axis *axis, const char *text, size_t length, ssb_error *err)
{
	char name[16] = "";
	memcpy(name, text, length < sizeof name ? length : sizeof name - 1);
	for (axis->parameter = 0; axis->parameter < FIT_PARAMETERS; axis->parameter++)
		if (!strcasecmp(name, fit_parameter_name(axis->parameter)))
			return true;
	const int order = optics_find_order(name);
	if (order >= 0)
		return ssb_fail(err, SSB_USAGE, "%s has a direction: map its Cartesian parts %sa and %sb", optics_orders[order].name,
		                optics_orders[order].name, optics_orders[order].name);
	return ssb_fail(err, SSB_USAGE, "no parameter is called '%s' (C10, C12a, C12b, C21a, … C56b, rotation, tilt_r, tilt_c, thickness, sampling)", name);
}

static bool parse_scale(const char *text, size_t length, double *scale, ssb_error *err)
{
	char number[64] = "";
	if (length >= sizeof number)
		return ssb_fail(err, SSB_USAGE, "'%.80s' is no number", text);
	memcpy(number, text, length);
	return quantity_number(number, scale, err) && (*scale > 0 || ssb_fail(err, SSB_USAGE, "'%s' is not above 0", number));
}

static bool parse_value(const map_axis *axis, const char *text, size_t length, double *value, ssb_error *err)
{
	const axis_unit unit = unit_of(axis->parameter);
	if (axis->parameter == SAMPLING)
		return parse_scale(text, length, value, err);
	return quantity_parse_n(text, length, unit.dimension, NULL, value, err) &&
	       quantity_in(text, length, unit.dimension, unit.name, value, err);
}

static bool parse_count(map_axis *axis, const char *text, size_t length, ssb_error *err)
{
	char *end;
	const unsigned long count = strtoul(text, &end, 10);
	if (length == 0 || strspn(text, "0123456789") < length || end != text + length || count < 2 || count > MAP_MOST_VALUES)
		return ssb_fail(err, SSB_USAGE, "'%.*s' is no number of values: from 2 to %d", (int)length, text, MAP_MOST_VALUES);
	axis->count = count;
	return true;
}

static bool parse_axis(map_axis *axis, const char *text, size_t length, ssb_error *err)
{
	const char *end = text + length, *equals = memchr(text, '=', length);
	const char *colon = equals ? memchr(equals, ':', (size_t)(end - equals)) : NULL;
	const char *second = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;
	if (!second)
		return ssb_fail(err, SSB_USAGE, "'%.*s' is not NAME=LO:HI:N, as in C10=-30nm:30nm:61", (int)length, text);
	if (!parse_name(axis, text, (size_t)(equals - text), err) ||
	    !parse_value(axis, equals + 1, (size_t)(colon - equals - 1), &axis->range[0], err) ||
	    !parse_value(axis, colon + 1, (size_t)(second - colon - 1), &axis->range[1], err) ||
	    !parse_count(axis, second + 1, (size_t)(end - second - 1), err))
		return false;
	return axis->range[0] < axis->range[1] ||
	       ssb_fail(err, SSB_USAGE, "'%.*s' is an empty range: the first value must be the smaller", (int)length, text);
}

bool map_parse(map_grid *grid, const char *text, ssb_error *err)
{
	for (grid->axes = 0;; text++) {
		if (grid->axes == MAP_AXES)
			return ssb_fail(err, SSB_USAGE, "a map has one or two parameters: '%s' is one more", text);
		const size_t length = strcspn(text, ",");
		if (!parse_axis(&grid->axis[grid->axes++], text, length, err))
			return false;
		text += length;
		if (!*text)
			break;
	}
	return grid->axes < 2 || grid->axis[0].parameter != grid->axis[1].parameter ||
	       ssb_fail(err, SSB_USAGE, "both axes are %s", fit_parameter_name(grid->axis[0].parameter));
}

/* ---- the grid ---- */

size_t map_points(const map_grid *grid)
{
	return grid->axis[0].count * (grid->axes > 1 ? grid->axis[1].count : 1);
}

double map_at(const map_grid *grid, size_t point, size_t axis)
{
	const size_t columns = map_points(grid) / grid->axis[0].count;
	return map_value(&grid->axis[axis], axis == 0 ? point / columns : point % columns);
}

/* A value of an axis as the fit has it: A, rad, or the logarithm of the detector's scale. */
static double fit_value(int parameter, double value)
{
	return parameter == SAMPLING ? log(value) : value * unit_of(parameter).size;
}

optics_parameters map_optics(const map_grid *grid, size_t point, const optics_parameters *held)
{
	optics_parameters p = *held;
	for (size_t i = 0; i < grid->axes; i++)
		fit_parameter_set(&p, grid->axis[i].parameter, fit_value(grid->axis[i].parameter, map_at(grid, point, i)));
	return p;
}

/* ---- the objective on it ---- */

static bool all_bins(objective *f, const fit_problem *problem, ssb_error *err)
{
	size_t *bin = malloc(problem->e->bins * sizeof *bin);
	for (size_t i = 0; bin && i < problem->e->bins; i++)
		bin[i] = i;
	const bool ok = bin && objective_make(f, problem->b, problem->e, bin, problem->e->bins, NULL);
	free(bin);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

static bool evaluate(const fit_problem *problem, objective *f, const map_grid *grid, map_result *r, ssb_error *err)
{
	const size_t points = map_points(grid);
	bool ok = true;
	for (size_t i = 0; ok && i < points; i++) {
		const optics_parameters p = map_optics(grid, i, &problem->held);
		double *value = &r->objective[i], *best = &r->objective[r->best];
		message_progress("map", i, points);
		ok = r->variance ? variance_value(problem->b, problem->e, &p, value, err) : objective_value(f, &p, value, err);
		if (r->variance ? *value < *best : *value > *best)
			r->best = i;
	}
	message_progress(NULL, 0, 0);
	return ok;
}

/* Noise and signal in L, over the bins that take part at the best point. */
static bool weigh(objective *f, const optics_parameters *best, map_result *r, ssb_error *err)
{
	optimum o = {.p = *best};
	if (!objective_value(f, best, &o.L, err))
		return false;
	const certificate c = certify(f, &o, 0);
	r->sigma2 = evidence_sigma2(f->e);
	r->multiplicity = c.multiplicity;
	r->signal_power = c.signal_power;
	return !isnan(c.signal_power) || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

bool map_run(const fit_problem *problem, const map_grid *grid, map_result *r, ssb_error *err)
{
	const size_t points = map_points(grid);
	objective f;
	*r = (map_result){.variance = problem->objective == OBJECTIVE_VARIANCE};
	if (points > problem->memory / sizeof *r->objective)
		return ssb_fail(err, SSB_USAGE, "a map of %zu points takes %.3g MB, more than --memory", points, 8e-6 * (double)points);
	r->objective = calloc(points, sizeof *r->objective);
	if (!r->objective)
		return ssb_fail(err, SSB_RUNTIME, "out of memory for a map of %zu points", points);
	if (!all_bins(&f, problem, err))
		return false;
	bool ok = evaluate(problem, &f, grid, r, err);
	if (ok && !r->variance) {
		const optics_parameters best = map_optics(grid, r->best, &problem->held);
		ok = weigh(&f, &best, r, err);
	}
	objective_free(&f);
	return ok;
}

void map_free(map_result *r)
{
	free(r->objective);
	*r = (map_result){0};
}

double map_explained(const map_result *r, size_t point)
{
	return r->signal_power > 0 ? (r->objective[point] - r->sigma2 * r->multiplicity) / r->signal_power : NAN;
}
