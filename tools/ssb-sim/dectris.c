#include "tools/ssb-sim/dectris.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/version.h"

enum { FILTER_BITSHUFFLE = 32008, CAUSE_SIZE = 200 };
static const char data_path[] = "/entry/data/data";

struct dectris_file {
	hid_t file, data;
};

bool dectris_data_name(const char *name, size_t index, char *text, size_t size)
{
	const int length = snprintf(text, size, "%s_data_%06zu.h5", name, index);
	return length > 0 && (size_t)length < size;
}

/* The innermost record of HDF5's error stack; of a failed write only the system's reason, which stands in quotes. */
static herr_t innermost(unsigned n, const H5E_error2_t *e, void *cause)
{
	const char *reason = strstr(e->desc, "error message = '");
	if (n == 0 && reason)
		snprintf(cause, CAUSE_SIZE, "%.*s", (int)strcspn(reason + 17, "'"), reason + 17);
	else if (n == 0)
		snprintf(cause, CAUSE_SIZE, "%s", e->desc);
	return 0;
}

static bool fail_hdf5(const char *what, ssb_error *err)
{
	char cause[CAUSE_SIZE] = "";
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, cause);
	return ssb_fail(err, SSB_RUNTIME, "%s%s%s", what, *cause ? ": " : "", cause);
}

/* A creation property list of this class that records no times. */
static hid_t timeless(hid_t class)
{
	const hid_t list = H5Pcreate(class);
	H5Pset_obj_track_times(list, false);
	return list;
}

