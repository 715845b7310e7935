#include <stdio.h>
#include "tools/ssb-sim/dectris.h"
#include "tools/ssb-sim/acquisition_files.h"

static json_t *pair(double r, double c)
{
	return json_pack("[f, f]", r, c);
}

static json_t *shape(const size_t n[2])
{
	return json_pack("[I, I]", (json_int_t)n[0], (json_int_t)n[1]);
}

/* "C12_nm", "phi12_deg" for each of the fourteen. */
static void put_aberrations(const acquisition *a, json_t *truth)
{
	for (int i = 0; i < ABERRATIONS; i++) {
		const aberration_term *t = &aberration_terms[i];
		char key[32];
		if (t->sine)
			continue;
		snprintf(key, sizeof key, "C%d%d_nm", t->n, t->m);
		json_object_set_new(truth, key, json_real(a->polar[i].C_A / 10));
		snprintf(key, sizeof key, "phi%d%d_deg", t->n, t->m);
		if (t->m)
			json_object_set_new(truth, key, json_real(a->polar[i].phi_rad * 180 / M_PI));
	}
}

static json_t *bad_pixel_list(const acquisition *a, const bad_pixel *bad)
{
	json_t *list = json_array();
	for (size_t i = 0; i < a->bad_pixels; i++)
		json_array_append_new(list, json_pack("{s:I, s:I, s:s, s:i}", "row_px", (json_int_t)bad[i].row, "column_px", (json_int_t)bad[i].column,
		                                      "kind", camera_bad_name[bad[i].kind], "pixel_mask", (int)camera_bad_mask[bad[i].kind]));
	return list;
}

static json_t *data_file_list(const acquisition *a, const char *name)
{
	json_t *list = json_array();
	char text[4096];
	for (size_t i = 1; i <= acquisition_data_files(a); i++)
		if (dectris_data_name(name, i, text, sizeof text))
			json_array_append_new(list, json_string(text));
	return list;
}

static json_t *phase_description(const acquisition *a, const char *name)
{
	char file[4096];
	const double f = (double)a->truth_upsample;
	snprintf(file, sizeof file, "%s_truth_phase.npy", name);
	return json_pack("{s:s, s:s, s:o, s:f, s:f}", "file", file, "unit", "rad", "sampling_A", pair(a->step_A[0] / f, a->step_A[1] / f),
	                 "peak_rad", a->phase_peak_rad, "band_limit_per_A", 2 * a->geometry.semiangle_rad / a->geometry.wavelength_A);
}

static void put_microscope(const acquisition *a, json_t *truth)
{
	const optics_geometry *g = &a->geometry;
	json_object_set_new(truth, "high_tension_kV", json_real(a->high_tension_kV));
	json_object_set_new(truth, "wavelength_A", json_real(g->wavelength_A));
	json_object_set_new(truth, "semiangle_mrad", json_real(1e3 * g->semiangle_rad));
	put_aberrations(a, truth);
	json_object_set_new(truth, "scan_shape", shape(a->scan));
	json_object_set_new(truth, "scan_step_A", pair(a->step_A[0], a->step_A[1]));
	json_object_set_new(truth, "detector_shape", shape(a->detector));
	json_object_set_new(truth, "detector_sampling_mrad", pair(1e3 * g->sampling_rad[0], 1e3 * g->sampling_rad[1]));
	json_object_set_new(truth, "bf_centre_px", pair(g->centre_px[0], g->centre_px[1]));
	json_object_set_new(truth, "bf_radius_px", pair(g->semiangle_rad / g->sampling_rad[0], g->semiangle_rad / g->sampling_rad[1]));
	json_object_set_new(truth, "rotation_deg", json_real(a->optics.rotation_rad * 180 / M_PI));
	json_object_set_new(truth, "transposed", json_boolean(a->optics.transposed));
	json_object_set_new(truth, "tilt_mrad", pair(1e3 * a->optics.tilt_rad[0], 1e3 * a->optics.tilt_rad[1]));
	json_object_set_new(truth, "thickness_nm", json_real(a->optics.thickness_A / 10));
}

json_t *acquisition_truth(const acquisition *a, const char *name, const bad_pixel *bad, uint64_t clipped)
{
	static const char *const specimens[] = {"lattice", "atoms", "amorphous"};
	const char dtype[3] = {'u', (char)('0' + a->element_size), 0};
	json_t *truth = json_pack("{s:s, s:s}", "name", name, "specimen", specimens[a->specimen]);
	if (!truth)
		return NULL;
	put_microscope(a, truth);
	json_object_set_new(truth, "dose_counts_per_bf_pixel", json_real(a->dose));
	json_object_set_new(truth, "noise", json_string(a->poisson ? "poisson" : "none"));
	json_object_set_new(truth, "seed", json_integer((json_int_t)a->seed));
	json_object_set_new(truth, "dtype", json_string(dtype));
	json_object_set_new(truth, "counts_clipped", json_integer((json_int_t)clipped));
	json_object_set_new(truth, "bad_pixels", bad_pixel_list(a, bad));
	json_object_set_new(truth, "frames_per_file", json_integer((json_int_t)a->frames_per_file));
	json_object_set_new(truth, "data_files", data_file_list(a, name));
	json_object_set_new(truth, "truth_phase", phase_description(a, name));
	return truth;
}
