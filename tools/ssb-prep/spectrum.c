#include "tools/ssb-prep/spectrum.h"
#include "tools/ssb-prep/signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SCAN = 4, MOST_MISSING = 10 /* one position in ten may lack its frame */ };

/* ---- calibration ---- */

static bool set_voltage(spectrum *s, ssb_error *err)
{
	const double stated = json_number_value(json_object_get(json_object_get(s->region->meta, "instrument"), "high_tension_kV"));
	s->kilovolt = s->settings->kilovolt > 0 ? s->settings->kilovolt : stated;
	return s->kilovolt > 0 || ssb_fail(err, SSB_USAGE, "--kv is needed: the region states no high tension");
}

static bool set_sampling(spectrum *s, ssb_error *err)
{
	const double *given = s->settings->sampling_mrad;
	s->rule_mrad = s->disk.edge_radius_px > 0 ? s->settings->semiangle_mrad / s->disk.edge_radius_px : 0;
	if (!given[0] && !s->rule_mrad)
		return ssb_fail(err, SSB_BAD_INPUT, "no detector sampling: the given disk is dark or cut by the detector's edge: give --sampling");
	for (int axis = 0; axis < 2; axis++) {
		s->sampling_mrad[axis] = given[0] ? given[axis] : s->rule_mrad;
		s->geometry.sampling_rad[axis] = s->sampling_mrad[axis] * 1e-3;
	}
	return true;
}

static bool calibrate(spectrum *s, ssb_error *err)
{
	const region *r = s->region;
	const pattern p = {{r->detector[0], r->detector[1]}, r->sum_pattern, r->usable, r->valid_positions};
	if (!set_voltage(s, err) || !disk_find(&s->disk, &p, s->settings->centre_given ? s->settings->centre_px : NULL,
	                                       s->settings->radius_given ? &s->settings->radius_px : NULL, err))
		return false;
	s->geometry.wavelength_A = optics_wavelength_A(s->kilovolt);
	s->geometry.semiangle_rad = s->settings->semiangle_mrad * 1e-3;
	memcpy(s->geometry.centre_px, s->disk.origin_px, sizeof s->geometry.centre_px);
	s->pixel = disk_pixels(&s->disk, &p, &s->bf.count, err);
	s->bf.index = (const int32_t(*)[2])s->pixel;
	return s->pixel && set_sampling(s, err);
}

/* ---- bright-field pixels ---- */

static bool check_within_region(const spectrum *s, ssb_error *err)
{
	int32_t low[2] = {INT32_MAX, INT32_MAX}, high[2] = {-1, -1};
	const region *r = s->region;
	bool within = true;
	for (size_t b = 0; b < s->bf.count; b++)
		for (int axis = 0; axis < 2; axis++) {
			const int32_t i = s->pixel[b][axis];
			low[axis] = i < low[axis] ? i : low[axis];
			high[axis] = i > high[axis] ? i : high[axis];
			within = within && (size_t)i >= r->origin[axis] && (size_t)i < r->origin[axis] + r->window[axis];
		}
	return within || ssb_fail(err, SSB_BAD_INPUT, "the region, rows %zu:%zu and columns %zu:%zu of the detector, does not hold the whole "
	                          "bright-field disk: decode again with --roi %d:%d,%d:%d", r->origin[0], r->origin[0] + r->window[0],
	                          r->origin[1], r->origin[1] + r->window[1], low[0], high[0] + 1, low[1], high[1] + 1);
}

static bool set_offsets(spectrum *s, ssb_error *err)
{
	const region *r = s->region;
	s->bf.offset = s->offset = malloc(s->bf.count * sizeof *s->offset);
	if (!s->offset)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t b = 0; b < s->bf.count; b++)
		s->offset[b] = (uint32_t)(((size_t)s->pixel[b][0] - r->origin[0]) * r->window[1] + (size_t)s->pixel[b][1] - r->origin[1]);
	return true;
}

/* The region holds the sum of each pixel twice: as its pattern and in its counts. */
static bool check_sums(const spectrum *s, ssb_error *err)
{
	for (size_t b = 0; b < s->bf.count; b++) {
		const int32_t *pixel = s->pixel[b];
		const uint64_t stated = s->region->sum_pattern[(size_t)pixel[0] * s->region->detector[1] + (size_t)pixel[1]];
		if (s->sums.pixel[b] != stated)
			return ssb_fail(err, SSB_BAD_INPUT, "the region contradicts itself: the counts of pixel %d,%d add up to %llu, its sum pattern "
			                "says %llu", pixel[0], pixel[1], (unsigned long long)s->sums.pixel[b], (unsigned long long)stated);
	}
	return true;
}

/* I0: mean counts per valid position over the pixels wholly inside the aperture (A = 1). */
static bool set_dose(spectrum *s, ssb_error *err)
{
	const optics_geometry *g = &s->geometry;
	double sum = 0, lit = 0;
	for (size_t b = 0; b < s->bf.count; b++) {
		double k[2];
		for (int axis = 0; axis < 2; axis++)
			k[axis] = (s->pixel[b][axis] - g->centre_px[axis]) * g->sampling_rad[axis] / g->wavelength_A;
		if (aperture_value(k[0], k[1], g->wavelength_A, g->semiangle_rad, g->sampling_rad) == 1) {
			sum += (double)s->sums.pixel[b];
			lit++;
		}
	}
	if (!lit)
		return ssb_fail(err, SSB_BAD_INPUT, "no pixel of the bright-field disk (radius %.1f pixels) is wholly inside the aperture: the "
		                "semiangle %g mrad and the sampling %g mrad per pixel contradict it", s->disk.radius_px,
		                s->settings->semiangle_mrad, s->sampling_mrad[0]);
	s->I0_counts = sum / lit / (double)s->region->valid_positions;
	return s->I0_counts > 0 || ssb_fail(err, SSB_BAD_INPUT, "no counts in the bright field: nothing to transform");
}

