/* What sums over k of a quadratic chi go by, row by row: see quadratic.h. */
#ifndef TRANSFER_QUADRATIC_ROWS_H
#define TRANSFER_QUADRATIC_ROWS_H

#include <complex.h>
#include "tools/transfer/quadratic.h"
#include "tools/transfer/spans.h"

enum { MOST_POWER = 2 };

/* What a thread needs for one q. */
typedef struct quadratic_worker {
	const row_table *rows;
	const span_table *table;
	int powers;                     /* the highest of k_c below */
	spans spans;
	float complex *scratch;         /* for G */
	double *row_re, *row_im;        /* cosine and sine of L_r k_r by row of pixels */
	float *e_re[MOST_POWER + 1], *e_im[MOST_POWER + 1]; /* of L_c k_c, times powers of k_c: by column, each twice, as G's parts lie */
	float *tail;                    /* for the last rows of G: whole vectors are read */
} quadratic_worker;

/* False when memory runs out; quadratic_worker_free in any case. */
bool quadratic_worker_make(quadratic_worker *w, const span_table *table, int powers);
void quadratic_worker_free(quadratic_worker *w);

typedef struct quadratic_frequency {
	row_frequency at;
	double L[2];          /* psi = L.u */
	double complex turn;  /* e^{i chi(q)} */
	double sign;          /* -1: G is conjugated, and the worker's factors are those of -L: the sums over it come out conjugated */
} quadratic_frequency;

/* Fill q and the worker's spans and factors; false without an overlap. */
bool quadratic_frequency_make(quadratic_frequency *q, quadratic_worker *w, const frequency *f);

#endif
