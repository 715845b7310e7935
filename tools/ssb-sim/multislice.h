/* A thick specimen as one detector pixel sees it: its potential spread evenly over the thickness, along columns that lean by the tilt.
 *
 * By reciprocity the waves that reach pixel k are one plane wave sent back through the specimen: psi(k, R) = sum_g S(k, k - g) P(k - g)
 * exp(2 pi i g.R), S(k, k - g) in the place of the thin specimen's T_g. The specimen is cut into equal slices that act at their middle;
 * probe, C10 and R belong to mid-depth. In the frame of the leaning columns all slices are alike and propagation over dz is
 * exp(-i dz (pi lambda (|k-g|^2 - |k|^2) + 2 pi g.tilt)), the rate of physics.md section 3. */
#ifndef SSB_SIM_MULTISLICE_H
#define SSB_SIM_MULTISLICE_H

#include "tools/ssb-sim/specimen.h"

/* Slices of a->optics.thickness_A: from one to the next no phase of propagation within the disk grows by more than 0.5 rad, so that a
 * weight sin(x)/x is at most 1 % off. 1 for a thin specimen. */
size_t multislice_slices(const acquisition *a);

/* Shared by all threads; `a` and `t` (of more than one slice) are borrowed and must outlive it. */
typedef struct multislice multislice;
multislice *multislice_new(const acquisition *a, const transmission *t, ssb_error *err);
void multislice_free(multislice *m); /* NULL is allowed */

/* Scratch memory of one thread. */
typedef struct multislice_scratch multislice_scratch;
multislice_scratch *multislice_scratch_new(const multislice *m); /* NULL: out of memory */
void multislice_scratch_free(multislice_scratch *s);             /* NULL is allowed */
size_t multislice_scratch_bytes(const transmission *t);

/* S(k, k - g) of the pixel of frequency k (scan frame, 1/A), laid out as t->at; valid until the next call. */
const float complex *multislice_scatter(const multislice *m, multislice_scratch *s, const double k[2]);

#endif
