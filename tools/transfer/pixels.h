/* The BF pixels under one parameter set: frames, aperture and chi of k, made once per set; everything of the
 * detector (k, sampling, semiangle) with the set's sampling. For host and CUDA. */
#ifndef TRANSFER_PIXELS_H
#define TRANSFER_PIXELS_H

#include <stddef.h>
#include "tools/transfer/optics.h"

typedef struct pixel_table {
	size_t pixels;
	double wavelength, semiangle, sampling[2];
	double reach;          /* |v| beyond which A(v) = 0, 1/A */
	double cosine, sine;   /* of the rotation */
	bool transposed;
	double tilt[2], thickness;
	polynomial chi;
	double *detector[2];   /* k in the detector frame */
	double *scan[2];       /* k in the scan frame */
	double *aperture, *chi_k;
} pixel_table;

enum { PIXEL_ARRAYS = 6 }; /* one block of memory holds them, detector[0] first */

/* Point the arrays into `memory`, PIXEL_ARRAYS x pixels. */
SSB_HD void pixel_table_place(pixel_table *t, double *memory)
{
	double **const arrays[PIXEL_ARRAYS] = {&t->detector[0], &t->detector[1], &t->scan[0], &t->scan[1], &t->aperture, &t->chi_k};
	for (int i = 0; i < PIXEL_ARRAYS; i++)
		*arrays[i] = memory + (size_t)i * t->pixels;
}

/* The table of pixels first … first + count - 1 alone, in the same arrays. */
SSB_HD pixel_table pixel_table_slice(const pixel_table *t, size_t first, size_t count)
{
	pixel_table s = *t;
	s.pixels = count;
	for (int axis = 0; axis < 2; axis++) {
		s.detector[axis] += first;
		s.scan[axis] += first;
	}
	s.aperture += first;
	s.chi_k += first;
	return s;
}

#endif
