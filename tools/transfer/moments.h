/* Derivatives by aberrations, from moments (physics.md section 5).
 *
 * chi is linear in the coefficients, so dpsi/di is a fixed polynomial in k and q. In the units, frame and variables of rows.h, with p_i
 * the coefficient's share of chi,
 *   dpsi/di = delta_i(u, h) = p_i(u + h) - p_i(u - h)               of each term at its own u,
 *   dpsi_+/di - dpsi_-/di = s_i(k, q) = p_i(k + q) + p_i(k - q) - 2 p_i(k).
 * What a sum over k and q of weight times delta_i delta_j needs of the pixels is therefore sum_q h^e sum_k weight u^f for each pair of
 * exponents e, f: a table that does not depend on i, j. The moments sum_k weight u^f cost a few multiply-adds per pixel, the table a few
 * hundred per q, and the parameters come in once, at the end. */
#ifndef TRANSFER_MOMENTS_H
#define TRANSFER_MOMENTS_H

#include <stddef.h>
#include "tools/transfer/optics.h"

enum { MOST_DEGREE = 12, FORMS = (MOST_DEGREE + 1) * (MOST_DEGREE + 2) / 2 }; /* monomials x_r^a x_c^b, a + b <= 12 */

/* Place of x_r^a x_c^b among the monomials in order of their degree. */
static inline size_t monomial_at(int a, int b)
{
	return (size_t)((a + b) * (a + b + 1) / 2 + b);
}

/* Number of monomials up to a degree. */
static inline size_t monomials(int degree)
{
	return (size_t)((degree + 1) * (degree + 2) / 2);
}

/* All monomials of x up to `degree`. */
void monomials_fill(const double x[2], int degree, double *out);

/* Which products y^e x^f a table holds: |e| = first, first + step, … and |e| + |f| <= degree. */
typedef struct moment_layout {
	int degree, first, step;
	size_t offset[FORMS]; /* by e; there, by f */
	size_t size;
} moment_layout;

moment_layout moment_layout_make(int degree, int first, int step);

/* table += factor y^e moment[f] for all e, f; y: its monomials, moment: by monomial. */
void moment_table_add(const moment_layout *l, double *table, const double *y, const double *moment, double factor);

/* A polynomial in (x, y): x = u, y = h or x = k, y = q. */
enum { MOST_TERMS = 64 };
typedef struct bipolynomial_term {
	double factor;
	unsigned char x[2], y[2]; /* exponents */
	unsigned short at;        /* in a table of the layout it was made for */
} bipolynomial_term;

typedef struct bipolynomial {
	int count;
	bipolynomial_term term[MOST_TERMS];
} bipolynomial;

/* Add factor x_r^by[0] x_c^by[1] y_r^by[2] y_c^by[3] times what is odd (odd = 1), or even but not constant (0), in y of p(x + y). */
void bipolynomial_add(bipolynomial *out, const moment_layout *l, const polynomial *p, int odd, const int by[4], double factor);

/* sum over k and q of weight b, from the weight's table. */
double moment_of(const double *table, const bipolynomial *b);

/* The table of weight b, of `single`'s e with b's parity, from the table of the weight: moment_of(it, a) is the sum of weight a b. b: all
 * odd or all even in y. */
void moment_table_times(const moment_layout *pair, const double *table, const bipolynomial *b, const moment_layout *single, double *out);

#endif
