#include "tools/ssb-prep/signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/profile.h"

static const double RANGE_A = 750;    /* |C10| + C12 at most, as ssb-fit searches by default */
static const double LEAST_NEAR = 1024; /* bins */

/* Bins that the neighbour start looks at. */
typedef struct near_bins {
	size_t bins;
	size_t *bin;
	int32_t (*q_index)[2];
	const float complex **row;
	float complex *copy;    /* rows of those that the first pass does not hold; NULL: there are none */
	float complex **aside;  /* of all bins, for passes_begin */
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
	const evidence e = evidence_of(s, NULL, (const int32_t(*)[2])s->q_index, s->bins, NULL);
	const bool copies = s->passes.bins_at_once < s->bins;
	*n = (near_bins){.bin = malloc((near + 1) * sizeof *n->bin), .q_index = malloc((near + 1) * sizeof *n->q_index),
	                 .row = malloc((near + 1) * sizeof *n->row), .aside = calloc(s->bins, sizeof *n->aside),
	                 .copy = copies ? malloc((near + 1) * s->bf.count * sizeof *n->copy) : NULL};
	if (!n->bin || !n->q_index || !n->row || !n->aside || (copies && !n->copy))
		return false;
	for (size_t i = 0; i < s->bins; i++)
		if (is_near(&e, i)) {
			memcpy(n->q_index[n->bins], s->q_index[i], sizeof n->q_index[0]);
			n->aside[i] = copies ? n->copy + n->bins * s->bf.count : NULL;
			n->bin[n->bins++] = i;
		}
	return true;
}

static void near_bins_free(near_bins *n)
{
	free(n->bin);
	free(n->q_index);
	free(n->row);
	free(n->copy);
	free(n->aside);
}

/* Noise: |G(q,k)|^2 has the deviation G(0,k); a bin of multiplicity 2, or a pair of bins in column 0, is one independent value. */
static void sum_excess(spectrum *s, const double *counts)
{
	const evidence e = evidence_of(s, counts, (const int32_t(*)[2])s->q_index, s->bins, NULL);
	double squares = 0, sum = 0, multiplicity = 0;
	for (size_t b = 0; b < s->bf.count; b++) {
		squares += counts[b] * counts[b];
		sum += counts[b];
	}
	for (size_t i = 0; i < s->bins; i++) {
		const double m = evidence_multiplicity(&e, i);
		s->bin_excess[i] -= sum;
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
	s->bin_excess = malloc(s->bins * sizeof *s->bin_excess);
	const bool ok = counts && s->bin_excess && near_bins_make(&near, s);
	if (ok) {
		for (size_t b = 0; b < s->bf.count; b++)
			counts[b] = (double)s->sums.pixel[b];
		passes_begin(&s->passes, near.aside, s->bin_excess);
		sum_excess(s, counts);
		for (size_t i = 0; i < near.bins; i++)
			near.row[i] = s->passes.row[near.bin[i]];
		profile_phase("measure");
		if (s->excess >= 3 * s->excess_noise)
			find_start(s, counts, &near);
	}
	near_bins_free(&near);
	free(counts);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}
