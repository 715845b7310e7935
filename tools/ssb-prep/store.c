#include "tools/ssb-prep/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/profile.h"

static json_t *pair(double a, double b)
{
	return json_pack("[f,f]", a, b);
}

static json_t *sizes(const size_t a[2])
{
	return json_pack("[I,I]", (json_int_t)a[0], (json_int_t)a[1]);
}

static json_t *orientation(const deflection *d, int transposed)
{
	return json_pack("{s:f, s:f}", "rotation_deg", d->rotation_deg[transposed], "residual", d->residual[transposed]);
}

static json_t *centre_of_mass(const deflection *d)
{
	return json_pack("{s:o, s:o, s:b}", "plain", orientation(d, 0), "transposed", orientation(d, 1), "transposed_decided",
	                 d->residual[1] < d->residual[0]);
}

static json_t *neighbours(const neighbour_estimate *n)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:b, s:b}", "C10_nm", n->C_A[0] / 10, "C12_nm", hypot(n->C_A[1], n->C_A[2]) / 10, "phi12_deg",
	                 atan2(n->C_A[2], n->C_A[1]) * 90 / M_PI, "rotation_deg", n->rotation_rad * 180 / M_PI, "transposed", (int)n->transposed,
	                 "transposition_decided", (int)n->transposition_decided);
}

/* json_object_set_new refuses NULL, which is what packing a number that is not finite gives: no such number is ever stored. */
static bool set(json_t *meta, const char *key, json_t *value)
{
	return json_object_set_new(meta, key, value) == 0;
}

static bool set_calibration(json_t *meta, const spectrum *s)
{
	const optics_geometry *g = &s->geometry;
	const settings *given = s->settings;
	const disk *d = &s->disk;
	return set(meta, "high_tension_kV", json_real(s->kilovolt)) && set(meta, "wavelength_A", json_real(g->wavelength_A)) &&
	       set(meta, "semiangle_mrad", json_real(given->semiangle_mrad)) && set(meta, "scan_shape", sizes(s->region->scan)) &&
	       set(meta, "scan_step_A", pair(given->step_A[0], given->step_A[1])) && set(meta, "scan_origin", sizes(s->region->scan_origin)) &&
	       set(meta, "detector_shape", sizes(s->region->detector)) &&
	       set(meta, "detector_sampling_mrad", pair(s->sampling_mrad[0], s->sampling_mrad[1])) &&
	       set(meta, "detector_sampling_source", json_string(given->sampling_mrad[0] ? "option" : "rule")) &&
	       (!s->rule_mrad || set(meta, "detector_sampling_rule_mrad", json_real(s->rule_mrad))) &&
	       set(meta, "bf_centre_px", pair(d->origin_px[0], d->origin_px[1])) &&
	       set(meta, "bf_circle_px", pair(d->centre_px[0], d->centre_px[1])) && set(meta, "bf_radius_px", json_real(d->radius_px)) &&
	       set(meta, "bf_centre_source", json_string(given->centre_given ? "option" : "pattern")) &&
	       set(meta, "bf_radius_source", json_string(given->radius_given ? "option" : "pattern")) &&
	       (!d->measured || set(meta, "bf_axes_ratio", json_real(disk_axes_ratio(d, (const double[2]){1, 1}))));
}

static bool set_results(json_t *meta, const spectrum *s)
{
	const settings *given = s->settings;
	const size_t filled = s->region->counts.frames - s->region->valid_positions;
	return set(meta, "bf_pixels", json_integer((json_int_t)s->bf.count)) && set(meta, "I0_counts", json_real(s->I0_counts)) &&
	       (!filled || set(meta, "filled_positions", json_integer((json_int_t)filled))) &&
	       (!given->rotation_given || set(meta, "rotation_deg", json_real(given->rotation_deg))) &&
	       (given->transposition == TRANSPOSITION_OPEN ||
	        set(meta, "transposed", json_boolean(given->transposition == TRANSPOSED))) &&
	       (!s->deflection.found || set(meta, "centre_of_mass", centre_of_mass(&s->deflection))) &&
	       (!s->neighbours.found || set(meta, "neighbours", neighbours(&s->neighbours))) &&
	       set(meta, "q_limit_per_A", json_real(s->q_limit)) &&
	       (!s->half_unit || set(meta, "G_scale", json_real(s->half_unit)));
}

