#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ssb-save/writers.h"

/* Every call goes on from what the calls before achieved: an identifier below 0 makes the next one fail, `failed` keeps it. */
typedef struct nexus { hid_t file; bool failed; } nexus;

static void check(nexus *n, herr_t status)
{
	n->failed |= status < 0;
}

static void text_attribute(nexus *n, hid_t object, const char *name, const char *text)
{
	const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
	check(n, H5Tset_size(type, strlen(text) + 1));
	check(n, H5Tset_cset(type, H5T_CSET_UTF8));
	const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	check(n, H5Awrite(attribute, type, text));
	check(n, H5Aclose(attribute));
	H5Sclose(space);
	H5Tclose(type);
}

static void number_attribute(nexus *n, hid_t object, const char *name, hid_t type, const void *value)
{
	const hid_t space = H5Screate(H5S_SCALAR), attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	check(n, H5Awrite(attribute, type, value));
	check(n, H5Aclose(attribute));
	H5Sclose(space);
}

/* Variable-length strings as attributes: what NeXus wants for a list of axes. */
static void list_attribute(nexus *n, hid_t object, const char *name, const char *const *texts, hsize_t count)
{
	const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL);
	check(n, H5Tset_size(type, H5T_VARIABLE));
	check(n, H5Tset_cset(type, H5T_CSET_UTF8));
	const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	check(n, H5Awrite(attribute, type, texts));
	check(n, H5Aclose(attribute));
	H5Sclose(space);
	H5Tclose(type);
}

