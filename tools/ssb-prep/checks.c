#include "tools/ssb-prep/checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "tools/common/message.h"

/* Residual below which the centre of mass is trusted: it is within 4 degrees there (physics.md section 7). */
static const double CLEAR_RESIDUAL = 0.25;

/* A number of the region's instrument; NAN when it states none. */
static double stated(const spectrum *s, const char *key)
{
	const json_t *value = json_object_get(json_object_get(s->region->meta, "instrument"), key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void check_stated(const spectrum *s, json_t *warnings)
{
	const double *step = s->settings->step_A, kilovolt = stated(s, "high_tension_kV"), stated_step = stated(s, "scan_step_A");
	if (kilovolt > 0 && fabs(s->kilovolt / kilovolt - 1) > 1e-3)
		message_warn(warnings, "--kv says %g kV, the region %g kV: %g kV is used", s->kilovolt, kilovolt, s->kilovolt);
	if (stated_step > 0 && (fabs(step[0] / stated_step - 1) > 0.01 || fabs(step[1] / stated_step - 1) > 0.01))
		message_warn(warnings, "--step says %g,%g A, the region %g A: the former is used", step[0], step[1], stated_step);
}

/* Whether leaving out what is bright elsewhere made a difference to what was measured. */
static bool has_moved(const disk *d)
{
	const double moved = hypot(d->plain_centre_px[0] - d->centre_px[0], d->plain_centre_px[1] - d->centre_px[1]);
	return moved > 0.2 || fabs(d->plain_radius_px / d->radius_px - 1) > 0.01;
}

static void check_disk(const spectrum *s, json_t *warnings)
{
	const disk *d = &s->disk;
	const double ratio = disk_axes_ratio(d, s->sampling_mrad), area = M_PI * d->radius_px * d->radius_px;
	if (!s->settings->centre_given && !s->settings->radius_given && has_moved(d))
		message_warn(warnings, "not all that is bright is the disk: %zu very bright pixels and %zu pixels apart from it are left out; with "
		             "them its centre would be %.2f,%.2f and its radius %.2f pixels, not %.2f,%.2f and %.2f", d->bright, d->elsewhere,
		             d->plain_centre_px[0], d->plain_centre_px[1], d->plain_radius_px, d->centre_px[0], d->centre_px[1], d->radius_px);
	if (d->measured && d->solidity < 0.95)
		message_warn(warnings, "the bright-field disk is ragged: %.0f %% of its circle (radius %.1f pixels) are above the threshold",
		             100 * d->solidity, d->radius_px);
	if (ratio > 1.05)
		message_warn(warnings, "the bright-field disk is an ellipse with axes ratio %.3f; a circle of radius %.2f pixels and %s are used",
		             ratio, d->radius_px, s->settings->sampling_mrad[0] ? "the given sampling" : "one sampling for both axes (see --sampling)");
	if (d->radius_px < 4)
		message_warn(warnings, "the bright-field disk has a radius of only %.1f pixels (%zu pixels)", d->radius_px, s->bf.count);
	if (d->flagged > 0.02 * area)
		message_warn(warnings, "%zu flagged pixels within the disk, %.0f %% of it: %s", d->flagged, 100 * (double)d->flagged / area,
		             d->measured ? "its measured radius is too small and the sampling by the rule too large by half of that; give --radius "
		             "and --sampling" : "the sampling by the rule is too large by half of that; give --sampling");
	if (d->cut)
		message_warn(warnings, "the detector's edge cuts the given disk: of its %.0f pixels %zu are there", area, s->bf.count);
}

static void check_edge(const spectrum *s, json_t *warnings)
{
	const region *r = s->region;
	size_t detector_edge = 0, region_edge = 0;
	for (size_t b = 0; b < s->bf.count; b++) {
		bool detector = false, window = false;
		for (int axis = 0; axis < 2; axis++) {
			const size_t i = (size_t)s->pixel[b][axis];
			detector = detector || i == 0 || i + 1 == r->detector[axis];
			window = window || i == r->origin[axis] || i + 1 == r->origin[axis] + r->window[axis];
		}
		detector_edge += detector;
		region_edge += window && !detector;
	}
	if (detector_edge && !s->disk.cut)
		message_warn(warnings, "%zu bright-field pixels touch the edge of the detector: the disk may be cut", detector_edge);
	if (region_edge)
		message_detail("%zu bright-field pixels lie on the edge of the region; it holds the whole disk", region_edge);
}

/* The rule is high by 0.2/R_edge on a soft edge. */
static void check_sampling(const spectrum *s, json_t *warnings)
{
	const double *given = s->settings->sampling_mrad, used = sqrt(given[0] * given[1]);
	if (used > 0 && s->rule_mrad > 0 && fabs(s->rule_mrad / used - 1) > 0.03 + 0.2 / s->disk.edge_radius_px)
		message_warn(warnings, "the measured disk contradicts semiangle and sampling: %g mrad over its edge radius of %.2f pixels give %.4g "
		             "mrad per pixel, %+.1f %% from the given %.4g; the given one is used", s->settings->semiangle_mrad,
		             s->disk.edge_radius_px, s->rule_mrad, 100 * (s->rule_mrad / used - 1), used);
}

static void check_scan_step(const spectrum *s, json_t *warnings)
{
	const double *step = s->settings->step_A, most = s->geometry.wavelength_A / (4 * s->geometry.semiangle_rad);
	const double factor = ceil(fmax(step[0], step[1]) / most - 1e-12);
	if (factor > 1)
		message_warn(warnings, "the scan undersamples 2 alpha/lambda = %.3g 1/A: its step of %g,%g A is above %.3g A; ssb-recon "
		             "--upsample auto takes %.0f", 0.5 / most, step[0], step[1], most, factor);
}

/* Counts that a saturated pixel reads: as the region states, at most the largest value of the stored type. */
static double saturation(const spectrum *s)
{
	const char *dtype = json_string_value(json_object_get(s->region->meta, "stored_dtype"));
	const double bits = dtype ? 8 * atof(dtype + (*dtype == 'u')) : 0, limit = stated(s, "saturation_count");
	return fmin(limit > 0 ? limit : INFINITY, bits > 0 ? exp2(bits) - 1 : INFINITY);
}

static void check_saturation(const spectrum *s, json_t *warnings)
{
	const region *r = s->region;
	const double limit = saturation(s);
	uint64_t largest = 0;
	size_t saturated = 0;
	for (size_t b = 0; b < s->bf.count; b++) {
		const uint64_t count = r->largest_count[(size_t)s->pixel[b][0] * r->detector[1] + (size_t)s->pixel[b][1]];
		saturated += (double)count >= limit;
		largest = count > largest ? count : largest;
	}
	if (saturated)
		message_warn(warnings, "%zu of %zu bright-field pixels are saturated: they reach %.0f counts, their largest is %llu", saturated,
		             s->bf.count, limit, (unsigned long long)largest);
}

/* ---- positions ---- */

typedef bool position_test(const spectrum *s, size_t position);

static bool is_missing(const spectrum *s, size_t i)
{
	return !s->region->scan_valid[i];
}

static bool is_dark(const spectrum *s, size_t i)
{
	return s->region->scan_valid[i] && s->sums.position[i] == 0;
}

/* How many positions pass the test; the first few as "0,3; 0,4; …" in `text`. */
static size_t find_positions(const spectrum *s, position_test *test, char *text, size_t size)
{
	size_t found = 0, at = 0;
	text[0] = 0;
	for (size_t i = 0; i < s->region->counts.frames; i++)
		if (test(s, i) && ++found <= 5)
			at += (size_t)snprintf(text + at, size - at, "%s%zu,%zu", at ? "; " : "", i / s->region->scan[1], i % s->region->scan[1]);
	return found;
}

static void check_positions(const spectrum *s, json_t *warnings)
{
	char text[256];
	const size_t missing = find_positions(s, is_missing, text, sizeof text), n = s->region->counts.frames;
	if (missing)
		message_warn(warnings, "%zu of %zu positions have no frame (row,column %s%s): they are filled with each pixel's mean, which adds "
		             "nothing to the signal, and %.1f %% of it is lost", missing, n, text, missing > 5 ? "; …" : "",
		             100 * (double)missing / (double)n);
	const size_t dark = find_positions(s, is_dark, text, sizeof text);
	/* Of a weak dose a few empty frames are to be expected. */
	const double mean = s->I0_counts * (double)s->bf.count, expected = (double)n * exp(-mean);
	if (dark && (double)dark > 3 * expected + 1e-3)
		message_warn(warnings, "%zu frames have no counts in the bright field (row,column %s%s), of %.0f on average: dropped frames? They "
		             "are used as they are", dark, text, dark > 5 ? "; …" : "", mean);
}

/* ---- signal ---- */

static void check_dose(const spectrum *s, json_t *warnings)
{
	if (s->bins < 30)
		message_warn(warnings, "only %zu scan frequencies lie below 2 alpha/lambda: the field of view is hardly larger than the probe (is "
		             "--step in angstrom?)", s->bins);
	if (s->excess < 3 * s->excess_noise)
		message_warn(warnings, "the dose may be too low to fit: at %.3g counts per pixel the scattering seen in the spectrum is %.1f times "
		             "its shot noise; look at the fit's explained fraction", s->I0_counts, s->excess / s->excess_noise);
}

/* ---- orientation ---- */

/* Of two angles that are known modulo 180 degrees, the difference in [0, 90]. */
static double difference_deg(double a, double b)
{
	return fabs(remainder(a - b, 180));
}

/* `source` says that the rotation is angle_deg; the centre of mass knows better where little curl is left. */
static void compare_rotation(const spectrum *s, int transposed, const char *source, double angle_deg, json_t *warnings)
{
	const double seen = s->deflection.rotation_deg[transposed], residual = s->deflection.residual[transposed];
	if (residual < CLEAR_RESIDUAL && difference_deg(angle_deg, seen) > 15)
		message_warn(warnings, "%s says a rotation of %g degrees (from detector to scan frame, row axis towards column axis), the centre of "
		             "mass %.1f or %.1f (residual %.2f of at most 0.5): the %s may be wrong", source, angle_deg, seen,
		             seen > 0 ? seen - 180 : seen + 180, residual, difference_deg(-angle_deg, seen) <= 15 ? "sign" : "value");
}

static void check_orientation(const spectrum *s, json_t *warnings)
{
	const deflection *d = &s->deflection;
	const settings *given = s->settings;
	const bool open = given->transposition == TRANSPOSITION_OPEN;
	const int transposed = open ? d->residual[1] < d->residual[0] : given->transposition == TRANSPOSED;
	if (!d->found)
		return;
	if (given->rotation_given)
		compare_rotation(s, transposed, "--rotation", given->rotation_deg, warnings);
	if (isfinite(stated(s, "scan_rotation_deg")))
		compare_rotation(s, transposed, "the region", stated(s, "scan_rotation_deg"), warnings);
	if (!open && d->residual[!transposed] < CLEAR_RESIDUAL && d->residual[!transposed] < d->residual[transposed] / 2)
		message_warn(warnings, "--transpose %s contradicts the centre of mass: its residual is %.2f, of the other orientation %.2f",
		             transposed ? "yes" : "no", d->residual[transposed], d->residual[!transposed]);
}

void check_spectrum(const spectrum *s, json_t *warnings)
{
	check_stated(s, warnings);
	check_disk(s, warnings);
	check_edge(s, warnings);
	check_sampling(s, warnings);
	check_scan_step(s, warnings);
	check_saturation(s, warnings);
	check_positions(s, warnings);
	check_dose(s, warnings);
	check_orientation(s, warnings);
}
