/* Phase images of undersampled scans, with the aliases of each scan frequency told apart (physics.md section 6, "Aliases solved").
 *
 * Where the step is too coarse, G(q,k) = i I0 sum_a Phi(q_a) gamma(q_a,k) over the replicas q_a of q, which differ by multiples of
 * 1/step. The B pixels determine the few Phi(q_a) by least squares: with A_ab = sum_k conj(gamma_a) gamma_b, S_a = sum_k conj(gamma_a) G,
 *
 *     Phi = (A + floor)^-1 S / (i I0),   floor = epsilon max W.
 *
 * This is ls but for the elements of A off its diagonal, which is W. Replicas beyond the image's frequencies (a factor below auto) are
 * left out, as with ls. A replica on the Nyquist row or column of the image has both signs of that component of q: two unknowns, whose
 * mean is the image's value there.
 *
 * The replicas of q = 0 stay 0, as with ls. G(0,k) holds them beside the direct beam N I0 A(k)^2, and with its strength as one more unknown
 * they can be solved; but that puts into the image, as a raster of the scan's period, whatever A(k)^2 is not: the edge, the gain of the
 * pixels, the second order of the phase. Solved that way, scans of 0.5 to 1.3 A step correlated less with the truth than with zeros.
 *
 * Noise: each G(q,k) has the variance N I0, so Phi has the covariance (N / I0) (A + floor)^-1 A (A + floor)^-1, that of ls is
 * (N / I0) A_ab / ((W_a + floor) (W_b + floor)), and the variance of an image is the sum over its frequencies, over N^2. */
#ifndef TRANSFER_JOINT_H
#define TRANSFER_JOINT_H

#include "tools/transfer/evidence.h"

#define JOINT_LEAST_EPSILON 1e-12 /* below it, rounding would tell the aliases apart */

/* image[f R x f C] as of reconstruct (reconstruct.h), on the CPU; epsilon >= JOINT_LEAST_EPSILON. noise_amplification: the variance that
 * shot noise has in it over that in the image of ls with the same factor and epsilon. The same bytes for any number of threads. Fails
 * (SSB_RUNTIME) where the equations take more than `memory` bytes, and (SSB_BAD_INPUT) where no frequency has a transfer. */
bool reconstruct_joint(const evidence *e, const optics_parameters *p, size_t factor, double epsilon, size_t memory, double *image,
                       double *noise_amplification, ssb_error *err);

#endif