/* ---- scan frequencies ---- */

static bool set_bins(spectrum *s, ssb_error *err)
{
	const size_t rows = s->region->scan[0], columns = s->region->scan[1] / 2 + 1;
	const double *step = s->settings->step_A, *sampling = s->geometry.sampling_rad;
	s->q_limit = 1.05 * 2 * (s->geometry.semiangle_rad + fmax(sampling[0], sampling[1]) / 2) / s->geometry.wavelength_A;
	s->q_index = malloc(rows * columns * sizeof *s->q_index);
	if (!s->q_index)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < columns; c++)
			if (hypot(dft_frequency((long)r, (long)rows, step[0]), dft_frequency((long)c, (long)s->region->scan[1], step[1])) <= s->q_limit) {
				s->q_index[s->bins][0] = (int32_t)r;
				s->q_index[s->bins++][1] = (int32_t)c;
			}
	return s->bins > 1 || ssb_fail(err, SSB_BAD_INPUT, "the field of view, %g x %g A, is smaller than the probe: no scan frequency lies "
	                               "below 2 alpha/lambda = %.3g 1/A (is --step in angstrom?)", (double)rows * step[0],
	                               (double)s->region->scan[1] * step[1], 2 * s->geometry.semiangle_rad / s->geometry.wavelength_A);
}

/* ---- together ---- */

/* What G may take of nine tenths of the machine beside the mapped counts; but a third of the memory to use in any case. */
static size_t memory_beside(const settings *given, size_t mapped)
{
	const size_t cached = given->machine_memory / 10 * 9, least = given->memory / 3;
	return cached > mapped && cached - mapped > least ? cached - mapped : least;
}

/* A power of two, so that the halves alone round, of the shot noise or above, and so that |G|, at most twice a pixel's counts where q is not 0, stays
 * below 60000. */
static double half_unit(const spectrum *s)
{
	double least = sqrt((double)s->region->valid_positions * s->I0_counts);
	for (size_t b = 0; b < s->bf.count; b++)
		least = fmax(least, 2 * (double)s->sums.pixel[b] / 60000);
	return exp2(ceil(log2(least)));
}

static bool plan(spectrum *s, transform_progress *progress, ssb_error *err)
{
	const region *r = s->region;
	s->half_unit = s->settings->precision == HALF ? half_unit(s) : 0;
	const size_t base = r->held + r->counts.frames * (sizeof *s->sums.position + sizeof *s->sums.centre_of_mass);
	const size_t least = base + passes_least_memory(r->scan, s->bf.count, s->bins) + signal_memory(s);
	if (least > s->settings->memory)
		return ssb_fail(err, SSB_RUNTIME, "%zu MB of memory are needed at least, %zu MB of them for counts that cannot be mapped: %sgive "
		                "--memory", (least >> 20) + 1, r->held >> 20, r->held ? "give an uncompressed region in a file instead of a pipe, or " : "");
	const passes_memory memory = {s->settings->memory - base, signal_memory(s), memory_beside(s->settings, r->mapped)};
	return passes_plan(&s->passes, r, &s->bf, s->sums.pixel, (const int32_t(*)[2])s->q_index, s->bins, memory, s->half_unit,
	                   s->settings->threads, progress, err);
}

static bool check_scan(const region *r, ssb_error *err)
{
	if (r->scan[0] < LEAST_SCAN || r->scan[1] < LEAST_SCAN)
		return ssb_fail(err, SSB_BAD_INPUT, "a scan of %zux%zu positions is too small: at least %d on each axis are needed", r->scan[0],
		                r->scan[1], LEAST_SCAN);
	const size_t missing = r->counts.frames - r->valid_positions;
	if (missing * MOST_MISSING > r->counts.frames)
		return ssb_fail(err, SSB_BAD_INPUT, "%zu of %zu positions have no frame: decode the complete rows alone, with --scan-roi", missing,
		                r->counts.frames);
	return true;
}

bool spectrum_prepare(spectrum *s, const region *r, const settings *given, transform_progress *progress, ssb_error *err)
{
	*s = (spectrum){.region = r, .settings = given};
	return check_scan(r, err) && calibrate(s, err) && check_within_region(s, err) && set_offsets(s, err) &&
	       frame_sums_make(&s->sums, r, &s->bf, err) && check_sums(s, err) && set_dose(s, err) && set_bins(s, err) &&
	       deflection_find(&s->deflection, (const double(*)[2])s->sums.centre_of_mass, r->scan, given->step_A,
	                       s->geometry.semiangle_rad / s->geometry.wavelength_A, s->geometry.sampling_rad, err) &&
	       plan(s, progress, err) && signal_measure(s, err);
}

void spectrum_free(spectrum *s)
{
	free(s->pixel);
	free(s->offset);
	frame_sums_free(&s->sums);
	free(s->q_index);
	free(s->bin_excess);
	passes_free(&s->passes);
}
