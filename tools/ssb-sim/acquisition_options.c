#include "tools/ssb-sim/acquisition_options.h"

#include <fftw3.h>
#include <hdf5.h>
#include <lz4.h>
#include <stdio.h>
#include <string.h>
#include "tools/common/quantity.h"
#include "tools/ssb-sim/acquisition_files.h"
#include "tools/ssb-sim/multislice.h"

/* What is typed, in the units it is typed in; 0 where a default depends on other options. */
typedef struct typed {
	double semiangle_mrad, sampling_mrad[2], radius_px, centre_px[2], rotation_deg, tilt_mrad[2];
	int specimen, transpose, dtype, noise;
	size_t frames_per_file, seed;
} typed;

/* polar_aberration *: "-12nm", "2nm,20deg"; the azimuth only where the order has one, 0 when it is not given. */
static bool parse_aberration(const cli_option *option, const char *text, ssb_error *err)
{
	const bool round_one = option->name[2] == '0';
	const char *comma = strchr(text, ',');
	polar_aberration value = {0, 0};
	if (comma && round_one)
		return ssb_fail(err, SSB_USAGE, "'%.80s' gives an angle to an aberration that has none", text);
	if (!quantity_parse_n(text, comma ? (size_t)(comma - text) : strlen(text), QUANTITY_LENGTH, NULL, &value.C_A, err))
		return false;
	if (comma && !quantity_parse(comma + 1, QUANTITY_ANGLE, NULL, &value.phi_rad, err))
		return false;
	*(polar_aberration *)option->target = value;
	return true;
}

/* double *, > 0 without unit. */
static bool parse_positive(const cli_option *option, const char *text, ssb_error *err)
{
	double value;
	if (!quantity_number(text, &value, err))
		return false;
	if (!(value > 0))
		return ssb_fail(err, SSB_USAGE, "'%.80s' is not positive", text);
	*(double *)option->target = value;
	return true;
}

/* double *, A, >= 0. */
static bool parse_thickness(const cli_option *option, const char *text, ssb_error *err)
{
	double *thickness = option->target;
	return quantity_parse(text, QUANTITY_LENGTH, NULL, thickness, err) &&
	       (*thickness >= 0 || ssb_fail(err, SSB_USAGE, "'%.80s' is negative", text));
}

/* double[2], mrad: "3,-2", "0.1deg,0". */
static bool parse_tilt(const cli_option *option, const char *text, ssb_error *err)
{
	const char *comma = strchr(text, ',');
	double tilt_mrad[2];
	if (!comma)
		return ssb_fail(err, SSB_USAGE, "'%.80s' is no pair: two angles with ',' between them", text);
	if (!quantity_in(text, (size_t)(comma - text), QUANTITY_ANGLE, "mrad", &tilt_mrad[0], err) ||
	    !quantity_in(comma + 1, strlen(comma + 1), QUANTITY_ANGLE, "mrad", &tilt_mrad[1], err))
		return false;
	memcpy(option->target, tilt_mrad, sizeof tilt_mrad);
	return true;
}

#define PHASE_MOST 10.0
#define TILT_MOST_RAD 0.3
#define THICKNESS_MOST_A 1e6
#define SLICES_MOST 10000
#define DOSE_MOST 1e8
#define AREA_MOST_A2 1e10

static bool check_ranges(const acquisition *a, ssb_error *err)
{
	size_t positions, pixels;
	if (__builtin_mul_overflow(a->scan[0], a->scan[1], &positions) || positions > INT32_MAX)
		return ssb_fail(err, SSB_USAGE, "--scan: %zux%zu is more than 2147483647 positions", a->scan[0], a->scan[1]);
	if (__builtin_mul_overflow(a->detector[0], a->detector[1], &pixels) || pixels > 1 << 28)
		return ssb_fail(err, SSB_USAGE, "--detector: %zux%zu is more than 268435456 pixels", a->detector[0], a->detector[1]);
	if (a->bad_pixels > pixels)
		return ssb_fail(err, SSB_USAGE, "--bad-pixels: %zu of %zu pixels", a->bad_pixels, pixels);
	if (!(a->phase_peak_rad >= 0 && a->phase_peak_rad <= PHASE_MOST))
		return ssb_fail(err, SSB_USAGE, "--phase: %g is not within 0 and %g rad", a->phase_peak_rad, PHASE_MOST);
	if (!(a->dose <= DOSE_MOST))
		return ssb_fail(err, SSB_USAGE, "--dose: %g is more than %g counts", a->dose, DOSE_MOST);
	if (!(a->geometry.semiangle_rad < 1))
		return ssb_fail(err, SSB_USAGE, "--semiangle: %g mrad is no small angle", 1e3 * a->geometry.semiangle_rad);
	if (a->seed > INT64_MAX)
		return ssb_fail(err, SSB_USAGE, "--seed: more than %lld, the largest that the truth's JSON can state", (long long)INT64_MAX);
	if (!(a->step_A[0] * (double)a->scan[0] * a->step_A[1] * (double)a->scan[1] <= AREA_MOST_A2))
		return ssb_fail(err, SSB_USAGE, "a scan of %g x %g A is too large to fill with atoms", a->step_A[0] * (double)a->scan[0],
		                a->step_A[1] * (double)a->scan[1]);
	const double tilt_rad = hypot(a->optics.tilt_rad[0], a->optics.tilt_rad[1]);
	if (!(tilt_rad <= TILT_MOST_RAD))
		return ssb_fail(err, SSB_USAGE, "--tilt: %g mrad is no small angle", 1e3 * tilt_rad);
	if (tilt_rad > 0 && a->optics.thickness_A == 0)
		return ssb_fail(err, SSB_USAGE, "--tilt needs --thickness: a thin specimen does not lean");
	if (!(a->optics.thickness_A <= THICKNESS_MOST_A) || multislice_slices(a) > SLICES_MOST)
		return ssb_fail(err, SSB_USAGE, "--thickness: %g nm takes more than %d slices", a->optics.thickness_A / 10, SLICES_MOST);
	if (a->truth_upsample > 64)
		return ssb_fail(err, SSB_USAGE, "--truth-upsample: %zu is more than 64", a->truth_upsample);
	return true;
}

