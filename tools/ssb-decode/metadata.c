#include "tools/ssb-decode/metadata.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tools/common/message.h"
#include "tools/ssb-decode/dataset.h"

/* "/entry/data/x" -> "/entry/data", "/x" -> "". */
static void cut_last_name(char *object)
{
	char *const slash = strrchr(object, '/');
	if (slash)
		*slash = 0;
}

static void frames_group(const frames_at *at, char object[H5_OBJECT_SIZE])
{
	memcpy(object, at->object, H5_OBJECT_SIZE);
	if (!at->group)
		cut_last_name(object);
}

void metadata_path(const frames_at *at, const char *name, char object[H5_OBJECT_SIZE])
{
	char group[H5_OBJECT_SIZE];
	frames_group(at, group);
	cut_last_name(group);
	snprintf(object, H5_OBJECT_SIZE, "%.900s%.100s", group, name);
}

/* Follow to an object that may be absent. A dead link is noted: what hangs behind it must not be lost without a word. */
static bool find(const char *path, const char *object, h5_place *place)
{
	bool absent;
	ssb_error err;
	if (h5_follow(path, object, place, &absent, &err))
		return true;
	if (!absent)
		message_note("'%s' cannot be read: %s", object, err.text);
	return false;
}

/* ---- units ---- */

/* Factors to eV, m, s; a unit that is not listed makes the number unknown. */
static const struct { const char *unit; double factor; } units[] = {
	{"eV", 1}, {"keV", 1e3}, {"V", 1}, {"kV", 1e3}, {"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}, {"um", 1e-6}, {"µm", 1e-6}, {"μm", 1e-6},
	{"nm", 1e-9}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9},
};

/* The factor of the unit attribute of `place`; `otherwise` without one, 0 for an unknown one. */
static double unit_factor(const h5_place *place, double otherwise)
{
	char unit[32];
	if (!h5_attribute_text(place, "units", unit, sizeof unit) && !h5_attribute_text(place, "unit", unit, sizeof unit))
		return otherwise;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(units[i].unit, unit) == 0)
			return units[i].factor;
	message_note("'%s' has the unit '%s', which is not known: not used", place->object, unit);
	return 0;
}

/* ---- the instrument ---- */

typedef enum field_kind { TEXT, COUNT, LENGTH, TIME, ENERGY } field_kind;

typedef struct field {
	const char *name;  /* below the entry */
	const char *key;
	field_kind kind;
	double scale;      /* from eV, m, s to the key's unit */
} field;

static const field fields[] = {
	{"/instrument/detector/detectorSpecific/photon_energy", "high_tension_kV", ENERGY, 1e-3},
	{"/instrument/detector/saturation_value", "saturation_count", COUNT, 1},
	{"/instrument/detector/detectorSpecific/countrate_correction_count_cutoff", "saturation_count", COUNT, 1},
	{"/instrument/detector/count_time", "count_time_s", TIME, 1},
	{"/instrument/detector/frame_time", "frame_time_s", TIME, 1},
	{"/instrument/detector/detector_distance", "detector_distance_m", LENGTH, 1},
	{"/instrument/detector/y_pixel_size", "pixel_row_size_m", LENGTH, 1},
	{"/instrument/detector/x_pixel_size", "pixel_column_size_m", LENGTH, 1},
	{"/instrument/detector/threshold_energy", "threshold_energy_eV", ENERGY, 1},
	{"/instrument/detector/sensor_thickness", "sensor_thickness_m", LENGTH, 1},
	{"/instrument/detector/bit_depth_readout", "bit_depth_readout", COUNT, 1},
	{"/instrument/detector/description", "detector", TEXT, 0},
	{"/instrument/detector/detector_number", "detector_number", TEXT, 0},
	{"/instrument/detector/sensor_material", "sensor_material", TEXT, 0},
	{"/instrument/detector/detectorSpecific/software_version", "detector_software", TEXT, 0},
	{"/instrument/detector/detectorSpecific/eiger_fw_version", "detector_firmware", TEXT, 0},
	{"/instrument/detector/detectorSpecific/data_collection_date", "data_collection_date", TEXT, 0},
};

