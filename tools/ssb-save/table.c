/* The metadata as JSON, and a fit's parameters as CSV and for reading. */
#include <stdlib.h>
#include <string.h>

#include "tools/ssb-save/writers.h"

bool write_json(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	(void)options;
	char *text = json_dumps(content->record, JSON_INDENT(2));
	const bool ok = (text || ssb_fail(err, SSB_RUNTIME, "out of memory")) && bytes_print(out, err, "%s\n", text);
	free(text);
	return ok;
}

/* One row of the table; texts are borrowed, "" where there is none. */
typedef struct row { const char *name, *unit, *status; double value, standard_error; bool has_value, has_error; } row;

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static row row_of(const json_t *parameter)
{
	const json_t *value = json_object_get(parameter, "value"), *error = json_object_get(parameter, "standard_error");
	return (row){text_of(parameter, "name"), text_of(parameter, "unit"), text_of(parameter, "status"), json_number_value(value),
	             json_number_value(error), json_is_number(value), json_is_number(error)};
}

/* A map, one point a line: its axes, the objective, and the explained fraction where that is known. */
static bool write_points(const save_content *content, bytes *out, ssb_error *err)
{
	const save_map *map = &content->map;
	const size_t columns = map->axes > 1 ? map->axis[1].count : 1;
	const bool explained = map->noise > 0;
	bool ok = true;
	for (size_t i = 0; ok && i < map->axes; i++) {
		const bool has_unit = strcmp(map->axis[i].unit, "1") != 0;
		ok = bytes_print(out, err, "%s%s%s,", map->axis[i].name, has_unit ? "_" : "", has_unit ? map->axis[i].unit : "");
	}
	ok = ok && bytes_print(out, err, "%s%s\n", map->variance ? "variance_rad2" : "likelihood", explained ? ",explained" : "");
	for (size_t i = 0; ok && i < content->rows * content->columns; i++) {
		ok = bytes_print(out, err, "%.12g,", map_axis_value(&map->axis[0], i / columns)) &&
		     (map->axes == 1 || bytes_print(out, err, "%.12g,", map_axis_value(&map->axis[1], i % columns))) &&
		     bytes_print(out, err, "%.17g", content->objective[i]) &&
		     (!explained || bytes_print(out, err, ",%.9g", map_shown(map, content->objective[i]))) && bytes_print(out, err, "\n");
	}
	return ok;
}

bool write_csv(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	(void)options;
	if (content->objective)
		return write_points(content, out, err);
	if (content->kind == SSB_PHASE)
		return write_rings(content, out, err);
	const json_t *parameters = json_object_get(content->meta, "parameters");
	bool ok = bytes_print(out, err, "name,value,unit,standard_error,status\n");
	for (size_t i = 0; ok && i < json_array_size(parameters); i++) {
		const row r = row_of(json_array_get(parameters, i));
		ok = bytes_print(out, err, "%s,", r.name) && (!r.has_value || bytes_print(out, err, "%.12g", r.value)) &&
		     bytes_print(out, err, ",%s,", r.unit) &&
		     (!r.has_error || bytes_print(out, err, "%.6g", r.standard_error)) && bytes_print(out, err, ",%s\n", r.status);
	}
	return ok;
}

static bool print_parameters(const json_t *parameters, bytes *out, ssb_error *err)
{
	bool ok = true;
	for (size_t i = 0; ok && i < json_array_size(parameters); i++) {
		const row r = row_of(json_array_get(parameters, i));
		char value[40] = "-", error[40] = ""; /* its ± is two bytes and one column */
		if (r.has_value)
			snprintf(value, sizeof value, "%.6g", r.value);
		if (r.has_error)
			snprintf(error, sizeof error, "± %.3g", r.standard_error);
		ok = bytes_print(out, err, "%-10s %14s %-*s %-5s %s\n", r.name, value, r.has_error ? 13 : 12, error, r.unit, r.status);
	}
	return ok;
}

static bool print_numbers(const json_t *object, bytes *out, ssb_error *err)
{
	const char *key;
	json_t *value;
	bool ok = true;
	json_object_foreach((json_t *)object, key, value) {
		if (json_is_number(value))
			ok = ok && bytes_print(out, err, "%s: %.6g\n", key, json_number_value(value));
		else if (json_is_string(value))
			ok = ok && bytes_print(out, err, "%s: %s\n", key, json_string_value(value));
		else if (json_is_boolean(value))
			ok = ok && bytes_print(out, err, "%s: %s\n", key, json_is_true(value) ? "yes" : "no");
	}
	return ok;
}

static bool print_warnings(const json_t *warnings, bytes *out, ssb_error *err)
{
	bool ok = true;
	for (size_t i = 0; ok && i < json_array_size(warnings); i++) {
		const json_t *warning = json_array_get(warnings, i);
		ok = bytes_print(out, err, "warning (%s): %s\n", text_of(warning, "tool"), text_of(warning, "text"));
	}
	return ok;
}

bool write_text(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	(void)options;
	if (content->kind == SSB_PHASE)
		return write_rings_text(content, out, err);
	const json_t *meta = content->meta, *transposed = json_object_get(json_object_get(meta, "optics"), "transposed");
	return print_parameters(json_object_get(meta, "parameters"), out, err) &&
	       (!transposed || bytes_print(out, err, "%-10s %14s\n", "transposed", json_is_true(transposed) ? "yes" : "no")) &&
	       bytes_print(out, err, "\n") && print_numbers(meta, out, err) &&
	       print_numbers(json_object_get(meta, "objective"), out, err) && print_warnings(json_object_get(meta, "warnings"), out, err);
}
