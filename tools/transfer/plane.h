/* The half plane of an image's transform, as lists of the frequencies that its bins are made of. */
#ifndef TRANSFER_PLANE_H
#define TRANSFER_PLANE_H

#include "tools/transfer/backend.h"

/* One bin of the half plane: `at` = row x (columns / 2 + 1) + column. On the Nyquist row and column of an even axis the sign of q is
 * ambiguous and the Hermitian part is wanted: the mean of the values at the `count` = 2 frequencies of both signs. */
typedef struct plane_point {
	size_t at;
	size_t first, count; /* into `frequency` */
} plane_point;

/* The bins that can hold a phase, `factor` times upsampled: q extended at the same spacing, G at q modulo the native grid, gamma at
 * the true q; q = 0 and all its replicas are left out (physics.md section 6), as are bins that the spectrum does not store. */
typedef struct plane {
	size_t rows, columns;  /* of the image: f R, f C */
	size_t points;
	plane_point *point;
	size_t frequencies;
	frequency *frequency;
} plane;

bool plane_make(plane *p, const evidence *e, size_t factor, ssb_error *err);
void plane_free(plane *p);

/* image[rows x columns] = the unnormalised inverse transform of half[rows x (columns / 2 + 1)], which is lost. False when memory runs out. */
bool plane_transform(const plane *p, double complex *half, double *image);

#endif
