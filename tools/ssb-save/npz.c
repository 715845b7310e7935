#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ssb-save/writers.h"

static bool add(zip_file *zip, const char *name, const char *descr, const size_t *shape, unsigned rank, const void *data, size_t size,
                ssb_error *err)
{
	char file_name[200];
	bytes file = {0};
	snprintf(file_name, sizeof file_name, "%s.npy", name);
	const bool ok = npy_append(&file, descr, shape, rank, data, size, err) && zip_add(zip, file_name, &file, err);
	bytes_free(&file);
	return ok;
}

static bool add_image(zip_file *zip, const save_content *content, const picture_options *options, ssb_error *err)
{
	char name[40];
	bytes file = {0};
	snprintf(name, sizeof name, "%s.npy", content_name(content));
	const bool ok = write_npy(content, options, &file, err) && zip_add(zip, name, &file, err);
	bytes_free(&file);
	return ok;
}

static bool add_companions(zip_file *zip, const save_content *content, ssb_error *err)
{
	bool ok = true;
	for (size_t i = 0; ok && i < content->companions; i++) {
		const save_companion *c = &content->companion[i];
		const size_t shape[] = {c->pages, content->rows, content->columns};
		const unsigned rank = c->pages > 1 ? 3 : 2;
		ok = add(zip, c->name, "<f4", shape + 3 - rank, rank, c->values, c->pages * content->rows * content->columns * sizeof *c->values, err);
	}
	return ok;
}

/* Numbers, or null where there is none (NaN). A list of anything else is left to the record. */
static bool add_numbers(zip_file *zip, const char *key, const json_t *list, ssb_error *err)
{
	const size_t count = json_array_size(list);
	double *values = calloc(count + 1, sizeof *values);
	bool numbers = values && count;
	for (size_t i = 0; numbers && i < count; i++) {
		const json_t *value = json_array_get(list, i);
		numbers = json_is_number(value) || json_is_null(value);
		values[i] = json_is_null(value) ? NAN : json_number_value(value);
	}
	const bool ok = values ? !numbers || add(zip, key, "<f8", &count, 1, values, count * sizeof *values, err)
	                       : ssb_fail(err, SSB_RUNTIME, "out of memory");
	free(values);
	return ok;
}

/* Whether a name read from a file may name another: letters, digits and '_'. */
static bool plain(const char *name)
{
	return *name && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

/* "C10_nm": the stack's values, in the place of the one that a single image has. */
static bool add_stack(zip_file *zip, const json_t *stack, ssb_error *err)
{
	char key[100];
	if (!stack)
		return true;
	snprintf(key, sizeof key, "%.40s_%.40s", json_string_value(json_object_get(stack, "parameter")),
	         json_string_value(json_object_get(stack, "unit")));
	return !plain(key) || add_numbers(zip, key, json_object_get(stack, "values"), err);
}

/* "axis_C10_nm": the values along a map's axis. */
static bool add_axes(zip_file *zip, const save_map *map, ssb_error *err)
{
	bool ok = true;
	for (size_t i = 0; ok && i < map->axes; i++) {
		char key[100];
		const bool has_unit = strcmp(map->axis[i].unit, "1") != 0;
		snprintf(key, sizeof key, "axis_%.40s%s%.40s", map->axis[i].name, has_unit ? "_" : "", has_unit ? map->axis[i].unit : "");
		ok = plain(key) ? add_numbers(zip, key, map->axis[i].values, err)
		                : ssb_fail(err, SSB_BAD_INPUT, "'%s' cannot name an array", key);
	}
	return ok;
}

static bool add_rings(zip_file *zip, const json_t *frc, ssb_error *err)
{
	const char *key;
	json_t *value;
	bool ok = true;
	json_object_foreach((json_t *)frc, key, value) {
		char name[100];
		snprintf(name, sizeof name, "ring_%.90s", key);
		ok = ok && (!json_is_array(value) || !plain(key) || add_numbers(zip, name, value, err));
	}
	return ok;
}

static bool add_meta(zip_file *zip, const json_t *meta, ssb_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)meta, key, value) {
		const double number = json_number_value(value);
		const uint8_t truth = json_is_true(value);
		bool ok = true;
		if (!plain(key))
			continue;
		if (json_is_number(value))
			ok = add(zip, key, "<f8", NULL, 0, &number, sizeof number, err);
		else if (json_is_boolean(value))
			ok = add(zip, key, "|b1", NULL, 0, &truth, 1, err);
		else if (json_is_array(value))
			ok = add_numbers(zip, key, value, err);
		if (!ok)
			return false;
	}
	return true;
}

/* Those that are not among the optics, which hold the values as applied. */
static bool add_parameters(zip_file *zip, const json_t *parameters, const json_t *optics, ssb_error *err)
{
	for (size_t i = 0; i < json_array_size(parameters); i++) {
		const json_t *parameter = json_array_get(parameters, i);
		const char *name = json_string_value(json_object_get(parameter, "name"));
		const char *unit = json_string_value(json_object_get(parameter, "unit"));
		const double value = json_number_value(json_object_get(parameter, "value"));
		char key[100];
		if (!name || !plain(name) || !json_is_number(json_object_get(parameter, "value")))
			continue;
		unit = unit && plain(unit) ? unit : NULL;
		snprintf(key, sizeof key, "%s%s%s", name, unit ? "_" : "", unit ? unit : "");
		if (!json_object_get(optics, key) && !add(zip, key, "<f8", NULL, 0, &value, sizeof value, err))
			return false;
	}
	return true;
}

/* A numpy string of no dimension: ASCII JSON, four bytes a character. */
static bool add_record(zip_file *zip, const save_content *content, ssb_error *err)
{
	char *text = json_dumps(content->record, JSON_ENSURE_ASCII | JSON_COMPACT), descr[32];
	const size_t length = text ? strlen(text) : 0;
	uint32_t *wide = calloc(length + 1, sizeof *wide);
	bool ok = text && wide;
	if (!ok)
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; ok && i < length; i++)
		wide[i] = (unsigned char)text[i];
	snprintf(descr, sizeof descr, "<U%zu", length);
	ok = ok && add(zip, "record", descr, NULL, 0, wide, length * sizeof *wide, err);
	free(wide);
	free(text);
	return ok;
}

bool write_npz(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	zip_file *zip = zip_open(out, err);
	if (!zip)
		return false;
	const json_t *optics = json_object_get(content->meta, "optics");
	if (add_image(zip, content, options, err) && add_companions(zip, content, err) && add_stack(zip, content->stack, err) && add_axes(zip, &content->map, err) &&
	    add_rings(zip, json_object_get(content->meta, "fourier_ring_correlation"), err) && add_meta(zip, content->meta, err) && add_meta(zip, optics, err) &&
	    add_parameters(zip, json_object_get(content->meta, "parameters"), optics, err) && add_record(zip, content, err))
		return zip_close(zip, err);
	zip_discard(zip);
	return false;
}
