#include "tools/transfer/quadratic.h"

#include <stdlib.h>
#include <string.h>
#include "tools/transfer/lanes.h"
#include "tools/transfer/spans.h"

bool quadratic_suits(const row_table *t)
{
	return t->chi.degree <= 2 && t->pixels.thickness == 0;
}

/* What a thread needs for one q. */
typedef struct worker {
	const row_table *rows;
	span_table *table;
	spans spans;
	float complex *scratch;  /* for G */
	double *row_re, *row_im; /* cosine and sine of L_r k_r by row of pixels */
	float *e_re, *e_im;      /* of L_c k_c by column, each twice, as real and imaginary part of G lie */
	float *tail;             /* for a row of G */
} worker;

static bool worker_make(worker *w, const row_table *rows, span_table *table)
{
	const size_t columns = 2 * (rows->columns + PAIRS);
	*w = (worker){.rows = rows, .table = table};
	w->scratch = malloc(rows->pixels.pixels * sizeof *w->scratch);
	w->row_re = malloc((2 * rows->rows + 1) * sizeof *w->row_re);
	w->e_re = calloc(3 * columns, sizeof *w->e_re);
	w->row_im = w->row_re + rows->rows;
	w->e_im = w->e_re + columns;
	w->tail = w->e_im + columns;
	return spans_make(&w->spans, table) && w->scratch && w->row_re && w->e_re;
}

