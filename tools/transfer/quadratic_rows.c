#include "tools/transfer/quadratic_rows.h"

#include <stdlib.h>

bool quadratic_worker_make(quadratic_worker *w, const span_table *table, int powers)
{
	const row_table *rows = table->rows;
	const size_t columns = 2 * (rows->columns + FLOATS);
	*w = (quadratic_worker){.rows = rows, .table = table, .powers = powers};
	w->scratch = malloc(rows->pixels.pixels * sizeof *w->scratch);
	w->row_re = malloc((2 * rows->rows + 1) * sizeof *w->row_re);
	w->tail = calloc((2 * MOST_POWER + 3) * columns, sizeof *w->tail);
	if (!spans_make(&w->spans, table) || !w->scratch || !w->row_re || !w->tail)
		return false;
	w->row_im = w->row_re + rows->rows;
	for (int i = 0; i <= MOST_POWER; i++) {
		w->e_re[i] = w->tail + (size_t)(2 * i + 1) * columns;
		w->e_im[i] = w->e_re[i] + columns;
	}
	return true;
}

void quadratic_worker_free(quadratic_worker *w)
{
	spans_free(&w->spans);
	free(w->scratch);
	free(w->row_re);
	free(w->tail);
}

KERNEL static void row_factors(const double *restrict r, double slope, size_t n, double *restrict re, double *restrict im)
{
	for (size_t i = 0; i < n; i++)
		sine_cosine(slope * r[i], &im[i], &re[i]);
}

KERNEL static void column_factors(const double *restrict c, double slope, size_t n, float *restrict re, float *restrict im)
{
	for (size_t i = 0; i < n; i++) {
		double s, k;
		sine_cosine(slope * c[i], &s, &k);
		re[2 * i] = re[2 * i + 1] = (float)k;
		im[2 * i] = im[2 * i + 1] = (float)s;
	}
}

KERNEL static void times_column(const double *restrict c, size_t n, const float *restrict from, float *restrict to)
{
	for (size_t i = 0; i < n; i++)
		to[2 * i] = to[2 * i + 1] = from[2 * i] * (float)c[i];
}

bool quadratic_frequency_make(quadratic_frequency *q, quadratic_worker *w, const frequency *f)
{
	const row_table *t = w->rows;
	double s, c;
	q->at = row_frequency_make(t, f->q);
	if (!spans_find(&w->spans, w->table, &q->at))
		return false;
	q->sign = f->conjugate ? -1 : 1;
	q->L[0] = q->at.psi.b[1][0];
	q->L[1] = q->at.psi.b[0][1];
	sine_cosine(q->L[0] * q->at.h[0] + q->L[1] * q->at.h[1], &s, &c);
	q->turn = CMPLX(c, s);
	row_factors(w->table->r, q->sign * q->L[0], t->rows, w->row_re, w->row_im);
	column_factors(t->c, q->sign * q->L[1], t->columns, w->e_re[0], w->e_im[0]);
	for (int i = 0; i < w->powers; i++) {
		times_column(t->c, t->columns, w->e_re[i], w->e_re[i + 1]);
		times_column(t->c, t->columns, w->e_im[i], w->e_im[i + 1]);
	}
	return true;
}
