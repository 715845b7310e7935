/* What is simulated: specimen, microscope, scan, detector. Units are in the names; vectors are (row, column). */
#ifndef SSB_SIM_ACQUISITION_H
#define SSB_SIM_ACQUISITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tools/transfer/optics.h"

enum specimen_kind { SPECIMEN_LATTICE, SPECIMEN_ATOMS, SPECIMEN_AMORPHOUS };

/* One aberration as it is typed: magnitude and azimuth. */
typedef struct polar_aberration { double C_A, phi_rad; } polar_aberration;

typedef struct acquisition {
	size_t scan[2], detector[2];
	double step_A[2];
	double high_tension_kV;
	optics_geometry geometry;
	polar_aberration polar[ABERRATIONS]; /* by the index of its cosine term; the sine terms' are unused */
	optics_parameters optics;            /* the same, Cartesian, with tilt and thickness */
	double dose;                         /* mean counts of a fully lit pixel per position, without specimen */
	enum specimen_kind specimen;
	double phase_peak_rad;               /* largest |phase| of the specimen */
	bool poisson;                        /* false: expected counts, rounded to the nearest whole number */
	uint64_t seed;
	size_t element_size;                 /* bytes per count: 1, 2, 4 */
	size_t frames_per_file;
	size_t bad_pixels;
	size_t truth_upsample;               /* the truth phase is written this many times finer than the scan */
	size_t threads, memory;              /* memory in bytes */
} acquisition;

#endif
