/* A spectrum in the making: everything that is known before G(q,k) is stored (design: physics.md sections 1, 2, 5 and 7). */
#ifndef SSB_PREP_SPECTRUM_H
#define SSB_PREP_SPECTRUM_H

#include "tools/ssb-prep/disk.h"
#include "tools/ssb-prep/frames.h"
#include "tools/ssb-prep/passes.h"
#include "tools/transfer/evidence.h"

/* What the user says. */
typedef struct settings {
	double kilovolt;                     /* 0: what the region states */
	double semiangle_mrad, step_A[2];
	double sampling_mrad[2];             /* per pixel; 0: the rule */
	bool centre_given, radius_given;
	double centre_px[2], radius_px;
	bool rotation_given;
	double rotation_deg;
	enum { NOT_TRANSPOSED, TRANSPOSED, TRANSPOSITION_OPEN } transposition;
	enum { SINGLE, HALF } precision;     /* of the stored G */
	size_t memory, threads;              /* bytes to use at most */
	size_t machine_memory;               /* bytes that there are */
} settings;

typedef struct spectrum {
	const region *region;                /* borrowed */
	const settings *settings;            /* borrowed */
	disk disk;
	double kilovolt;                     /* as given, else as the region states */
	double sampling_mrad[2];             /* of the detector, per pixel, as used */
	double rule_mrad;                    /* by the rule; 0 where the disk is cut */
	optics_geometry geometry;
	double q_limit;                      /* 1/A: beyond it no bin is stored */
	int32_t (*pixel)[2];                 /* B, owned, as `bf` refers to it */
	uint32_t *offset;
	bf_pixels bf;
	frame_sums sums;
	deflection deflection;
	double I0_counts;
	int32_t (*q_index)[2];               /* Q, owned */
	size_t bins;
	double half_unit;                    /* counts that G is stored in halves in units of; 0: in single precision */
	passes passes;
	double *bin_excess;                  /* Q, owned: power above shot noise of each bin, sum_k (|G|^2 - G(0,k)) */
	double excess, excess_noise;         /* sum of m bin_excess, and what noise alone scatters it by */
	neighbour_estimate neighbours;
} spectrum;

/* Find out everything; every bin is transformed once on the way. Release with spectrum_free in any case. */
bool spectrum_prepare(spectrum *s, const region *r, const settings *given, transform_progress *progress, ssb_error *err);
void spectrum_free(spectrum *s);

#endif
