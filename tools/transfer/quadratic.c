#include "tools/transfer/quadratic.h"

#include "tools/transfer/quadratic_rows.h"

bool quadratic_suits(const row_table *t)
{
	return t->chi.degree <= 2 && t->pixels.thickness == 0;
}

/* Sums over rows of G times, by term: the column's cosine times the row's, and times the row's sine; the column's sine, and both. */
typedef struct total { doubles by[2][4]; } total;

/* One row's sums of G times the cosine and of G times the sine, by term. */
typedef struct row_sums { floats with[2][2]; } row_sums;

/* Add pixels from … to - 1 of a row, each to the terms in whose hard part it lies. */
ALWAYS_INLINE void add_run(const row_part *p, const float *G, const float *e_re, const float *e_im, int32_t from, int32_t to, row_sums *sum)
{
	ints at = (ints){0, 0, 1, 1, 2, 2, 3, 3} + from;
	for (int32_t j = from; j < to; j += PAIRS, at += PAIRS) {
		const ints g = (ints)LOAD_FLOATS(G + 2 * j);
		const floats re = LOAD_FLOATS(e_re + 2 * j), im = LOAD_FLOATS(e_im + 2 * j);
		for (int term = 0; term < 2; term++) {
			const floats x = (floats)(g & (at >= p->b[term][HARD_FROM]) & (at < p->b[term][HARD_TO]));
			sum->with[term][0] += x * re;
			sum->with[term][1] += x * im;
		}
	}
}

/* Add a term's soft pixels of a row to x = sum of G e^{-iL_c k_c} a, and to W: both squares, and the products not yet counted. */
ALWAYS_INLINE void add_soft(row_part *p, int term, const soft_list soft[2], const float *G, const float *e_re, const float *e_im, double x[2],
                            double W[2])
{
	const int32_t *b = p->b[term];
	const double *a = soft[term].a + p->soft[term];
	for (int side = 0; side < 2; side++)
		for (int32_t j = b[side ? HARD_TO : FROM]; j < b[side ? TO : HARD_FROM]; j++, a++) {
			const double re = e_re[2 * j], im = e_im[2 * j], G_re = G[2 * j], G_im = G[2 * j + 1];
			x[0] += *a * (G_re * re + G_im * im);
			x[1] += *a * (G_im * re - G_re * im);
			W[0] += *a * *a;
			const long at = row_soft_at(p, !term, j);
			W[1] += at == HARD ? *a : at >= 0 && term == 0 ? *a * soft[1].a[at] : 0;
		}
}

ALWAYS_INLINE void add_doubles(const floats *v, double re, double im, doubles *by_re, doubles *by_im)
{
	doubles d;
	floats_to_doubles(v, &d);
	*by_re += re * d;
	*by_im += im * d;
}

/* X_-+ and W's two sums of one q. */
LANES_KERNEL static void add_rows(const quadratic_worker *w, const float *G, double X[2][2], double W[2])
{
	const row_table *t = w->rows;
	const spans *s = &w->spans;
	total all = {{{{0}}}};
	row_part p = {.soft = {0, 0}};
	for (size_t i = 0; i < t->rows; i++) {
		row_sums sum = {{{{0}}}};
		int32_t run[2][2];
		row_prefetch(t, s, i + ROWS_AHEAD, G);
		if (!row_part_take(&p, s, i))
			continue;
		const float *g = row_G(t, i, G, w->tail), *e_re = w->e_re[0] + 2 * t->row[i].column, *e_im = w->e_im[0] + 2 * t->row[i].column;
		for (int k = 0; k < row_runs(&p, run); k++)
			add_run(&p, g, e_re, e_im, run[k][0], run[k][1], &sum);
		for (int term = 0; term < 2; term++) {
			double x[2] = {0, 0};
			add_doubles(&sum.with[term][0], w->row_re[i], w->row_im[i], &all.by[term][0], &all.by[term][1]);
			add_doubles(&sum.with[term][1], w->row_re[i], w->row_im[i], &all.by[term][2], &all.by[term][3]);
			add_soft(&p, term, s->soft, g, e_re, e_im, x, W);
			X[term][0] += w->row_re[i] * x[0] + w->row_im[i] * x[1];
			X[term][1] += w->row_re[i] * x[1] - w->row_im[i] * x[0];
			W[0] += p.b[term][HARD_TO] - p.b[term][HARD_FROM];
		}
		W[1] += p.both_to - p.both_from;
	}
	for (int term = 0; term < 2; term++) {
		const doubles *d = all.by[term];
		for (int i = 0; i < 4; i += 2) {
			X[term][0] += d[0][i] + d[1][i + 1] + d[2][i + 1] - d[3][i];
			X[term][1] += d[0][i + 1] - d[1][i] - d[2][i] - d[3][i + 1];
		}
	}
}

static sums sums_at(quadratic_worker *w, const evidence *e, const frequency *f)
{
	quadratic_frequency q;
	if (!quadratic_frequency_make(&q, w, f))
		return (sums){.W = 0};
	double X[2][2] = {{0, 0}, {0, 0}}, W[2] = {0, 0};
	spans_weigh(&w->spans, w->table);
	add_rows(w, (const float *)evidence_G(e, f->bin, 0, e->pixels, w->scratch), X, W);
	return (sums){.S = q.turn * CMPLX(X[0][0], q.sign * X[0][1]) - conj(q.turn) * CMPLX(X[1][0], q.sign * X[1][1]),
	              .W = W[0] - 2 * creal(q.turn * q.turn) * W[1]};
}

bool quadratic_sums(const evidence *e, const row_table *t, const frequency *f, size_t count, sums *out)
{
	span_table table;
	bool ok = true;
	if (!span_table_make(&table, t))
		return false;
#pragma omp parallel reduction(&& : ok)
	{
		quadratic_worker w = {0};
		ok = quadratic_worker_make(&w, &table, 0);
#pragma omp for schedule(dynamic, bins_per_turn(count))
		for (size_t i = 0; i < count; i++)
			if (ok)
				out[i] = sums_at(&w, e, &f[i]);
		quadratic_worker_free(&w);
	}
	span_table_free(&table);
	return ok;
}
