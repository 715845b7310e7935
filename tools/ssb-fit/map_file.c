#include "tools/ssb-fit/map_file.h"

#include <stdio.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/meta.h"
#include "tools/ssb-fit/report.h"
#include "tools/transfer/optics_io.h"

enum { PLACE = 100 };

/* "C10 -12 nm" */
static int print_value(char *text, size_t size, const map_axis *axis, double value)
{
	const char *unit = map_unit(axis);
	return snprintf(text, size, "%s %.6g%s%s", fit_parameter_name(axis->parameter), value, *unit == '1' ? "" : " ", *unit == '1' ? "" : unit);
}

/* "C10 -12 nm, C12a 1.5 nm" */
static const char *place(const map_grid *grid, size_t point, char text[PLACE])
{
	int used = print_value(text, PLACE, &grid->axis[0], map_at(grid, point, 0));
	if (grid->axes > 1) {
		used += snprintf(text + used, PLACE - (size_t)used, ", ");
		print_value(text + used, PLACE - (size_t)used, &grid->axis[1], map_at(grid, point, 1));
	}
	return text;
}

static bool is_mapped(const map_grid *grid, int parameter)
{
	for (size_t i = 0; i < grid->axes; i++)
		if (grid->axis[i].parameter == parameter)
			return true;
	return false;
}

/* ---- what is said ---- */

/* Whether the objective is the same all along axis `i`. */
static bool is_flat(const map_grid *grid, const map_result *r, size_t i)
{
	const size_t columns = map_points(grid) / grid->axis[0].count;
	for (size_t point = 0; point < map_points(grid); point++)
		if (r->objective[point] != r->objective[i == 0 ? point % columns : point - point % columns])
			return false;
	return true;
}

static void warn_of_axis(const map_grid *grid, const map_result *r, size_t i, json_t *warnings)
{
	const map_axis *axis = &grid->axis[i];
	const double best = map_at(grid, r->best, i);
	char text[PLACE];
	print_value(text, sizeof text, axis, best);
	if (is_flat(grid, r, i))
		message_warn(warnings, "the objective does not depend on %s here", fit_parameter_name(axis->parameter));
	else if (best == axis->range[0] || best == axis->range[1])
		message_warn(warnings, "the best point lies at the edge of the map: %s", text);
}

static void say(const fit_problem *problem, const map_grid *grid, const map_result *r, json_t *warnings)
{
	char text[PLACE];
	for (size_t i = 0; i < grid->axes; i++)
		warn_of_axis(grid, r, i, warnings);
	if (!problem->has_start && problem->fits[ROTATION] && !is_mapped(grid, ROTATION))
		message_warn(warnings, "the rotation is held at 0 deg: neither the spectrum nor --start nor --fix says it");
	place(grid, r->best, text);
	if (r->variance)
		message_note("smallest variance of %zu points, %.6g rad2: %s", map_points(grid), r->objective[r->best], text);
	else if (r->signal_power > 0)
		message_note("largest likelihood of %zu points, %.3f of the signal explained: %s", map_points(grid), map_explained(r, r->best), text);
	else
		message_note("largest likelihood of %zu points: %s", map_points(grid), text);
	if (!r->variance && !(r->signal_power > 0))
		message_warn(warnings, "the spectrum holds no signal above its noise");
}

/* ---- what is stored ---- */

static json_t *axes_json(const map_grid *grid)
{
	json_t *axes = json_array();
	for (size_t i = 0; i < grid->axes; i++) {
		const map_axis *axis = &grid->axis[i];
		json_t *values = json_array();
		for (size_t j = 0; j < axis->count; j++)
			json_array_append_new(values, json_real(map_value(axis, j)));
		json_array_append_new(axes, json_pack("{s:s, s:s, s:o}", "name", fit_parameter_name(axis->parameter), "unit", map_unit(axis),
		                                      "values", values));
	}
	return axes;
}

static json_t *best_json(const map_grid *grid, const map_result *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < grid->axes; i++)
		json_array_append_new(list, json_real(map_at(grid, r->best, i)));
	return json_pack("{s:o, s:f}", "at", list, "objective", r->objective[r->best]);
}

static json_t *describe(const fit_problem *problem, const map_grid *grid, const map_result *r, const json_t *spectrum, json_t *warnings)
{
	json_t *meta = report_instrument(spectrum);
	const optics_parameters best = map_optics(grid, r->best, &problem->held);
	json_object_set_new(meta, "objective", json_string(r->variance ? "variance" : "likelihood"));
	json_object_set_new(meta, "axes", axes_json(grid));
	json_object_set_new(meta, "optics", optics_to_json(&best));
	json_object_set_new(meta, "best", best_json(grid, r));
	if (!r->variance)
		json_object_set_new(meta, "noise", json_pack("{s:f, s:f, s:f}", "sigma2", r->sigma2, "multiplicity", r->multiplicity,
		                                             "signal_power", r->signal_power));
	json_object_set(meta, "warnings", warnings);
	return meta;
}

static bool store(const map_grid *grid, const map_result *r, const char *path, const json_t *meta, const json_t *past, ssb_error *err)
{
	ssb_array array = {.name = "objective", .dtype = SSB_F8, .rank = (unsigned)grid->axes, .chunk_elements = map_points(grid),
	                   .shape = {grid->axis[0].count, grid->axes > 1 ? grid->axis[1].count : 0}, .unit = "1"};
	if (r->variance)
		strcpy(array.unit, "rad2");
	ssb_writer *writer = ssb_writer_open(path, SSB_MAP, meta, past, &array, 1, err);
	if (writer && ssb_write_array(writer, r->objective, err))
		return ssb_writer_finish(writer, err);
	ssb_writer_discard(writer);
	return false;
}

bool map_make(const fit_problem *problem, const fit_options *o, ssb_reader *spectrum, ssb_reader *start, ssb_error *err)
{
	map_result r;
	json_t *past = NULL;
	bool ok = map_run(problem, &o->map, &r, err) && evidence_verify(problem->e, err) && (past = report_history(o, spectrum, start, err)) != NULL;
	if (ok) {
		json_t *warnings = meta_warnings(ssb_reader_meta(spectrum));
		say(problem, &o->map, &r, warnings);
		json_t *meta = describe(problem, &o->map, &r, ssb_reader_meta(spectrum), warnings);
		ok = store(&o->map, &r, o->output, meta, past, err);
		json_decref(meta);
		json_decref(warnings);
	}
	json_decref(past);
	map_free(&r);
	return ok;
}