static ssb_array describe(const char *name, enum ssb_dtype dtype, const char *unit, uint64_t rows, uint64_t columns)
{
	ssb_array a = {.dtype = dtype, .codec = SSB_RAW, .rank = columns ? 2 : 1, .shape = {rows, columns},
	               .chunk_elements = rows * (columns ? columns : 1)};
	snprintf(a.name, sizeof a.name, "%s", name);
	snprintf(a.unit, sizeof a.unit, "%s", unit);
	return a;
}

/* Bins first … end of G as they are held, whole chunks. */
static bool write_bins(ssb_writer *writer, const passes *p, size_t first, size_t end, ssb_error *err)
{
	const void *chunk[CHUNKS_AT_ONCE];
	size_t chunks = 0;
	for (size_t bin = first; bin < end; bin += p->chunk_bins)
		chunk[chunks++] = p->row[bin];
	return ssb_write_chunks(writer, chunk, chunks, p->half_unit ? SSB_C4 : SSB_C8, err);
}

/* What is written is dropped, so that G and the file in the page cache never take the memory of two. */
static bool write_G(ssb_writer *writer, passes *p, ssb_error *err)
{
	const size_t step = CHUNKS_AT_ONCE * p->chunk_bins;
	for (size_t first = 0; first < p->bins; first += p->held) {
		passes_take(p, first);
		profile_phase("write");
		const size_t end = first + p->held;
		for (size_t bin = first; bin < end; bin += step) {
			const size_t to = end - bin < step ? end : bin + step;
			if (!write_bins(writer, p, bin, to, err))
				return false;
			passes_drop(p, to);
		}
	}
	return true;
}

static bool write_arrays(ssb_writer *writer, spectrum *s, ssb_error *err)
{
	return ssb_write_array(writer, s->pixel, err) && ssb_write_array(writer, s->sums.pixel, err) &&
	       ssb_write_array(writer, s->region->sum_pattern, err) && ssb_write_array(writer, s->q_index, err) &&
	       ssb_write_array(writer, s->bin_excess, err) && write_G(writer, &s->passes, err);
}

bool store_spectrum(spectrum *s, const char *path, const json_t *warnings, const json_t *history, ssb_error *err)
{
	const size_t *detector = s->region->detector;
	ssb_array arrays[] = {
		describe("pixel_index", SSB_I4, "px", s->bf.count, 2),
		describe("counts_sum", SSB_U8, "counts", s->bf.count, 0),
		describe("sum_pattern", SSB_U8, "counts", detector[0], detector[1]),
		describe("q_index", SSB_I4, "1", s->bins, 2),
		describe("excess", SSB_F8, "counts^2", s->bins, 0),
		describe("G", s->half_unit ? SSB_C4 : SSB_C8, s->half_unit ? "G_scale counts" : "counts", s->bins, s->bf.count),
	};
	const size_t count = sizeof arrays / sizeof *arrays;
	arrays[count - 1].chunk_elements = s->passes.chunk_bins * s->bf.count;
	json_t *meta = json_object();
	ssb_writer *writer = NULL;
	if (set_calibration(meta, s) && set_results(meta, s) && json_object_set(meta, "warnings", (json_t *)warnings) == 0)
		writer = ssb_writer_open(path, SSB_SPECTRUM, meta, history, arrays, count, err);
	else
		ssb_fail(err, SSB_RUNTIME, "cannot put the header together: out of memory, or a result that is not finite");
	json_decref(meta);
	if (writer && write_arrays(writer, s, err))
		return ssb_writer_finish(writer, err);
	ssb_writer_discard(writer);
	return false;
}
