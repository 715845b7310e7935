#include "tools/ssb-prep/signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/profile.h"

static const double RANGE_A = 750;    /* |C10| + C12 at most, as ssb-fit searches by default */
static const double LEAST_NEAR = 1024; /* bins */

/* Bins that the neighbour start looks at, with their rows: in G when it is held whole, else copies. */
typedef struct near_bins {
	size_t bins;
	int32_t (*q_index)[2];
	const float complex **row;
	float complex *copy; /* NULL: rows point into G */
} near_bins;

static evidence evidence_of(const spectrum *s, const double *counts, const int32_t (*q_index)[2], size_t bins,
                            const float complex *const *row)
{
	evidence e = {.geometry = s->geometry, .I0_counts = s->I0_counts, .bins = bins, .pixels = s->bf.count, .q_index = q_index,
	              .pixel = s->bf.index, .counts = counts, .row = row};
	memcpy(e.scan, s->region->scan, sizeof e.scan);
	memcpy(e.step_A, s->settings->step_A, sizeof e.step_A);
	return e;
}

/* What the neighbour start may look at: |q| < 1/(2 s range), where neighbours do not wrap, and at least about LEAST_NEAR bins, as it
 * goes farther out where it finds too little. Depends on no memory limit, and so does the result. */
static double near_limit(const evidence *e)
{
	const double widest = fmax(e->geometry.sampling_rad[0], e->geometry.sampling_rad[1]);
	const double field_A2 = (double)e->scan[0] * e->step_A[0] * (double)e->scan[1] * e->step_A[1];
	return fmax(1 / (2 * widest * RANGE_A), sqrt(2 * LEAST_NEAR / (M_PI * field_A2)));
}

static bool is_near(const evidence *e, size_t bin)
{
	double q[2];
	evidence_q(e, bin, q);
	return hypot(q[0], q[1]) <= near_limit(e);
}

static size_t count_near(const spectrum *s)
{
	const evidence e = evidence_of(s, NULL, (const int32_t(*)[2])s->q_index, s->bins, NULL);
	size_t near = 0;
	for (size_t i = 0; i < s->bins; i++)
		near += is_near(&e, i);
	return near;
}

size_t signal_memory(const spectrum *s)
{
	return count_near(s) * s->bf.count * sizeof(float complex);
}

static bool near_bins_make(near_bins *n, const spectrum *s)
{
	const size_t near = count_near(s);
	const bool copies = s->passes.bins_at_once < s->bins;
	*n = (near_bins){.q_index = malloc((near + 1) * sizeof *n->q_index), .row = malloc((near + 1) * sizeof *n->row),
	                 .copy = copies ? malloc((near + 1) * s->bf.count * sizeof *n->copy) : NULL};
	return n->q_index && n->row && (n->copy || !copies);
}

static void near_bins_free(near_bins *n)
{
	free(n->q_index);
	free(n->row);
	free(n->copy);
}

/* Adds the near ones among the bins of a pass. */
static void keep_near(near_bins *n, const evidence *pass)
{
	for (size_t i = 0; i < pass->bins; i++)
		if (is_near(pass, i)) {
			const float complex *row = pass->row[i];
			if (n->copy)
				row = memcpy(n->copy + n->bins * pass->pixels, row, pass->pixels * sizeof *row);
			memcpy(n->q_index[n->bins], pass->q_index[i], sizeof n->q_index[0]);
			n->row[n->bins++] = row;
		}
}

/* Of each bin of a pass. */
static void measure_excess(const evidence *pass, double *excess)
{
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < pass->bins; i++)
		excess[i] = evidence_excess(pass, i);
}

static void take_all(spectrum *s, const double *counts, const float complex **row, near_bins *near)
{
	passes *p = &s->passes;
	for (size_t first = 0; first < s->bins; first += p->bins_at_once) {
		passes_take(p, first);
		profile_phase("measure");
		for (size_t i = 0; i < p->held; i++)
			row[i] = p->G + i * p->pixels;
		const evidence pass = evidence_of(s, counts, (const int32_t(*)[2])s->q_index + first, p->held, row);
		measure_excess(&pass, s->bin_excess + first);
		keep_near(near, &pass);
	}
}

/* Noise: |G(q,k)|^2 has the deviation G(0,k); a bin of multiplicity 2, or a pair of bins in column 0, is one independent value. */
static void sum_excess(spectrum *s, const double *counts)
{
	const evidence e = evidence_of(s, counts, (const int32_t(*)[2])s->q_index, s->bins, NULL);
	double squares = 0, multiplicity = 0;
	for (size_t b = 0; b < s->bf.count; b++)
		squares += counts[b] * counts[b];
	for (size_t i = 0; i < s->bins; i++) {
		const double m = evidence_multiplicity(&e, i);
		s->excess += m > 0 ? m * s->bin_excess[i] : 0;
		multiplicity += m;
	}
	s->excess_noise = sqrt(2 * multiplicity * squares);
}

static void find_start(spectrum *s, const double *counts, const near_bins *near)
{
	const evidence e = evidence_of(s, counts, (const int32_t(*)[2])near->q_index, near->bins, near->row);
	const double rotation_rad = s->settings->rotation_deg * M_PI / 180;
	const bool transposed = s->settings->transposition == TRANSPOSED;
	s->neighbours = neighbour_start(&e, RANGE_A, s->settings->rotation_given ? &rotation_rad : NULL,
	                                s->settings->transposition == TRANSPOSITION_OPEN ? NULL : &transposed);
}

bool signal_measure(spectrum *s, ssb_error *err)
{
	near_bins near = {0};
	double *counts = calloc(s->bf.count, sizeof *counts);
	const float complex **row = malloc(s->passes.bins_at_once * sizeof *row);
	s->bin_excess = malloc(s->bins * sizeof *s->bin_excess);
	const bool ok = counts && s->bin_excess && row && near_bins_make(&near, s);
	if (ok) {
		for (size_t b = 0; b < s->bf.count; b++)
			counts[b] = (double)s->sums.pixel[b];
		take_all(s, counts, row, &near);
		sum_excess(s, counts);
		if (s->excess >= 3 * s->excess_noise)
			find_start(s, counts, &near);
	}
	near_bins_free(&near);
	free(counts);
	free(row);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}