static void set_geometry(const typed *t, acquisition *a)
{
	optics_geometry *g = &a->geometry;
	g->wavelength_A = optics_wavelength_A(a->high_tension_kV);
	g->semiangle_rad = t->semiangle_mrad * 1e-3;
	for (int axis = 0; axis < 2; axis++) {
		g->sampling_rad[axis] = t->sampling_mrad[axis] > 0 ? t->sampling_mrad[axis] * 1e-3 : g->semiangle_rad / (t->radius_px > 0 ? t->radius_px : 15);
		g->centre_px[axis] = isnan(t->centre_px[axis]) ? ((double)a->detector[axis] - 1) / 2 : t->centre_px[axis];
	}
}

static void set_optics(const typed *t, acquisition *a)
{
	a->optics.rotation_rad = t->rotation_deg * M_PI / 180;
	a->optics.transposed = t->transpose == 0;
	for (int axis = 0; axis < 2; axis++)
		a->optics.tilt_rad[axis] = t->tilt_mrad[axis] * 1e-3;
	for (int i = 0; i < ABERRATIONS; i++) {
		const aberration_term *term = &aberration_terms[i];
		const polar_aberration *polar = &a->polar[term->sine ? i - 1 : i];
		a->optics.C_A[i] = polar->C_A * (term->sine ? sin(term->m * polar->phi_rad) : cos(term->m * polar->phi_rad));
	}
}

/* 5000 as far as that makes few enough files. */
static bool set_files(const typed *t, acquisition *a, ssb_error *err)
{
	const size_t least = (a->scan[0] * a->scan[1] + MOST_DATA_FILES - 1) / MOST_DATA_FILES;
	a->frames_per_file = t->frames_per_file ? t->frames_per_file : least > 5000 ? least : 5000;
	return a->frames_per_file >= least ||
	       ssb_fail(err, SSB_USAGE, "--frames-per-file: %zu makes more than %d data files, %zu or more do not", t->frames_per_file,
	                MOST_DATA_FILES, least);
}

static bool finish(const typed *t, const cli_common *common, acquisition *a, ssb_error *err)
{
	if (t->radius_px > 0 && t->sampling_mrad[0] > 0)
		return ssb_fail(err, SSB_USAGE, "--sampling and --radius exclude each other");
	a->specimen = (enum specimen_kind)t->specimen;
	a->poisson = t->noise == 0;
	a->element_size = (size_t)1 << t->dtype;
	a->seed = t->seed;
	a->threads = common->threads;
	a->memory = common->memory;
	set_geometry(t, a);
	set_optics(t, a);
	return check_ranges(a, err) && set_files(t, a, err);
}

static bool set_name(const char *text, const char **name, ssb_error *err)
{
	const char *slash = strrchr(text, '/'), *base = slash ? slash + 1 : text;
	*name = text;
	return (*base && strcmp(base, "-") != 0) ||
	       ssb_fail(err, SSB_USAGE, "'%s' names no acquisition: several files are written, NAME_master.h5 and others", text);
}

static void library_versions(char *text, size_t size)
{
	snprintf(text, size, "HDF5 %d.%d.%d, LZ4 %s, %s", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, LZ4_versionString(), fftw_version);
}

static const char description[] =
	"Writes NAME_master.h5 and NAME_data_000001.h5 … as a Dectris Arina writes them, NAME_truth.json (every parameter, units in the keys) "
	"and NAME_truth_phase.npy (the specimen's phase at the scan positions, rad); all of them or none.\n"
	"The specimen is periodic over the scan and thin, exp(i phase), or with --thickness cut into slices with propagation between them; the "
	"phase is band-limited to 2 semiangle / wavelength. The model is exact for any rotation of the detector; what a detector pixel sees is "
	"nowhere interpolated. The same seed gives the same files.";