/* Set key unless it is there already; two sources that disagree are both told. */
static void set_number(acquisition *a, const char *key, double value, const char *source)
{
	json_t *const sources = json_object_get(a->instrument, "sources"), *const known = json_object_get(a->instrument, key);
	if (known) {
		if (fabs(json_number_value(known) - value) > 1e-6 * fabs(value) && strcmp(key, "saturation_count") != 0)
			message_warn(a->warnings, "%s is %g in %s and %g in %s, the former is used", key, json_number_value(known),
			             json_string_value(json_object_get(sources, key)), value, source);
		return;
	}
	json_object_set_new(a->instrument, key, value == floor(value) && fabs(value) < 0x1p53 ? json_integer((json_int_t)value) : json_real(value));
	json_object_set_new(sources, key, json_string(source));
}

/* Zero, negative and not-a-number mean unknown. */
static void take_number(acquisition *a, const field *f, const h5_place *place)
{
	double value;
	if (h5_numbers(place, &value, 1) != 1)
		return;
	if (f->kind != COUNT)
		value *= unit_factor(place, 1) * f->scale;
	if (value > 0 && isfinite(value))
		set_number(a, f->key, value, place->object);
}

static void take_field(acquisition *a, const field *f, const h5_place *place)
{
	char text[200];
	if (f->kind != TEXT)
		take_number(a, f, place);
	else if (h5_text(place, text, sizeof text) && text[0] && json_object_set_new(a->instrument, f->key, json_string(text)) == 0)
		json_object_set_new(json_object_get(a->instrument, "sources"), f->key, json_string(place->object));
}

static void collect_instrument(acquisition *a, const frames_at *at)
{
	json_object_set_new(a->instrument, "sources", json_object());
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		char object[H5_OBJECT_SIZE];
		h5_place place;
		metadata_path(at, fields[i].name, object);
		if (!find(a->path, object, &place))
			continue;
		take_field(a, &fields[i], &place);
		h5_leave(&place);
	}
}

double metadata_triggers(const acquisition *a, const frames_at *at)
{
	static const char *const names[] = {"/instrument/detector/detectorSpecific/nimages", "/instrument/detector/detectorSpecific/ntrigger"};
	double product = 1;
	for (size_t i = 0; i < 2; i++) {
		char object[H5_OBJECT_SIZE];
		h5_place place;
		double value = 0;
		metadata_path(at, names[i], object);
		if (!find(a->path, object, &place))
			return 0;
		if (h5_numbers(&place, &value, 1) != 1 || !(value >= 1))
			value = 0;
		h5_leave(&place);
		product *= value;
	}
	return product;
}

/* ---- the scan ---- */

static void state_scan(acquisition *a, double rows, double columns, const char *format, const char *where)
{
	if (a->statements == MOST_STATEMENTS)
		return;
	scan_statement *const s = &a->stated[a->statements++];
	s->rows = rows;
	s->columns = columns;
	snprintf(s->source, sizeof s->source, "%s '%.150s'", format, where);
}

/* Attributes of the set or of its group that say how its frames lie on the scan. */
static bool scan_attributes(acquisition *a, const char *object, ssb_error *err)
{
	h5_place place;
	double shape[4], skip = 0;
	bool ok = true;
	if (!find(a->path, object, &place))
		return true;
	const int count = h5_attribute_numbers(&place, "scan_shape", shape, 4);
	if (count == 2)
		state_scan(a, shape[0], shape[1], "attribute scan_shape of", object);
	else if (count > 0)
		ok = ssb_fail(err, SSB_BAD_INPUT, "attribute scan_shape of '%s' has %d numbers, not 2", object, count);
	if (h5_attribute_numbers(&place, "line_skip", &skip, 1) == 1 && skip != 0)
		snprintf(a->remark, sizeof a->remark, "attribute line_skip = %g of '%.200s' is not supported", skip, object);
	h5_leave(&place);
	return ok;
}

static bool refuse_positions(const acquisition *a, const char *group, ssb_error *err)
{
	char object[H5_OBJECT_SIZE];
	h5_place place;
	snprintf(object, sizeof object, "%.900s/scan_positions", group);
	if (!find(a->path, object, &place))
		return true;
	h5_leave(&place);
	return ssb_fail(err, SSB_BAD_INPUT, "the file orders its frames by position ('%s'), which is not supported", object);
}

static bool collect_scan(acquisition *a, const frames_at *at, ssb_error *err)
{
	char group[H5_OBJECT_SIZE];
	frames_group(at, group);
	if (!refuse_positions(a, group, err) || !scan_attributes(a, group[0] ? group : "/", err))
		return false;
	return scan_attributes(a, at->group ? a->part[0].link : at->object, err);
}

/* ---- the camera's companion file ---- */

static double companion_number(const h5_place *place, const char *name)
{
	double value;
	return h5_attribute_numbers(place, name, &value, 1) == 1 ? value : NAN;
}

