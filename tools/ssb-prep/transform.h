/* G(q,k): the unnormalised DFT over the scan of every bright-field pixel's counts (design: physics.md section 2), laid out q-major.
 *
 * Each pixel's mean (exact sum over the count of valid positions) is taken off before the transform, in double; q = 0 is set from the
 * exact sum. Single precision then rounds the fluctuations, not the counts: with u = 2^-24 and x the fluctuations, rounding x to
 * float and the butterflies of a transform of N points leave ||error||_2 <= u (1 + 7 log2 N) ||G||_2 over the bins q != 0 of a pixel,
 * ||G||_2 = sqrt(N) ||x||_2 (Higham, Accuracy and Stability, 2nd ed., section 24.1: log2 N eta, eta = u + 4 sqrt(2) u for accurate
 * twiddles, < 7u); rounding errors being as good as independent, sqrt(log2 N) u is typical. Under shot noise of N I0 per bin that is
 * 1e-6 of the noise or less. q = 0 is the exact sum rounded to float.
 *
 * A position without a frame counts as the pixel's mean: it adds nothing at q != 0. */
#ifndef SSB_PREP_TRANSFORM_H
#define SSB_PREP_TRANSFORM_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include "tools/ssb-prep/frames.h"

typedef struct transform transform;

/* Called with what is done of the total, by any thread. */
typedef void transform_progress(size_t done, size_t total);

/* Bytes of scratch memory that each thread of a transform of this scan needs. */
size_t transform_scratch(const size_t scan[2]);

/* Make ready for the pixels of `bf`, whose exact sums are `sum`; everything given is borrowed. NULL on failure. */
transform *transform_new(const region *r, const bf_pixels *bf, const uint64_t *sum, size_t threads, ssb_error *err);
void transform_free(transform *t); /* NULL is allowed */

/* G [bins, B] of these bins of the half plane, (row, column). The numbers depend on neither the threads nor which bins are asked for.
 * progress: NULL for none. */
void transform_bins(const transform *t, const int32_t (*q_index)[2], size_t bins, float complex *G, transform_progress *progress);

#endif
