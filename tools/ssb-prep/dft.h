/* Discrete Fourier transforms along a line of points, of LANES independent lines at once.
 *
 * The lanes are neighbouring BF pixels, which lie together in a frame and in a row of G: all arithmetic is on whole vectors, one twiddle factor
 * serves every lane, and neither counts nor G are transposed. Stockham's autosorting algorithm (Van Loan, Computational Frameworks for the
 * Fast Fourier Transform, SIAM 1992, section 1.7) with radices 8, 4, 2, 3, 5, 7; lengths with other prime factors go to FFTW. */
#ifndef SSB_PREP_DFT_H
#define SSB_PREP_DFT_H

#include <stdbool.h>
#include <stddef.h>

enum { LANES = 64 };

/* One point of every line. In memory of pages_new, or as aligned. */
typedef struct point { float re[LANES], im[LANES]; } point;

typedef struct dft dft;

/* Of `n` points. The same rounding for every run and thread. NULL when memory runs out. */
dft *dft_new(size_t n);
void dft_free(dft *d); /* NULL is allowed */

/* X(q) = sum over i of x(i) exp(-2 pi i q i / n), not normalised. `x`, `work`: n points each, both overwritten, 64-byte aligned; returns
 * the one that holds X. */
point *dft_run(const dft *d, point *restrict x, point *restrict work);

#endif
