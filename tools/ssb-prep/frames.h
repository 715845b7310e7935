/* One look at every frame: what each holds in the bright field, and the scan-detector rotation that its centre of mass tells. */
#ifndef SSB_PREP_FRAMES_H
#define SSB_PREP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tools/ssb-prep/region.h"

/* The bright-field pixels of a region. */
typedef struct bf_pixels {
	size_t count;               /* B */
	const int32_t (*index)[2];  /* (row, column) of the full detector, row-major */
	const uint32_t *offset;     /* of each in a frame of the region */
} bf_pixels;

typedef struct frame_sums {
	uint64_t *pixel;              /* B: exact sum of each BF pixel over the valid positions */
	uint64_t *position;           /* N: counts in the bright field of each position, 0 where it is not valid */
	double (*centre_of_mass)[2];  /* N: detector pixels (row, column); NAN where there are no counts */
} frame_sums;

/* Release with frame_sums_free in any case. */
bool frame_sums_make(frame_sums *sums, const region *r, const bf_pixels *bf, ssb_error *err);
void frame_sums_free(frame_sums *sums);

/* Rotation from detector to scan frame, physics.md section 7, by the plain [0] and by the transposed detector [1]. */
typedef struct deflection {
	bool found;              /* false: the centre of mass does not move */
	double rotation_deg[2];  /* of least curl, in (-90, 90]: it leaves the half turn open */
	double residual[2];      /* the curl that is left over curl and divergence, 0 to 1/2 */
} deflection;

/* Curl and divergence are weighted by 1/|q|^2 and kept for |q| < cutoff (1/A): unweighted, shot noise drowns them. Nyquist rows and
 * columns are left out; positions without counts (NAN) are taken at the mean. `sampling`: of the detector, per row and column. */
bool deflection_find(deflection *d, const double (*centre_of_mass)[2], const size_t scan[2], const double step_A[2], double cutoff,
                     const double sampling[2], ssb_error *err);

#endif
