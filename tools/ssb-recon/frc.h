/* Fourier ring correlation of two images of the same thing with independent noise: to which frequency they agree. */
#ifndef SSB_RECON_FRC_H
#define SSB_RECON_FRC_H

#include <jansson.h>
#include <stddef.h>
#include "formats/status.h"

/* Ring i = 0, 1, … is centred at |q| = (i + 1) width and width wide. Only whole rings: their outer edge is within the limit. */
typedef struct ring_correlation {
	double width_per_A;
	size_t rings;
	double *correlation; /* Re sum F1 F2* / sqrt(sum |F1|^2 sum |F2|^2) over the ring; NAN where an image has nothing there; owned */
	double *pixels;      /* of the whole plane in the ring; owned */
} ring_correlation;

/* images[2][rows][columns], periodic (no window), sampled at sampling_A (row, column). Rings are one frequency step wide, of the axis
 * with the larger one (the coarser). limit_per_A: the highest frequency of interest. End with frc_free. */
bool frc_make(ring_correlation *frc, const double *images, size_t rows, size_t columns, const double sampling_A[2], double limit_per_A,
              ssb_error *err);
void frc_free(ring_correlation *frc);

/* Half a bit of information per pixel in the sum of two half data sets, n pixels in the ring: (0.2071 + 1.9102 / sqrt n) /
 * (1.2071 + 0.9102 / sqrt n) (van Heel and Schatz, J. Struct. Biol. 151 (2005) 250). */
double frc_half_bit(double pixels);

/* Where the correlation first falls to the threshold (NULL: 0.143 everywhere), straight lines between the rings. Rings below it before the
 * first above do not count: phase contrast vanishes towards q = 0. */
typedef struct ring_crossing {
	bool above;         /* some ring is above the threshold; the first of them: */
	double from_per_A;
	bool crosses;       /* … and a later one is not */
	double at_per_A;
} ring_crossing;
ring_crossing frc_crossing(const ring_correlation *frc, const double *threshold);

/* The header's `fourier_ring_correlation` (formats/SPEC.md); `limit` says what limit_per_A is. New reference. */
json_t *frc_to_json(const ring_correlation *frc, double limit_per_A, const char *limit, ssb_error *err);

#endif
