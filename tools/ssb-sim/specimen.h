/* A periodic specimen: its phase phi(r), band-limited to |g| <= 2 alpha / lambda, mean 0, and transmission t = exp(i phi).
 *
 * The period is the scan's extent (step x positions), so that g = (i/L_r, j/L_c) and Fourier transforms over the scan are exact.
 * Columns of Wentzel-Yukawa atoms (projected potential Z / (g^2 + (1/(2 pi a))^2), a the Thomas-Fermi radius), with thermal motion. */
#ifndef SSB_SIM_SPECIMEN_H
#define SSB_SIM_SPECIMEN_H

#include <complex.h>
#include "formats/status.h"
#include "tools/ssb-sim/acquisition.h"

/* Fourier coefficients for -half[a] <= index <= half[a] on each axis: at[(i + half[0]) * (2 half[1] + 1) + j + half[1]]. */
typedef struct phase_spectrum {
	long half[2];
	double complex *at; /* phi = sum_g at_g exp(2 pi i g.r), rad */
} phase_spectrum;

typedef struct transmission {
	long half[2];
	float complex *at;     /* thin: T_g of t = sum_g T_g exp(2 pi i g.r), within 1e-6; 0 beyond */
	size_t slices;         /* 1: thin */
	size_t n[2];           /* points over the period */
	float complex *slice;  /* thick, in the place of `at`: exp(i phi / slices), n[0] x n[1] */
} transmission;

/* The specimen of this acquisition: atoms by its kind and seed, phase scaled to phase_peak_rad. Release with phase_spectrum_free. */
bool phase_spectrum_make(const acquisition *a, phase_spectrum *phase, ssb_error *err);
void phase_spectrum_free(phase_spectrum *phase);

/* exp(i phi) in `slices` equal slices, for all g that bring intensity to this detector. Release with transmission_free. */
bool transmission_make(const acquisition *a, const phase_spectrum *phase, size_t slices, transmission *t, ssb_error *err);
void transmission_free(transmission *t);

/* phi at the scan positions, or `upsample` times finer, rad: upsample scan[0] x upsample scan[1], the first at position (0, 0). Cut
 * strictly inside the grid's Nyquist frequencies. Caller frees. */
float *phase_image(const acquisition *a, const phase_spectrum *phase, size_t upsample, ssb_error *err);

#endif