static hid_t group(nexus *n, hid_t parent, const char *name, const char *class)
{
	const hid_t plan = H5Pcreate(H5P_GROUP_CREATE);
	check(n, H5Pset_link_creation_order(plan, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
	const hid_t id = H5Gcreate2(parent, name, H5P_DEFAULT, plan, H5P_DEFAULT);
	check(n, id < 0 ? -1 : 0);
	text_attribute(n, id, "NX_class", class);
	H5Pclose(plan);
	return id;
}

/* Without the time of its making, which HDF5 would note. */
static void dataset(nexus *n, hid_t parent, const char *name, hid_t type, int rank, const hsize_t *shape, const void *data, const char *units)
{
	const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), space = rank ? H5Screate_simple(rank, shape, NULL) : H5Screate(H5S_SCALAR);
	check(n, H5Pset_obj_track_times(plan, 0));
	const hid_t id = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
	check(n, H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	if (units)
		text_attribute(n, id, "units", units);
	check(n, H5Dclose(id));
	H5Sclose(space);
	H5Pclose(plan);
}

static void text_dataset(nexus *n, hid_t parent, const char *name, const char *text)
{
	const hid_t type = H5Tcopy(H5T_C_S1);
	check(n, H5Tset_size(type, strlen(text) + 1));
	check(n, H5Tset_cset(type, H5T_CSET_UTF8));
	dataset(n, parent, name, type, 0, NULL, text, NULL);
	H5Tclose(type);
}

static void json_dataset(nexus *n, hid_t parent, const char *name, const json_t *json)
{
	char *text = json_dumps(json, JSON_INDENT(1));
	n->failed |= !text;
	if (text)
		text_dataset(n, parent, name, text);
	free(text);
}

static void axis(nexus *n, hid_t data, const char *name, size_t count, double spacing, const char *units)
{
	double *positions = malloc(count * sizeof *positions);
	const hsize_t length = count;
	n->failed |= !positions;
	for (size_t i = 0; positions && i < count; i++)
		positions[i] = (double)i * spacing;
	if (positions)
		dataset(n, data, name, H5T_NATIVE_DOUBLE, 1, &length, positions, units);
	free(positions);
}

/* An axis at a list of values; at 0, 1, … without one. */
static void listed_axis(nexus *n, hid_t data, const char *name, const json_t *list, size_t count, const char *unit)
{
	double *values = malloc(count * sizeof *values);
	const hsize_t length = count;
	n->failed |= !values;
	for (size_t i = 0; values && i < count; i++)
		values[i] = list ? json_number_value(json_array_get(list, i)) : (double)i;
	if (values)
		dataset(n, data, name, H5T_NATIVE_DOUBLE, 1, &length, values, unit);
	free(values);
}

/* The axis that pages run along: the stack's parameter, else their number. */
static const char *page_axis(nexus *n, hid_t data, const json_t *stack, size_t pages)
{
	const char *name = stack ? json_string_value(json_object_get(stack, "parameter")) : "half";
	listed_axis(n, data, name, json_object_get(stack, "values"), pages, stack ? json_string_value(json_object_get(stack, "unit")) : "1");
	return name;
}

/* An NXdata of one signal with its axes; left open. */
static hid_t add_signal(nexus *n, hid_t entry, const char *group_name, const save_content *content, const char *name, size_t pages,
                        const json_t *stack, const void *image)
{
	const hid_t data = group(n, entry, group_name, "NXdata");
	const char *axes[3] = {pages > 1 ? page_axis(n, data, stack, pages) : NULL, content->phase ? "y" : "row", content->phase ? "x" : "column"};
	const char *units = content->phase ? "angstrom" : "pixel";
	const hsize_t shape[3] = {pages, content->rows, content->columns};
	const int skipped = pages > 1 ? 0 : 1, rank = 3 - skipped;
	text_attribute(n, data, "signal", name);
	list_attribute(n, data, "axes", axes + skipped, (hsize_t)rank);
	dataset(n, data, name, content->phase ? H5T_NATIVE_FLOAT : H5T_NATIVE_UINT64, rank, shape + skipped, image, content_unit(content));
	axis(n, data, axes[1], content->rows, content->phase ? content->sampling_A[0] : 1, units);
	axis(n, data, axes[2], content->columns, content->phase ? content->sampling_A[1] : 1, units);
	for (int i = 0; i < rank; i++) {
		char indices[100];
		snprintf(indices, sizeof indices, "%s_indices", axes[skipped + i]);
		number_attribute(n, data, indices, H5T_NATIVE_INT, &i);
	}
	return data;
}

static void add_map(nexus *n, hid_t entry, const save_content *content)
{
	const save_map *map = &content->map;
	const hid_t data = group(n, entry, "data", "NXdata");
	const char *names[MAP_AXES] = {map->axis[0].name, map->axis[1].name};
	const hsize_t shape[MAP_AXES] = {map->axis[0].count, map->axis[1].count};
	text_attribute(n, data, "signal", content_name(content));
	list_attribute(n, data, "axes", names, map->axes);
	dataset(n, data, content_name(content), H5T_NATIVE_DOUBLE, (int)map->axes, shape, content->objective, content_unit(content));
	for (size_t i = 0; i < map->axes && i < MAP_AXES; i++)
		listed_axis(n, data, names[i], map->axis[i].values, map->axis[i].count, map->axis[i].unit);
	check(n, H5Gclose(data));
}

/* Each companion is a plot of its own. */
static void add_data(nexus *n, hid_t entry, const save_content *content)
{
	if (content->objective) {
		add_map(n, entry, content);
		return;
	}
	const void *image = content->phase ? (const void *)content->phase : content->counts;
	check(n, H5Gclose(add_signal(n, entry, "data", content, content_name(content), content->pages, content->stack, image)));
	for (size_t i = 0; i < content->companions; i++) {
		const save_companion *c = &content->companion[i];
		const json_t *stack = strcmp(c->name, "halves") ? content->stack : NULL;
		check(n, H5Gclose(add_signal(n, entry, c->name, content, c->name, c->pages, stack, c->values)));
	}
}

static void add_parameter(nexus *n, hid_t parent, const json_t *parameter)
{
	const char *name = json_string_value(json_object_get(parameter, "name")), *unit = json_string_value(json_object_get(parameter, "unit"));
	const json_t *error = json_object_get(parameter, "standard_error");
	const double value = json_number_value(json_object_get(parameter, "value")), width = json_number_value(error);
	if (!name || !json_is_number(json_object_get(parameter, "value")))
		return;
	dataset(n, parent, name, H5T_NATIVE_DOUBLE, 0, NULL, &value, unit ? unit : "1");
	if (!json_is_number(error))
		return;
	char error_name[100];
	snprintf(error_name, sizeof error_name, "%s_errors", name);
	dataset(n, parent, error_name, H5T_NATIVE_DOUBLE, 0, NULL, &width, unit ? unit : "1");
}

/* "C10_nm" as C10 with units, unless it is there with its error; pairs and truth values likewise. */
static void add_optics_value(nexus *n, hid_t parent, const char *key, const json_t *value)
{
	const bool pair = json_array_size(value) == 2, truth = json_is_boolean(value);
	const char *unit = truth ? NULL : strrchr(key, '_');
	const double numbers[2] = {json_number_value(pair ? json_array_get(value, 0) : value), json_number_value(json_array_get(value, 1))};
	const uint8_t is_true = json_is_true(value);
	const hsize_t two = 2;
	char name[100];
	snprintf(name, sizeof name, "%.*s", unit ? (int)(unit - key) : 99, key);
	if (!(pair || truth || json_is_number(value)) || H5Lexists(parent, name, H5P_DEFAULT) > 0)
		return;
	if (truth)
		dataset(n, parent, name, H5T_NATIVE_UINT8, 0, NULL, &is_true, NULL);
	else
		dataset(n, parent, name, H5T_NATIVE_DOUBLE, pair, &two, numbers, unit ? unit + 1 : "1");
}

static void add_parameters(nexus *n, hid_t entry, const json_t *parameters, const json_t *optics)
{
	const char *key;
	json_t *value;
	const hid_t id = group(n, entry, "parameters", "NXcollection");
	for (size_t i = 0; i < json_array_size(parameters); i++)
		add_parameter(n, id, json_array_get(parameters, i));
	json_object_foreach((json_t *)optics, key, value)
		add_optics_value(n, id, key, value);
	check(n, H5Gclose(id));
}

static void add_all(nexus *n, const save_content *content)
{
	const hid_t root = H5Gopen2(n->file, "/", H5P_DEFAULT);
	text_attribute(n, root, "NX_class", "NXroot");
	text_attribute(n, root, "default", "entry");
	const hid_t entry = group(n, root, "entry", "NXentry");
	text_attribute(n, entry, "default", "data");
	text_dataset(n, entry, "program_name", "ssb-save");
	add_data(n, entry, content);
	add_parameters(n, entry, json_object_get(content->meta, "parameters"), json_object_get(content->meta, "optics"));
	json_dataset(n, entry, "record", content->record);
	check(n, H5Gclose(entry));
	check(n, H5Gclose(root));
}

static bool take_image(nexus *n, bytes *out, ssb_error *err)
{
	check(n, H5Fflush(n->file, H5F_SCOPE_GLOBAL));
	const ssize_t size = n->failed ? -1 : H5Fget_file_image(n->file, NULL, 0);
	if (size < 0)
		return ssb_fail(err, SSB_RUNTIME, "HDF5 cannot write it");
	const size_t start = out->size;
	const uint8_t last = 0;
	if (!bytes_put(out, start + (size_t)size - 1, &last, 1, err))
		return false;
	return H5Fget_file_image(n->file, out->data + start, (size_t)size) == size || ssb_fail(err, SSB_RUNTIME, "HDF5 cannot write it");
}

bool write_nexus(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	(void)options;
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	nexus n = {-1, false};
	check(&n, H5Pset_fapl_core(access, 1 << 20, 0));
	n.file = H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
	H5Pclose(access);
	if (n.file < 0)
		return ssb_fail(err, SSB_RUNTIME, "HDF5 cannot make a file in memory");
	add_all(&n, content);
	const bool ok = take_image(&n, out, err);
	H5Fclose(n.file);
	return ok;
}