static hid_t create_file(const char *path)
{
	H5dont_atexit(); /* which would flush again what could not be written, and crash */
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	H5PLset_loading_state(0); /* a filter plugin that happens to be there must not change what we write */
	const hid_t creation = timeless(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
	H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
	const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
	H5Pclose(creation);
	H5Pclose(access);
	return file;
}

/* ---- attributes and small datasets ---- */

/* A fixed-length text as h5py and the camera store it: padded with NUL, at least one byte. */
static hid_t text_type(const char *text)
{
	const size_t length = strlen(text);
	const hid_t type = H5Tcopy(H5T_C_S1);
	H5Tset_size(type, length ? length : 1);
	H5Tset_strpad(type, H5T_STR_NULLPAD);
	return type;
}

static bool put_attribute(hid_t object, const char *name, hid_t type, const void *value)
{
	const hid_t space = H5Screate(H5S_SCALAR), attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	const bool ok = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
	H5Aclose(attribute);
	H5Sclose(space);
	return ok;
}

static bool put_text_attribute(hid_t object, const char *name, const char *text)
{
	const hid_t type = text_type(text);
	const bool ok = put_attribute(object, name, type, text);
	H5Tclose(type);
	return ok;
}

/* One dataset of the master: `type` 0 is a text; `rank` 0 is a scalar. */
typedef struct field {
	const char *name;
	hid_t type;
	const void *value;
	const char *units; /* NULL: none */
	int rank;
	hsize_t shape[2];
} field;

static bool put_field(hid_t group, const field *f)
{
	const hid_t type = f->type ? H5Tcopy(f->type) : text_type(f->value), creation = timeless(H5P_DATASET_CREATE);
	const hid_t space = f->rank ? H5Screate_simple(f->rank, f->shape, NULL) : H5Screate(H5S_SCALAR);
	const hid_t data = H5Dcreate2(group, f->name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
	const bool ok = data >= 0 && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, f->value) >= 0 &&
	                (!f->units || put_text_attribute(data, "units", f->units));
	H5Dclose(data);
	H5Sclose(space);
	H5Pclose(creation);
	H5Tclose(type);
	return ok;
}

static bool put_group(hid_t file, const char *path, const char *class)
{
	const hid_t creation = timeless(H5P_GROUP_CREATE), group = H5Gcreate2(file, path, H5P_DEFAULT, creation, H5P_DEFAULT);
	const bool ok = group >= 0 && put_text_attribute(group, "NX_class", class);
	H5Gclose(group);
	H5Pclose(creation);
	return ok;
}

/* ---- data files ---- */

static hid_t create_data(hid_t file, const acquisition *a, size_t frames)
{
	static const hid_t *const types[] = {NULL, &H5T_STD_U8LE_g, &H5T_STD_U16LE_g, NULL, &H5T_STD_U32LE_g};
	const hsize_t shape[3] = {frames, a->detector[0], a->detector[1]}, most[3] = {H5S_UNLIMITED, a->detector[0], a->detector[1]};
	const hsize_t chunk[3] = {1, a->detector[0], a->detector[1]};
	const unsigned parameters[5] = {0, 4, (unsigned)a->element_size, 0, 2}; /* version, element bytes, default blocks, LZ4 */
	const hid_t creation = timeless(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, most);
	H5Pset_chunk(creation, 3, chunk);
	/* Optional, as the camera has it: HDF5 then does not ask for the filter, which only readers need. */
	H5Pset_filter(creation, FILTER_BITSHUFFLE, H5Z_FLAG_OPTIONAL, 5, parameters);
	const hid_t data = H5Dcreate2(file, data_path, *types[a->element_size], space, H5P_DEFAULT, creation, H5P_DEFAULT);
	H5Pclose(creation);
	H5Sclose(space);
	return data;
}

dectris_file *dectris_create(const char *path, const acquisition *a, size_t first, size_t frames, ssb_error *err)
{
	dectris_file *f = malloc(sizeof *f);
	if (!f) {
		ssb_fail(err, SSB_RUNTIME, "out of memory");
		return NULL;
	}
	const int32_t low = (int32_t)first + 1, high = (int32_t)(first + frames);
	*f = (dectris_file){.file = create_file(path), .data = -1};
	if (f->file >= 0 && put_group(f->file, "entry", "NXentry") && put_group(f->file, "entry/data", "NXdata"))
		f->data = create_data(f->file, a, frames);
	if (f->data >= 0 && put_attribute(f->data, "image_nr_low", H5T_STD_I32LE, &low) &&
	    put_attribute(f->data, "image_nr_high", H5T_STD_I32LE, &high))
		return f;
	fail_hdf5("cannot create a data file", err);
	ssb_error ignored;
	dectris_close(f, &ignored);
	return NULL;
}

bool dectris_write_frame(dectris_file *file, size_t index, const void *chunk, size_t size, ssb_error *err)
{
	const hsize_t offset[3] = {index, 0, 0};
	return H5Dwrite_chunk(file->data, H5P_DEFAULT, 0, offset, size, chunk) >= 0 || fail_hdf5("cannot write a frame", err);
}

bool dectris_close(dectris_file *file, ssb_error *err)
{
	const bool data = file->data < 0 || H5Dclose(file->data) >= 0, whole = file->file < 0 || H5Fclose(file->file) >= 0;
	free(file);
	return (data && whole) || fail_hdf5("cannot close a data file", err);
}

/* ---- master ---- */

static bool put_groups(hid_t file)
{
	static const struct { const char *path, *class; } groups[] = {
		{"entry", "NXentry"},
		{"entry/data", "NXdata"},
		{"entry/instrument", "NXinstrument"},
		{"entry/instrument/beam", "NXbeam"},
		{"entry/instrument/detector", "NXdetector"},
		{"entry/instrument/detector/detectorSpecific", "NXcollection"},
		{"entry/instrument/detector/geometry", "NXgeometry"},
		{"entry/instrument/detector/geometry/orientation", "NXorientation"},
		{"entry/instrument/detector/geometry/translation", "NXtranslation"},
		{"entry/instrument/detector/goniometer", "NXtransformations"},
		{"entry/instrument/detector/module", "NXdetector_module"},
		{"entry/instrument/detector/transformations", "NXtransformations"},
		{"entry/sample", "NXsample"},
		{"entry/sample/goniometer", "NXtransformations"},
		{"entry/sample/transformations", "NXtransformations"},
	};
	bool ok = put_text_attribute(file, "default", "entry");
	for (size_t i = 0; ok && i < sizeof groups / sizeof *groups; i++)
		ok = put_group(file, groups[i].path, groups[i].class);
	return ok;
}

static bool put_fields(hid_t file, const char *path, const field *fields, size_t count)
{
	const hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
	bool ok = group >= 0;
	for (size_t i = 0; ok && i < count; i++)
		ok = put_field(group, &fields[i]);
	H5Gclose(group);
	return ok;
}

#define DOUBLE H5T_IEEE_F64LE, &(const double)
#define BYTE H5T_STD_I8LE, &(const int8_t)
#define UINT16 H5T_STD_U16LE, &(const uint16_t)
#define UINT32 H5T_STD_U32LE, &(const uint32_t)
#define UINT64 H5T_STD_U64LE, &(const uint64_t)
#define INT64 H5T_STD_I64LE, &(const int64_t)

static bool put_detector(hid_t file, const acquisition *a)
{
	const uint16_t bits = (uint16_t)(8 * a->element_size);
	const field fields[] = {
		{"beam_center_x", DOUBLE{0}, "pixel", 0, {0}},
		{"beam_center_y", DOUBLE{0}, "pixel", 0, {0}},
		{"bit_depth_image", UINT16{bits}, NULL, 0, {0}},
		{"bit_depth_readout", UINT16{bits < 16 ? bits : 16}, NULL, 0, {0}},
		{"count_time", DOUBLE{9.99e-5}, "s", 0, {0}},
		{"countrate_correction_applied", BYTE{1}, NULL, 0, {0}},
		{"description", 0, "Dectris ARINA Si (simulated by ssb-sim)", NULL, 0, {0}},
		{"detector_distance", DOUBLE{0}, "m", 0, {0}},
		{"detector_number", 0, "simulated", NULL, 0, {0}},
		{"detector_readout_time", DOUBLE{1e-7}, "s", 0, {0}},
		{"flatfield_correction_applied", BYTE{0}, NULL, 0, {0}},
		{"frame_time", DOUBLE{1e-4}, "s", 0, {0}},
		{"pixel_mask_applied", BYTE{1}, NULL, 0, {0}},
		{"saturation_value", INT64{(int64_t)(UINT32_MAX >> (32 - bits)) - 1}, NULL, 0, {0}},
		{"sensor_material", 0, "Si", NULL, 0, {0}},
		{"sensor_thickness", DOUBLE{0.00045}, "m", 0, {0}},
		{"threshold_energy", DOUBLE{17500}, "eV", 0, {0}},
		{"type", 0, "HPC", NULL, 0, {0}},
		{"virtual_pixel_correction_applied", BYTE{1}, NULL, 0, {0}},
		{"x_pixel_size", DOUBLE{1e-4}, "m", 0, {0}},
		{"y_pixel_size", DOUBLE{1e-4}, "m", 0, {0}},
		{"geometry/orientation/value", H5T_IEEE_F64LE, (const double[]){-1, 0, 0, 0, -1, 0}, NULL, 1, {6}},
		{"geometry/translation/distances", H5T_IEEE_F64LE, (const double[]){0, 0, 0}, "m", 1, {3}},
		{"module/data_origin", H5T_STD_I32LE, (const int32_t[]){0, 0}, NULL, 1, {2}},
		{"module/data_size", H5T_STD_I32LE, (const int32_t[]){(int32_t)a->detector[0], (int32_t)a->detector[1]}, NULL, 1, {2}},
		{"module/module_index", INT64{0}, NULL, 0, {0}},
	};
	return put_fields(file, "entry/instrument/detector", fields, sizeof fields / sizeof *fields);
}

/* As in the camera's own files the beam's energy is a photon_energy in eV, and scan shape, step and semiangle are nowhere. */
static bool put_specific(hid_t file, const acquisition *a, const float *flatfield, const uint32_t *mask)
{
	const hsize_t shape[2] = {a->detector[0], a->detector[1]};
	const uint32_t saturation = (UINT32_MAX >> (32 - 8 * a->element_size)) - 1;
	const field fields[] = {
		{"auto_summation", BYTE{1}, NULL, 0, {0}},
		{"compression", 0, "bslz4", NULL, 0, {0}},
		{"countrate_correction_count_cutoff", UINT32{saturation}, NULL, 0, {0}},
		{"eiger_fw_version", 0, "simulated", NULL, 0, {0}},
		{"element", 0, "", NULL, 0, {0}},
		{"flatfield", H5T_IEEE_F32LE, flatfield, NULL, 2, {shape[0], shape[1]}},
		{"frame_count_time", DOUBLE{9.99e-5}, "s", 0, {0}},
		{"frame_period", DOUBLE{1e-4}, "s", 0, {0}},
		{"nimages", UINT64{1}, NULL, 0, {0}},
		{"ntrigger", UINT64{a->scan[0] * a->scan[1]}, NULL, 0, {0}},
		{"number_of_excluded_pixels", UINT32{(uint32_t)a->bad_pixels}, NULL, 0, {0}},
		{"photon_energy", DOUBLE{1e3 * a->high_tension_kV}, "eV", 0, {0}},
		{"pixel_mask", H5T_STD_U32LE, mask, NULL, 2, {shape[0], shape[1]}},
		{"roi_mode", 0, "", NULL, 0, {0}},
		{"software_version", 0, "ssb-sim " SSB_VERSION, NULL, 0, {0}},
		{"trigger_mode", 0, "exts", NULL, 0, {0}},
		{"x_pixels_in_detector", UINT64{shape[1]}, NULL, 0, {0}},
		{"y_pixels_in_detector", UINT64{shape[0]}, NULL, 0, {0}},
	};
	return put_fields(file, "entry/instrument/detector/detectorSpecific", fields, sizeof fields / sizeof *fields);
}

static bool put_links(hid_t file, const char *name, size_t data_files)
{
	bool ok = true;
	for (size_t i = 1; ok && i <= data_files; i++) {
		char target[4096], link[40];
		snprintf(link, sizeof link, "/entry/data/data_%06zu", i);
		ok = dectris_data_name(name, i, target, sizeof target) &&
		     H5Lcreate_external(target, data_path, file, link, H5P_DEFAULT, H5P_DEFAULT) >= 0;
	}
	return ok;
}

static bool put_definition(hid_t file)
{
	const field definition = {"definition", 0, "NXmx", NULL, 0, {0}};
	const hid_t entry = H5Gopen2(file, "entry", H5P_DEFAULT), group = H5Gopen2(file, "entry/data", H5P_DEFAULT);
	bool ok = put_text_attribute(entry, "default", "data") && put_text_attribute(group, "signal", "data_000001") &&
	          put_field(entry, &definition);
	const hid_t data = H5Dopen2(entry, "definition", H5P_DEFAULT);
	ok = ok && put_text_attribute(data, "version", "1.4");
	H5Dclose(data);
	H5Gclose(group);
	H5Gclose(entry);
	return ok;
}

bool dectris_write_master(const char *path, const acquisition *a, const char *name, size_t data_files, const uint32_t *mask, ssb_error *err)
{
	const size_t pixels = a->detector[0] * a->detector[1];
	float *flatfield = malloc(pixels * sizeof *flatfield);
	if (!flatfield)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; i < pixels; i++)
		flatfield[i] = 1;
	const hid_t file = create_file(path);
	bool ok = file >= 0 && put_groups(file) && put_definition(file) && put_links(file, name, data_files) && put_detector(file, a) &&
	          put_specific(file, a, flatfield, mask);
	free(flatfield);
	if (!ok)
		fail_hdf5("cannot write the master file", err);
	if (file >= 0 && H5Fclose(file) < 0 && ok)
		ok = fail_hdf5("cannot close the master file", err);
	return ok;
}
