/* What both backends do on the host, around the sums over k. */
#ifndef TRANSFER_HOST_H
#define TRANSFER_HOST_H

#include "tools/transfer/backend.h"
#include "tools/transfer/derivative.h"
#include "tools/transfer/lookup.h"

derivative_model derivative_model_make(const pixel_table *table, const int *parameter, size_t n);

/* The sums over k that one q needs: S_i = sum G conj(gamma_i), V_i = sum conj(gamma) gamma_i, S_ij = sum G conj(gamma_ij),
 * X_ij = Re sum conj(gamma_i) gamma_j, Y_ij = Re sum conj(gamma) gamma_ij; pairs i >= j. */
typedef struct derivative_sums {
	double complex S1[FIT_PARAMETERS], V[FIT_PARAMETERS];
	double complex S2[FIT_PARAMETERS][FIT_PARAMETERS];
	double X[FIT_PARAMETERS][FIT_PARAMETERS], Y[FIT_PARAMETERS][FIT_PARAMETERS];
} derivative_sums;

/* Add one q's share of L and its derivatives by n parameters, by the quotient rule on m |S|^2 / W; lower triangles. */
void likelihood_add_bin(likelihood *out, size_t n, const derivative_sums *s, double m, const sums *known);

/* Fill the upper triangles. */
void likelihood_mirror(likelihood *out, size_t n);

/* The padded detector of the search: the bounding box of the BF pixels at its corner. */
typedef struct search_frame {
	int32_t origin[2];
	size_t size[2];
	size_t rows;         /* the first of them, which hold BF pixels */
} search_frame;

search_frame search_frame_make(const evidence *e);
size_t search_frame_at(const search_frame *f, const int32_t pixel[2]); /* place of a BF pixel */

/* p without C10 and C12, which the candidates are in place of. */
optics_parameters search_held(const optics_parameters *p);

/* All of a look-up but W. */
lookup lookup_make(const evidence *e, const pixel_table *t, const search_frame *f, size_t bin, double m);

/* Below this W counts as this: 1e-6 of what B pixels could give. */
double search_floor(const evidence *e);

/* From sums over the pixels to the mean phase image (in place) and its variance (may be NULL). */
void mean_phase_finish(double *sum, const double *sum_squares, size_t positions, double pixels, double *variance);

/* Mean of G(0,k) over the pixels, filled positions at their mean. */
double mean_counts(const evidence *e);

#endif
