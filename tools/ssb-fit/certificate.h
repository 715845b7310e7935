/* What an optimum is worth: how much of the signal it explains, and its error bars (physics.md section 5). */
#ifndef SSB_FIT_CERTIFICATE_H
#define SSB_FIT_CERTIFICATE_H

#include "tools/ssb-fit/newton.h"

typedef struct certificate {
	double multiplicity, signal_power;  /* sum of m; sum m sum_k (|G|^2 - G(0,k)), NAN when memory runs out; of the bins used */
	double explained, explained_noise;  /* eta and its noise; NAN when the evidence holds no signal power */
	double significance;                /* (L - sigma^2 sum m) in deviations of pure noise */
	bool found;                         /* significance beyond what a search of noise gives */
	bool has_covariance;                /* H is positive definite */
	double covariance[FIT_PARAMETERS * FIT_PARAMETERS]; /* n x n, A and rad */
	double noise_gain, noise_gain_variance; /* of L, in sigma^2 and its square, that so many parameters gain on noise alone */
} certificate;

/* Of the optimum that `f` was evaluated at last, its derivatives by n parameters. */
certificate certify(const objective *f, const optimum *o, size_t n);

/* The n directions of the parameters (in rad: times `rad` per unit) along which H has its eigenvalues, weakest first: their deviations
 * (INFINITY without curvature) and, by columns, axis[n x n]. Returns how many the data do not determine to 1 rad. */
size_t certify_directions(const likelihood *l, double sigma2, const double *rad, size_t n, double *deviation_rad, double *axis);

#endif