static void take_companion(acquisition *a, const char *path, const h5_place *place)
{
	const double columns = companion_number(place, "NumPixelsX"), rows = companion_number(place, "NumPixelsY");
	const double volts = companion_number(place, "High Tension"), metres = companion_number(place, "Camera Length");
	const double step = companion_number(place, "Pixel Size"), rotation = companion_number(place, "Rotation");
	char source[SOURCE_SIZE];
	const char *const slash = strrchr(path, '/');
	snprintf(source, sizeof source, "companion file '%.150s'", slash ? slash + 1 : path);
	if (!isnan(rows) && !isnan(columns))
		state_scan(a, rows, columns, "NumPixelsY x NumPixelsX of the companion file", slash ? slash + 1 : path);
	if (volts > 0 && isfinite(volts))
		set_number(a, "high_tension_kV", volts * 1e-3, source);
	if (metres > 0 && isfinite(metres))
		set_number(a, "camera_length_m", metres, source);
	if (step > 0 && isfinite(step))
		set_number(a, "scan_step_A", step * 10, source);
	if (isfinite(rotation))
		set_number(a, "scan_rotation_deg", rotation, source);
}

static void collect_companion(acquisition *a)
{
	static const char ending[] = "_master.h5";
	char path[PATH_MAX];
	h5_place place;
	bool absent;
	ssb_error err;
	const size_t length = strlen(a->path), end = strlen(ending);
	if (length <= end || length >= sizeof path || strcmp(a->path + length - end, ending) != 0)
		return;
	snprintf(path, sizeof path, "%.*s.h5", (int)(length - end), a->path);
	if (access(path, F_OK) != 0)
		return;
	if (!h5_follow(path, "/STEM Metadata", &place, &absent, &err)) {
		message_note("companion file '%s' is not used: %s", path, err.text);
		return;
	}
	take_companion(a, path, &place);
	h5_leave(&place);
}

/* ---- the pixel mask ---- */

/* A pixel is masked when any byte of its element is not zero, whatever the type. */
static bool read_mask_values(acquisition *a, dataset *set, ssb_error *err)
{
	const size_t pixels = a->rows * a->columns, size = dataset_describe(set)->element_size;
	const uint64_t only = 0;
	chunk_decoder *const decoder = chunk_decoder_new(err);
	uint8_t *const values = malloc(pixels * size);
	a->masked = calloc(pixels, 1);
	bool ok = decoder && values && a->masked;
	if (!ok)
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	ok = ok && dataset_read(set, &only, 1, values, 0, decoder, err);
	for (size_t i = 0; ok && i < pixels * size; i++)
		a->masked[i / size] |= values[i] != 0;
	free(values);
	chunk_decoder_free(decoder);
	return ok;
}

static bool read_mask(acquisition *a, const h5_place *place, ssb_error *err)
{
	dataset *const set = dataset_open(place, err);
	if (!set)
		return false;
	const dataset_info *const info = dataset_describe(set);
	bool ok = info->frames == 1 && info->rows == a->rows && info->columns == a->columns;
	if (ok)
		ok = read_mask_values(a, set, err) || ssb_fail_prefix(err, "pixel mask '%s': ", place->object);
	else
		ssb_fail(err, SSB_BAD_INPUT, "the pixel mask '%s' is %llu x %zux%zu, the frames are %zux%zu", place->object,
		         (unsigned long long)info->frames, info->rows, info->columns, a->rows, a->columns);
	dataset_close(set);
	return ok;
}

static bool collect_mask(acquisition *a, const frames_at *at, ssb_error *err)
{
	static const char *const names[] = {"/instrument/detector/detectorSpecific/pixel_mask", "/instrument/detector/pixel_mask"};
	for (size_t i = 0; i < 2; i++) {
		char object[H5_OBJECT_SIZE];
		h5_place place;
		bool absent;
		metadata_path(at, names[i], object);
		if (h5_follow(a->path, object, &place, &absent, err)) {
			const bool ok = read_mask(a, &place, err);
			h5_leave(&place);
			return ok;
		}
		if (!absent)
			return ssb_fail_prefix(err, "pixel mask: ");
	}
	message_note("no pixel mask in the file");
	return true;
}

bool metadata_collect(acquisition *a, const frames_at *at, ssb_error *err)
{
	collect_instrument(a, at);
	if (!collect_scan(a, at, err) || !collect_mask(a, at, err))
		return false;
	collect_companion(a);
	return true;
}
