/* Phase images from the evidence (physics.md section 6). */
#ifndef TRANSFER_RECONSTRUCT_H
#define TRANSFER_RECONSTRUCT_H

#include "tools/transfer/backend.h"

enum estimator {
	ESTIMATOR_LS,         /* Phi = S / (i I0 (W + epsilon max W)): quantitative, rad */
	ESTIMATOR_SSB,        /* Phi = mean_k G conj(gamma)/|gamma| / (i I0): contrast weighted by the transfer */
	ESTIMATOR_MEAN_PHASE, /* mean_k phi_k: what the published fits display */
	ESTIMATOR_JOINT,      /* ls with the aliases of each scan frequency solved together: reconstruct_joint of joint.h, not reconstruct */
};

/* The smallest whole factor >= 4 alpha step / lambda on both axes: the Nyquist frequency of the output covers 2 alpha / lambda. */
size_t reconstruct_auto_factor(const evidence *e);

/* image[f R x f C] in rad, row-major, first sample at the scan's first position, step scan step / f; caller's. */
bool reconstruct(const backend *b, const evidence *e, const optics_parameters *p, enum estimator estimator, size_t factor, double epsilon,
                 double *image, ssb_error *err);

/* As reconstruct with each of `sets` parameters: image[sets][f R x f C], each the same bytes as alone. ls and ssb read every row of G
 * once for all of them. */
bool reconstruct_sets(const backend *b, const evidence *e, const optics_parameters *p, size_t sets, enum estimator estimator, size_t factor,
                      double epsilon, double *image, ssb_error *err);

/* The ls image at the native sampling from sums already made, of the stored bins of f[count]; others are 0. */
bool reconstruct_from_sums(const evidence *e, const frequency *f, const sums *s, size_t count, double epsilon, double *image, ssb_error *err);

/* mean(v^3) / mean(v^2)^(3/2) of v = phase - median (section 7); 0 for a flat image. NAN when memory runs out. */
double phase_polarity(const double *image, size_t count);

#endif
