/* The evidence of one spectrum, as the sums over it need it (design: architecture.md, "Layout of the evidence"). */
#ifndef TRANSFER_EVIDENCE_H
#define TRANSFER_EVIDENCE_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/container.h"
#include "tools/transfer/optics.h"

/* G(q,k) on the stored half plane, all BF pixels of a bin in row-major order: evidence_G gives it. */
typedef struct evidence {
	optics_geometry geometry;
	size_t scan[2];                /* R, C positions */
	size_t filled;                 /* of them without a frame: each pixel's mean, which adds nothing to G at q != 0 */
	double step_A[2];
	double I0_counts;              /* mean counts per fully lit BF pixel and position */
	size_t bins, pixels;           /* Q, B */
	const int32_t (*q_index)[2];   /* Q: (row, column) on the half plane, row-major; (0, 0) is among them */
	const int32_t (*pixel)[2];     /* B: full-detector (row, column), row-major */
	const double *counts;          /* B: G(0,k), the exact sum of counts over the scan */
	const double *excess;          /* Q: of each bin (evidence_excess); NULL where it is not stored */
	const float complex *const *row; /* Q pointers to the B values of a bin, where G is in memory; else NULL */
	struct evidence_file *file;    /* else where G is read from as it is asked for */
	struct device_evidence *device;  /* what backend_attach made; NULL for none */
} evidence;

/* Evidence of an opened spectrum, which must stay open as long; release with evidence_free. On a file, a chunk of G is read and verified when
 * it is first asked for. */
evidence *evidence_load(ssb_reader *spectrum, ssb_error *err);
void evidence_free(evidence *e); /* what evidence_load made; NULL is allowed */

/* G(q,k) of a bin's BF pixels first … first + count - 1, by any thread. `scratch` has room for them; what is returned is there or in the
 * evidence. Zeros where the chunk cannot be read: evidence_is_sound then tells. */
const float complex *evidence_G(const evidence *e, size_t bin, size_t first, size_t count, float complex *scratch);

/* False with the first failure once evidence_G has met a chunk that cannot be read: nothing computed from it may be believed. */
bool evidence_is_sound(const evidence *e, ssb_error *err);

/* Read what evidence_G was not asked for: a damaged spectrum is refused even where the damage did not matter. */
bool evidence_verify(const evidence *e, ssb_error *err);

/* sigma^2 = N I0, the Poisson power of one element of G (physics.md section 5); N less the filled positions, which have no noise. */
double evidence_sigma2(const evidence *e);

/* Scan frequency of a stored bin, 1/A. */
void evidence_q(const evidence *e, size_t bin, double q[2]);

/* Multiplicity of a bin in L (physics.md section 5): 2; 1 in column 0; 0 at q = 0 and on the Nyquist row and column of even axes. */
double evidence_multiplicity(const evidence *e, size_t bin);

/* k of BF pixel b in the detector frame, 1/A. */
void evidence_k(const evidence *e, size_t b, double k[2]);

/* Excess power of a bin: sum_k (|G|^2 - G(0,k)), what is above the shot noise. */
double evidence_excess(const evidence *e, size_t bin);

/* The neighbour start of physics.md section 5: no trial, one pass over G. */
typedef struct neighbour_estimate {
	bool found;             /* false: too few scan frequencies hold a signal */
	double C_A[3];          /* C10, C12a, C12b */
	double rotation_rad;    /* of the branch with C10 > 0 */
	bool transposed;        /* by the sign of det M */
	bool transposition_decided; /* det M tells only where |C10| > |C12| */
} neighbour_estimate;

/* range_A: the largest |C10| + C12 to allow for: neighbours wrap beyond |q| = 1/(2 s range). Where a scan has too few such q, the range
 * is halved until it has. rotation_rad, transposed: NULL to estimate, else held. */
neighbour_estimate neighbour_start(const evidence *e, double range_A, const double *rotation_rad, const bool *transposed);

/* It looks at the NEIGHBOUR_BINS bins at most that weigh most among those with |q| < q_most: these, heaviest first; returns how many. Needs the
 * excess of e's bins alone. 0 also when memory runs out. */
enum { NEIGHBOUR_BINS = 1024 };
size_t neighbour_bins(const evidence *e, double q_most, size_t bin[NEIGHBOUR_BINS]);

/* Its two halves, for those who ask for both transpositions: M in the detector frame (A^2; false: not found), and what it says. */
bool neighbour_matrix(const evidence *e, double range_A, double M[2][2]);
neighbour_estimate neighbour_from_matrix(const evidence *e, const double M[2][2], const double *rotation_rad, const bool *transposed);

#endif
