/* The overlaps of one q along detector rows. In the detector frame the pixels lie on a grid, each term of gamma covers one interval of
 * a row, its aperture is 1 but for the ends of that interval, and its phase is a polynomial of the column.
 *
 * Lengths of k and q here are in units of alpha/lambda (the aperture's radius is 1), in the detector frame. With h = q/2 and u = k - h
 * for T_-, k + h for T_+, both phases are psi(u) = chi(u + h) - chi(u - h), in which only odd powers of h occur; |u|^2 + |h|^2 <= 1
 * where the apertures overlap. */
#ifndef TRANSFER_ROWS_H
#define TRANSFER_ROWS_H

#include "tools/transfer/gamma.h"
#include "tools/transfer/kernel.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* A piece holds at most PIECE pixels. Loops over one run to a multiple of LANES, so that no scalar code is left at their end: arrays of
 * PIECE_ROOM hold it. Beyond the pixels, and outside a term's interval, the amplitude is 0 and all else may be anything finite. */
enum { PIECE = 64, LANES = 4, PIECE_ROOM = PIECE + LANES, COLUMN_ROOM = 8 };

ALWAYS_INLINE size_t whole_lanes(size_t n)
{
	return (n + LANES - 1) & ~(size_t)(LANES - 1);
}

/* BF pixels side by side in a detector row. */
typedef struct pixel_row {
	size_t first, count; /* BF pixels */
	size_t column;       /* of the first, counted from the leftmost BF pixel's */
	double r;            /* k_r */
} pixel_row;

/* The BF pixels under one parameter set, by rows. */
typedef struct row_table {
	pixel_table pixels;
	double unit;         /* alpha/lambda, 1/A */
	double reach, inner; /* |v| beyond which A(v) = 0, below which it is 1 */
	double step;         /* of k along a row */
	polynomial chi;
	size_t rows, columns, most_pieces;
	pixel_row *row;
	double *c;           /* columns + COLUMN_ROOM: k_c */
} row_table;

/* False when memory runs out. */
bool row_table_make(row_table *t, const evidence *e, const optics_parameters *p);
void row_table_free(row_table *t);

/* p(L x), L the map from the detector frame and the units above to the scan frame and 1/A. */
polynomial row_polynomial(const row_table *t, const polynomial *p);

/* One q, from the scan frame and 1/A. */
typedef struct row_frequency {
	double q[2], h[2];
	double q2, tilt_phase; /* for the thickness: |q|^2 in 1/A^2, 2 pi q.tau */
	polynomial psi;        /* of u */
} row_frequency;

/* p(u + h) - p(u - h) as a polynomial of u. */
polynomial row_difference(const polynomial *p, const double h[2]);

row_frequency row_frequency_make(const row_table *t, const double q[2]);

/* Consecutive pixels of a row in at least one of the overlaps; term i (0: T_-, 1: T_+) covers from[i] … to[i] - 1 of them, with the
 * aperture of k -+ q 1 on inner_from[i] … inner_to[i] - 1. */
typedef struct piece {
	size_t first, count, column;
	double r;
	size_t from[2], to[2], inner_from[2], inner_to[2];
} piece;

/* The pieces of this q, in the order of the pixels; list has room for t->most_pieces. */
size_t row_pieces(const row_table *t, const row_frequency *f, piece *list);

/* p(u_r, u_c) along a row as a polynomial of u_c. */
ALWAYS_INLINE void row_coefficients(const polynomial *p, double r, double out[6])
{
	for (int j = 0; j < 6; j++) {
		double sum = 0;
		for (int i = 5 - j; i >= 0; i--)
			sum = sum * r + p->b[i][j];
		out[j] = sum;
	}
}

ALWAYS_INLINE double row_value(const double b[6], double c)
{
	return b[0] + c * (b[1] + c * (b[2] + c * (b[3] + c * (b[4] + c * b[5]))));
}

/* a = A(k) A(k -+ q) over the piece, 0 outside the term's interval. */
ALWAYS_INLINE void piece_aperture(const row_table *t, const row_frequency *f, const piece *p, int term, double *restrict a)
{
	const int sign = term == 0 ? -1 : 1;
	const pixel_table *x = &t->pixels;
	const double *A = x->aperture + p->first, *c = t->c + p->column;
	const double alpha = x->semiangle, sampling[2] = {x->sampling[0], x->sampling[1]}, vr = p->r + sign * f->q[0], qc = sign * f->q[1];
	for (long j = 0, n = (long)whole_lanes(p->count), from = (long)p->from[term], to = (long)p->to[term]; j < n; j++)
		a[j] = j >= from && j < to ? A[j] : 0;
	for (size_t j = p->from[term]; j < p->inner_from[term]; j++)
		a[j] *= aperture_value(vr, c[j] + qc, alpha, alpha, sampling);
	for (size_t j = p->inner_to[term]; j < p->to[term]; j++)
		a[j] *= aperture_value(vr, c[j] + qc, alpha, alpha, sampling);
}

/* a w of a thick specimen, from a. */
ALWAYS_INLINE void piece_thickness(const row_table *t, const row_frequency *f, const piece *p, int term, double *restrict a)
{
	const pixel_table *x = &t->pixels;
	const int sign = term == 0 ? -1 : 1;
	const double kr = t->unit * t->unit * p->r * f->q[0], kc = t->unit * t->unit * f->q[1]; /* k.q in 1/A^2 */
	const double *c = t->c + p->column + p->from[term];
	a += p->from[term];
	for (size_t j = 0; j < whole_lanes(p->to[term] - p->from[term]); j++)
		a[j] *= sinc_value(x->thickness / 2 * thickness_rate(sign, x->wavelength, f->q2, kr + c[j] * kc, f->tilt_phase));
}

/* Cosine and sine of psi over the term's interval. */
ALWAYS_INLINE void piece_exponential(const row_table *t, const row_frequency *f, const piece *p, int term, double *restrict e_re,
                                     double *restrict e_im)
{
	const int sign = term == 0 ? -1 : 1;
	const double *c = t->c + p->column + p->from[term], shift = sign * f->h[1];
	double b[6];
	row_coefficients(&f->psi, p->r + sign * f->h[0], b);
	e_re += p->from[term];
	e_im += p->from[term];
	for (size_t j = 0; j < whole_lanes(p->to[term] - p->from[term]); j++)
		sine_cosine(row_value(b, c[j] + shift), &e_im[j], &e_re[j]);
}

/* G of the piece; `sign` is that of Im G. */
ALWAYS_INLINE void piece_G(const piece *p, const float *G, double sign, double *restrict re, double *restrict im)
{
	for (size_t j = 0; j < p->count; j++) {
		re[j] = G[2 * (p->first + j)];
		im[j] = sign * G[2 * (p->first + j) + 1];
	}
}

#endif
