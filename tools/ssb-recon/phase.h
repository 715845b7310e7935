/* The phase: computed, described and written. */
#ifndef SSB_RECON_PHASE_H
#define SSB_RECON_PHASE_H

#include "tools/ssb-recon/options.h"

/* What is written. All images have rows x columns = f R x f C pixels and are in rad. */
typedef struct phase_images {
	size_t factor, rows, columns;
	size_t count;                  /* of `phase`, and of `thin`: 1, or the length of the stack */
	double *phase;                 /* count images; owned */
	double *thin;                  /* count images behind `phase` in its block, with tilt and thickness 0; NULL: not asked for */
	double *halves;                /* 2 images, of half of the bright-field pixels each; NULL: not asked for; owned */
	optics_parameters *parameters; /* count, of `phase`; then those of `thin`; owned */
	double *noise_amplification;   /* as `parameters`: the estimator joint's (joint.h); NULL with others; owned */
	double limit_per_A;            /* highest frequency that a phase can hold: 2 alpha / lambda */
} phase_images;

/* Compute what `o` asks for; `p` as recon_parameters gives it. Fails (SSB_RUNTIME) when the images, and with them the halves of the
 * spectrum, do not fit in --memory. End with phase_free, also after a failure. */
bool phase_compute(phase_images *images, const backend *b, const evidence *e, const optics_parameters *p, const recon_options *o,
                   ssb_error *err);

/* Write the phase container (formats/SPEC.md). `fit` is the fit's reader and `fit_meta` what recon_fit_meta made of its meta; both may
 * be NULL. */
bool phase_store(const phase_images *images, const recon_options *o, const evidence *e, ssb_reader *spectrum, ssb_reader *fit,
                 const json_t *fit_meta, ssb_error *err);

void phase_free(phase_images *images);

#endif
