/* What an optimum is worth: how much of the signal it explains, and its error bars (physics.md section 5). */
#ifndef SSB_FIT_CERTIFICATE_H
#define SSB_FIT_CERTIFICATE_H

#include "tools/ssb-fit/newton.h"

typedef struct certificate {
	double explained, explained_noise;  /* eta and its noise; NAN when the evidence holds no signal power */
	double significance;                /* (L - sigma^2 sum m) in deviations of pure noise */
	bool found;                         /* significance beyond what a search of noise gives */
	bool has_covariance;                /* H is positive definite */
	double covariance[FIT_PARAMETERS * FIT_PARAMETERS]; /* n x n, A and rad */
} certificate;

/* Of the optimum that `f` was evaluated at last. */
certificate certify(const objective *f, const optimum *o, size_t n);

#endif
