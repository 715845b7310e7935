/* The phase: computed, described and written. */
#ifndef SSB_RECON_PHASE_H
#define SSB_RECON_PHASE_H

#include "tools/ssb-recon/options.h"

typedef struct phase_image {
	size_t factor;
	double *value;   /* f R x f C, rad */
	size_t count;
	double polarity;
} phase_image;

/* Fill value, count and polarity; factor is set by the caller. */
bool phase_compute(phase_image *image, const backend *b, const evidence *e, const optics_parameters *p, enum estimator estimator,
                   double epsilon, size_t memory, ssb_error *err);

/* Write the phase container (formats/SPEC.md). `fit` may be NULL. */
bool phase_store(const phase_image *image, const recon_options *o, const evidence *e, const optics_parameters *p, ssb_reader *spectrum,
                 ssb_reader *fit, ssb_error *err);

void phase_free(phase_image *image);

#endif