bool acquisition_parse(int argc, char **argv, cli_common *common, acquisition *a, const char **name, ssb_error *err)
{
	*a = (acquisition){
		.scan = {96, 96}, .detector = {64, 64}, .step_A = {0.3, 0.3}, .high_tension_kV = 80, .dose = 10, .phase_peak_rad = 0.5,
		.polar = {[C10] = {-120, 0}, [C12a] = {20, 20 * M_PI / 180}}, .truth_upsample = 1,
	};
	typed t = {.semiangle_mrad = 30, .centre_px = {NAN, NAN}, .rotation_deg = 15, .transpose = 1, .dtype = 1, .seed = 1};
	const cli_option options[] = {
		{"scan", 's', "RxC", cli_shape, a->scan, "scan positions, rows x columns (default: 96x96)"},
		{"step", 0, "A", cli_step, a->step_A, "scan step in A, or row,column (default: 0.3)"},
		{"detector", 'd', "RxC", cli_shape, a->detector, "detector pixels (default: 64x64)"},
		{"kv", 'k', "KV", cli_kilovolt, &a->high_tension_kV, "high tension in kV (default: 80)"},
		{"semiangle", 'a', "MRAD", cli_semiangle, &t.semiangle_mrad, "convergence semiangle in mrad (default: 30)"},
		{"sampling", 0, "MRAD", cli_sampling, t.sampling_mrad, "detector sampling in mrad per pixel, or row,column"},
		{"radius", 0, "PX", parse_positive, &t.radius_px, "instead of --sampling: radius of the bright-field disk in pixels (default: 15)"},
		{"centre", 0, "R,C", cli_pair, t.centre_px, "centre of the disk in pixels (default: the detector's)"},
		{"dose", 0, "COUNTS", parse_positive, &a->dose, "mean counts per bright-field pixel and position without specimen (default: 10)"},
		{"specimen", 0, "lattice|atoms|amorphous", cli_choice, &t.specimen,
		 "graphene with vacancies and Si (default), scattered C, Si and Ti atoms, or a film of carbon"},
		{"phase", 0, "RAD", cli_number, &a->phase_peak_rad, "largest |phase| of the specimen, its mean being 0, in rad (default: 0.5)"},
		{"thickness", 0, "LENGTH", parse_thickness, &a->optics.thickness_A,
		 "of the specimen, its potential spread evenly over it; C10 is then that at mid-depth (default: 0, thin)"},
		{"tilt", 0, "R,C", parse_tilt, t.tilt_mrad, "slope of the specimen's columns along the beam, row,column in mrad (default: 0,0)"},
		{"rotation", 0, "DEG", cli_angle, &t.rotation_deg, "from detector to scan in degrees (default: 15)"},
		{"transpose", 0, "yes|no", cli_choice, &t.transpose, "swap the detector's axes before the rotation (default: no)"},
		{"c10", 0, "LENGTH", parse_aberration, &a->polar[C10], "minus the defocus, with unit (default: -12nm)"},
		{"c12", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C12a], "two-fold astigmatism, with units (default: 2nm,20deg)"},
		{"c21", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C21a], "coma (this and all below: default 0)"},
		{"c23", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C23a], "three-fold astigmatism"},
		{"c30", 0, "LENGTH", parse_aberration, &a->polar[C30], "spherical aberration"},
		{"c32", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C32a], "star aberration"},
		{"c34", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C34a], "four-fold astigmatism"},
		{"c41", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C41a], "coma of fourth order"},
		{"c43", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C43a], "three-lobe aberration"},
		{"c45", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C45a], "five-fold astigmatism"},
		{"c50", 0, "LENGTH", parse_aberration, &a->polar[C50], "spherical aberration of fifth order"},
		{"c52", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C52a], "star aberration of fifth order"},
		{"c54", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C54a], "rosette aberration"},
		{"c56", 0, "LENGTH,ANGLE", parse_aberration, &a->polar[C56a], "six-fold astigmatism"},
		{"noise", 0, "poisson|none", cli_choice, &t.noise, "none: expected counts, rounded to whole ones: choose a high dose (default: poisson)"},
		{"seed", 0, "N", cli_whole, &t.seed, "of noise, atoms and bad pixels (default: 1)"},
		{"dtype", 0, "u1|u2|u4", cli_choice, &t.dtype, "type of the counts; larger ones are clipped, with a warning (default: u2)"},
		{"bad-pixels", 0, "N", cli_whole, &a->bad_pixels, "dead, hot and sentinel pixels in turn, all in the pixel mask (default: 0)"},
		{"frames-per-file", 0, "N", cli_count, &t.frames_per_file, "frames in each data file (default: 5000, or more to make at most 60 files)"},
		{"truth-upsample", 0, "N", cli_count, &a->truth_upsample, "write the truth phase N times finer than the scan (default: 1)"},
	};
	char libraries[200];
	library_versions(libraries, sizeof libraries);
	const cli_program program = {"ssb-sim", "simulate a 4D-STEM acquisition with known truth", "NAME", description, options,
	                             sizeof options / sizeof *options, libraries};
	cli_parse(&program, common, argc, argv);
	if (common->operands != 1)
		return ssb_fail(err, SSB_USAGE, "one NAME is needed, %zu are given (ssb-sim -h shows the usage)", common->operands);
	return set_name(common->operand[0], name, err) && finish(&t, common, a, err);
}
