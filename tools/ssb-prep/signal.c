#include "tools/ssb-prep/signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/profile.h"

static const double RANGE_A = 750;    /* |C10| + C12 at most, as ssb-fit searches by default */
static const double LEAST_NEAR = 1024; /* bins */

/* Bins that the neighbour start looks at. */
typedef struct near_bins {
	size_t bins, bin[NEIGHBOUR_BINS];
	int32_t q_index[NEIGHBOUR_BINS][2];
	double excess[NEIGHBOUR_BINS];
	const float complex *row[NEIGHBOUR_BINS];
	float complex *G;      /* their rows */
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

size_t signal_memory(const spectrum *s)
{
	const size_t of_halves = s->half_unit ? 2 * sizeof(uint16_t) : 0;
	return NEIGHBOUR_BINS * s->bf.count * (sizeof(float complex) + of_halves);
}

/* The heaviest bins near q = 0, by their excess, with their rows. */
static bool near_bins_take(near_bins *n, spectrum *s, const evidence *all)
{
	n->bins = neighbour_bins(all, near_limit(all), n->bin);
	n->G = malloc((n->bins * s->bf.count + 1) * sizeof *n->G);
	if (!n->G || !passes_copy(&s->passes, n->bin, n->bins, n->G))
		return false;
	for (size_t i = 0; i < n->bins; i++) {
		n->row[i] = n->G + i * s->bf.count;
		memcpy(n->q_index[i], s->q_index[n->bin[i]], sizeof n->q_index[i]);
		n->excess[i] = s->bin_excess[n->bin[i]];
	}
	return true;
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
	evidence e = evidence_of(s, counts, near->q_index, near->bins, near->row);
	const double rotation_rad = s->settings->rotation_deg * M_PI / 180;
	const bool transposed = s->settings->transposition == TRANSPOSED;
	e.excess = near->excess;
	s->neighbours = neighbour_start(&e, RANGE_A, s->settings->rotation_given ? &rotation_rad : NULL,
	                                s->settings->transposition == TRANSPOSITION_OPEN ? NULL : &transposed);
}

bool signal_measure(spectrum *s, ssb_error *err)
{
	near_bins *near = calloc(1, sizeof *near);
	double *counts = calloc(s->bf.count, sizeof *counts);
	s->bin_excess = malloc(s->bins * sizeof *s->bin_excess);
	bool ok = near && counts && s->bin_excess;
	if (ok) {
		evidence all = evidence_of(s, counts, (const int32_t(*)[2])s->q_index, s->bins, NULL);
		for (size_t b = 0; b < s->bf.count; b++)
			counts[b] = (double)s->sums.pixel[b];
		passes_begin(&s->passes, s->bin_excess);
		sum_excess(s, counts);
		profile_phase("measure");
		all.excess = s->bin_excess;
		if (s->excess >= 3 * s->excess_noise && (ok = near_bins_take(near, s, &all)))
			find_start(s, counts, near);
	}
	free(near ? near->G : NULL);
	free(near);
	free(counts);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}
