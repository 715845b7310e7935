/* G(q,k): the unnormalised DFT over the scan of every bright-field pixel's counts (design: physics.md section 2), laid out q-major.
 *
 * Neighbouring pixels lie together in a frame, and in a row of G: a block of them goes through the transform side by side, from frames to rows of
 * G, and nothing is transposed. Two scan rows share one complex transform along the columns, as real and imaginary part.
 *
 * Each pixel's mean (exact sum over the count of valid positions) is taken off before the transform, in double; q = 0 is set from the
 * exact sum. Single precision then rounds the fluctuations, not the counts: with u = 2^-24 and x the fluctuations, rounding x to
 * float, the butterflies of a transform of N points and parting the two rows leave ||error||_2 <= u (2 + 7 log2 N) ||G||_2 over the bins
 * q != 0 of a pixel, ||G||_2 = sqrt(N) ||x||_2 (Higham, Accuracy and Stability, 2nd ed., section 24.1: log2 N eta, eta = u + 4 sqrt(2) u for
 * accurate twiddles, < 7u); rounding errors being as good as independent, sqrt(log2 N) u is typical. Under shot noise of N I0 per bin that is
 * 1e-6 of the noise or less. q = 0 is the exact sum rounded to float. No pixel's error depends on another's counts.
 *
 * A position without a frame counts as the pixel's mean: it adds nothing at q != 0. */
#ifndef SSB_PREP_TRANSFORM_H
#define SSB_PREP_TRANSFORM_H

#include <stddef.h>
#include <stdint.h>
#include "tools/ssb-prep/frames.h"

typedef struct transform transform;

/* Called with what is done of the total, by any thread. */
typedef void transform_progress(size_t done, size_t total);

/* Bytes of tables that a transform to so many bins has. */
size_t transform_tables(size_t pixels, size_t bins);

/* Bytes of scratch memory that each thread of a transform of this scan needs. */
size_t transform_scratch(const size_t scan[2]);

/* Make ready for the pixels of `bf`, whose exact sums are `sum`, and these bins of the half plane, (row, column); everything given is
 * borrowed. half_unit: 0 for G in single precision (float complex), else what halves (two of each value) are in units of, a power of two. NULL on
 * failure. */
transform *transform_new(const region *r, const bf_pixels *bf, const uint64_t *sum, const int32_t (*q_index)[2], size_t bins,
                         double half_unit, size_t threads, ssb_error *err);
void transform_free(transform *t); /* NULL is allowed */

/* G of bin i to row[i], B values; nowhere where that is NULL. The numbers depend on neither the threads nor which bins are asked for.
 * power: NULL, or of each bin the sum of |G|^2 over the pixels, in double, before G is rounded to halves. progress: NULL for none. */
void transform_run(const transform *t, void *const *row, double *power, transform_progress *progress);

#endif
