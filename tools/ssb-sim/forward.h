/* The forward model: what one detector pixel sees at every scan position, exact for any rotation of the detector.
 *
 * psi(k, R) = sum_g T_g P(k - g) exp(2 pi i g.R), P = A exp(-i chi) (physics.md sections 1 and 3); k is the pixel's frequency in the
 * scan frame, A is evaluated with k - g turned back into the detector's. The scan is one period, so g folds onto its DFT grid and one
 * inverse transform gives all positions. A thick specimen puts S(k, k - g) of multislice.h in the place of T_g. */
#ifndef SSB_SIM_FORWARD_H
#define SSB_SIM_FORWARD_H

#include "formats/status.h"
#include "tools/ssb-sim/acquisition.h"
#include "tools/ssb-sim/specimen.h"

/* Shared by all threads. `a` and `t` are borrowed and must outlive it. */
typedef struct forward forward;
forward *forward_new(const acquisition *a, const transmission *t, ssb_error *err);
void forward_free(forward *f); /* NULL is allowed */

/* Scratch memory of one thread. */
typedef struct forward_scratch forward_scratch;
forward_scratch *forward_scratch_new(const forward *f); /* NULL: out of memory */
void forward_scratch_free(forward_scratch *s);          /* NULL is allowed */
size_t forward_scratch_bytes(const acquisition *a, const transmission *t);

/* Intensity of detector pixel (row, column) at every scan position, row-major, 1 where a fully lit pixel sees no specimen. Returns
 * its mean over the period, or 0 without touching `intensity` when that is at most `negligible`. */
double forward_pixel(const forward *f, forward_scratch *s, size_t row, size_t column, double negligible, float *intensity);

#endif