static void worker_free(worker *w)
{
	spans_free(&w->spans);
	free(w->scratch);
	free(w->row_re);
	free(w->e_re);
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

/* A row's part of one q: its bounds by term and where its soft pixels are in their lists. */
typedef struct row_part {
	int32_t b[2][BOUNDS];
	size_t soft[2];
} row_part;

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

/* The hard pixels of a row, without those between the terms. */
ALWAYS_INLINE void add_hard(const row_part *p, const float *G, const float *e_re, const float *e_im, row_sums *sum)
{
	const int32_t *m = p->b[0], *n = p->b[1];
	const int left = n[HARD_FROM] < m[HARD_FROM];
	const int32_t *first = p->b[left], *second = p->b[!left];
	if (first[HARD_TO] + PAIRS <= second[HARD_FROM]) { /* lest a vector of one ends in the other */
		add_run(p, G, e_re, e_im, first[HARD_FROM], first[HARD_TO], sum);
		add_run(p, G, e_re, e_im, second[HARD_FROM], second[HARD_TO], sum);
	} else {
		add_run(p, G, e_re, e_im, first[HARD_FROM], first[HARD_TO] > second[HARD_TO] ? first[HARD_TO] : second[HARD_TO], sum);
	}
}

/* a_-+ of pixel j of the row. */
ALWAYS_INLINE double amplitude_at(const row_part *p, int term, const soft_list *soft, int32_t j)
{
	const int32_t *b = p->b[term];
	if (j < b[FROM] || j >= b[TO])
		return 0;
	if (j >= b[HARD_FROM] && j < b[HARD_TO])
		return 1;
	return soft->a[p->soft[term] + (size_t)(j < b[HARD_FROM] ? j - b[FROM] : j - b[HARD_TO] + b[HARD_FROM] - b[FROM])];
}

/* Add a term's soft pixels of a row to x = sum of G e^{-iL_c k_c} a, and to W: both squares, and the products not yet counted. */
ALWAYS_INLINE void add_soft(row_part *p, int term, const soft_list soft[2], const float *G, const float *e_re, const float *e_im, double x[2],
                            double W[2])
{
	const int32_t *b = p->b[term], *other = p->b[!term];
	const double *a = soft[term].a + p->soft[term];
	for (int side = 0; side < 2; side++)
		for (int32_t j = b[side ? HARD_TO : FROM]; j < b[side ? TO : HARD_FROM]; j++, a++) {
			const double re = e_re[2 * j], im = e_im[2 * j], G_re = G[2 * j], G_im = G[2 * j + 1];
			x[0] += *a * (G_re * re + G_im * im);
			x[1] += *a * (G_im * re - G_re * im);
			W[0] += *a * *a;
			if (term == 0)
				W[1] += *a * amplitude_at(p, 1, &soft[1], j);
			else if (j >= other[HARD_FROM] && j < other[HARD_TO])
				W[1] += *a;
		}
}

/* Of both terms: G e^{-iL_c k_c} in four ways of row factor and part. */
typedef struct total { doubles by[2][4]; } total;

ALWAYS_INLINE void add_doubles(const floats *v, double re, double im, doubles *by_re, doubles *by_im)
{
	const quad low = __builtin_shufflevector(*v, *v, 0, 1, 2, 3), high = __builtin_shufflevector(*v, *v, 4, 5, 6, 7);
	const doubles d = __builtin_convertvector(low, doubles) + __builtin_convertvector(high, doubles);
	*by_re += re * d;
	*by_im += im * d;
}

ALWAYS_INLINE double pixels_in(int32_t from, int32_t to)
{
	return to > from ? (double)(to - from) : 0;
}

/* X_-+ and W's two sums of one q. The last rows of G are copied, so that whole vectors can be read. */
KERNEL static void add_rows(const worker *w, const float *G, double X[2][2], double W[2])
{
	const row_table *t = w->rows;
	const spans *s = &w->spans;
	total all = {{{{0}}}};
	row_part p = {.soft = {0, 0}};
	for (size_t i = 0; i < t->rows; i++) {
		const pixel_row *row = &t->row[i];
		const float *g = G + 2 * row->first, *e_re = w->e_re + 2 * row->column, *e_im = w->e_im + 2 * row->column;
		row_sums sum = {{{{0}}}};
		for (int term = 0; term < 2; term++)
			for (int k = 0; k < BOUNDS; k++)
				p.b[term][k] = s->bound[term][k][i];
		if (p.b[0][FROM] == p.b[0][TO] && p.b[1][FROM] == p.b[1][TO])
			continue;
		if (row->first + row->count + PAIRS > t->pixels.pixels)
			g = memcpy(w->tail, g, 2 * row->count * sizeof *g);
		add_hard(&p, g, e_re, e_im, &sum);
		for (int term = 0; term < 2; term++) {
			double x[2] = {0, 0};
			add_doubles(&sum.with[term][0], w->row_re[i], w->row_im[i], &all.by[term][0], &all.by[term][1]);
			add_doubles(&sum.with[term][1], w->row_re[i], w->row_im[i], &all.by[term][2], &all.by[term][3]);
			add_soft(&p, term, s->soft, g, e_re, e_im, x, W);
			X[term][0] += w->row_re[i] * x[0] + w->row_im[i] * x[1];
			X[term][1] += w->row_re[i] * x[1] - w->row_im[i] * x[0];
			W[0] += p.b[term][HARD_TO] - p.b[term][HARD_FROM];
		}
		for (int term = 0; term < 2; term++)
			p.soft[term] += (size_t)(p.b[term][TO] - p.b[term][HARD_TO] + p.b[term][HARD_FROM] - p.b[term][FROM]);
		const int32_t *m = p.b[0], *n = p.b[1];
		W[1] += pixels_in(m[HARD_FROM] > n[HARD_FROM] ? m[HARD_FROM] : n[HARD_FROM], m[HARD_TO] < n[HARD_TO] ? m[HARD_TO] : n[HARD_TO]);
	}
	for (int term = 0; term < 2; term++) {
		const doubles *d = all.by[term]; /* cos cos, cos sin, sin cos, sin sin: column's, row's */
		for (int i = 0; i < 4; i += 2) {
			X[term][0] += d[0][i] + d[1][i + 1] + d[2][i + 1] - d[3][i];
			X[term][1] += d[0][i + 1] - d[1][i] - d[2][i] - d[3][i + 1];
		}
	}
}

static sums sums_at(worker *w, const evidence *e, const frequency *f)
{
	const row_table *t = w->rows;
	const row_frequency at = row_frequency_make(t, f->q);
	if (!spans_find(&w->spans, w->table, &at))
		return (sums){.W = 0};
	spans_weigh(&w->spans, w->table);
	const double sign = f->conjugate ? -1 : 1, L[2] = {sign * at.psi.b[1][0], sign * at.psi.b[0][1]};
	const double chi = at.psi.b[1][0] * at.h[0] + at.psi.b[0][1] * at.h[1];
	double X[2][2] = {{0, 0}, {0, 0}}, W[2] = {0, 0};
	row_factors(w->table->r, L[0], t->rows, w->row_re, w->row_im);
	column_factors(t->c, L[1], t->columns, w->e_re, w->e_im);
	add_rows(w, (const float *)evidence_G(e, f->bin, 0, e->pixels, w->scratch), X, W);
	const double complex turn = CMPLX(cos(chi), sin(chi));
	return (sums){.S = turn * CMPLX(X[0][0], sign * X[0][1]) - conj(turn) * CMPLX(X[1][0], sign * X[1][1]),
	              .W = W[0] - 2 * cos(2 * chi) * W[1]};
}

bool quadratic_sums(const evidence *e, const row_table *t, const frequency *f, size_t count, sums *out)
{
	span_table table;
	bool ok = span_table_make(&table, t);
#pragma omp parallel reduction(&& : ok)
	{
		worker w = {0};
		ok = ok && worker_make(&w, t, &table);
#pragma omp for schedule(dynamic, 16)
		for (size_t i = 0; i < count; i++)
			if (ok)
				out[i] = sums_at(&w, e, &f[i]);
		worker_free(&w);
	}
	span_table_free(&table);
	return ok;
}
