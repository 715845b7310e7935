#include "tools/transfer/thin.h"

#include <stdlib.h>
#include "tools/transfer/cpu.h"
#include "tools/transfer/spans.h"

enum { MOST_COEFFICIENTS = 6 };

/* What a thread needs for one q. */
typedef struct thin_worker {
	const row_table *rows;
	const span_table *table;
	spans spans;
	float complex *scratch;  /* for G */
	float *tail;             /* for the last rows of G: whole vectors are read */
	double *b[2][MOST_COEFFICIENTS]; /* psi of each term along each row, in turns, as a polynomial of u_c */
} thin_worker;

static bool thin_worker_make(thin_worker *w, const span_table *table)
{
	const row_table *rows = table->rows;
	*w = (thin_worker){.rows = rows, .table = table};
	w->scratch = malloc(rows->pixels.pixels * sizeof *w->scratch);
	w->tail = calloc(2 * (rows->columns + FLOATS), sizeof *w->tail);
	w->b[0][0] = malloc((2 * MOST_COEFFICIENTS * rows->rows + 1) * sizeof(double));
	if (!spans_make(&w->spans, table) || !w->scratch || !w->tail || !w->b[0][0])
		return false;
	for (size_t i = 1; i < 2 * MOST_COEFFICIENTS; i++)
		w->b[i / MOST_COEFFICIENTS][i % MOST_COEFFICIENTS] = w->b[0][0] + i * rows->rows;
	return true;
}

static void thin_worker_free(thin_worker *w)
{
	spans_free(&w->spans);
	free(w->scratch);
	free(w->tail);
	free(w->b[0][0]);
}

/* One coefficient for all rows. */
KERNEL static void coefficients(const double *restrict r, double shift, const double by_r[MOST_COEFFICIENTS], size_t n, double *restrict out)
{
	for (size_t i = 0; i < n; i++) {
		const double u = r[i] + shift;
		out[i] = by_r[0] + u * (by_r[1] + u * (by_r[2] + u * (by_r[3] + u * (by_r[4] + u * by_r[5]))));
	}
}

static void fill_coefficients(thin_worker *w, const row_frequency *f)
{
	for (int term = 0; term < 2; term++)
		for (int j = 0; j <= f->psi.degree; j++) {
			double by_r[MOST_COEFFICIENTS];
			for (int i = 0; i < MOST_COEFFICIENTS; i++)
				by_r[i] = i + j <= f->psi.degree ? f->psi.b[i][j] / (2 * M_PI) : 0;
			coefficients(w->table->r, term == 0 ? -f->h[0] : f->h[0], by_r, w->rows->rows, w->b[term][j]);
		}
}

/* psi in turns, less whole ones, of FLOATS pixels with these k_c. */
ALWAYS_INLINE void reduced_phase(const double *c, double shift, const double b[MOST_COEFFICIENTS], int degree, floats *t)
{
	const double whole = 0x1.8p52;
	quad half[2];
	for (int i = 0; i < 2; i++) {
		const doubles u = *(const doubles_anywhere *)(c + 4 * i) + shift;
		const doubles uu = u * u, high = degree > 3 ? uu * (b[4] + u * b[5]) : (doubles){0};
		const doubles x = (b[0] + u * b[1]) + uu * (degree > 2 ? (b[2] + u * b[3]) + high : b[2] + high);
		half[i] = __builtin_convertvector(x - ((x + whole) - whole), quad);
	}
	*t = __builtin_shufflevector(half[0], half[1], 0, 1, 2, 3, 4, 5, 6, 7);
}

/* Real and imaginary part of S, and of the product in W, of one row's lanes. */
typedef struct thin_lanes { floats re, im, beat; } thin_lanes;

/* Add the hard pixels from … to - 1 of a row. */
ALWAYS_INLINE void add_thin_run(const row_part *p, const float *G, const double *c, const double shift[2], const double b[2][MOST_COEFFICIENTS],
                                int degree, int32_t from, int32_t to, thin_lanes *sum)
{
	ints at = (ints){0, 1, 2, 3, 4, 5, 6, 7} + from;
	for (int32_t j = from; j < to; j += FLOATS, at += FLOATS) {
		const floats low = LOAD_FLOATS(G + 2 * j), high = LOAD_FLOATS(G + 2 * j + FLOATS);
		const floats G_re = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
		const floats G_im = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
		floats e_re[2] = {{0}}, e_im[2] = {{0}};
		for (int term = 0; term < 2; term++) {
			floats t;
			if (j + FLOATS <= p->b[term][HARD_FROM] || j >= p->b[term][HARD_TO])
				continue;
			const ints inside = (at >= p->b[term][HARD_FROM]) & (at < p->b[term][HARD_TO]);
			reduced_phase(c + j, shift[term], b[term], degree, &t);
			sine_cosine_turns(&t, &e_im[term], &e_re[term]);
			e_re[term] = (floats)((ints)e_re[term] & inside);
			e_im[term] = (floats)((ints)e_im[term] & inside);
		}
		const floats re = e_re[0] - e_re[1], im = e_im[0] - e_im[1];
		sum->re += G_re * re + G_im * im;
		sum->im += G_im * re - G_re * im;
		sum->beat += e_re[0] * e_re[1] + e_im[0] * e_im[1];
	}
}

/* Add a term's soft pixels of a row to S (re, im) and W; `sign` is that of Im G. */
ALWAYS_INLINE void add_thin_soft(const row_part *p, int term, const soft_list soft[2], const float *G, double sign, double s[3])
{
	const int32_t *b = p->b[term];
	const soft_list *l = &soft[term];
	size_t at = p->soft[term];
	for (int side = 0; side < 2; side++)
		for (int32_t j = b[side ? HARD_TO : FROM]; j < b[side ? TO : HARD_FROM]; j++, at++) {
			const double a = l->a[at], z = term == 0 ? a : -a, G_re = G[2 * j], G_im = sign * G[2 * j + 1];
			const long other = row_soft_at(p, !term, j);
			const double b_ = other == HARD ? 1 : other >= 0 && term == 0 ? soft[1].a[other] : 0;
			s[0] += z * (G_re * l->re[at] + G_im * l->im[at]);
			s[1] += z * (G_im * l->re[at] - G_re * l->im[at]);
			s[2] += a * (a - 2 * b_ * l->beat[at]);
		}
}

ALWAYS_INLINE void add_lanes(const floats *v, doubles *sum)
{
	doubles d;
	floats_to_doubles(v, &d);
	*sum += d;
}

/* S (re, im) and W of one q. A conjugate of G is taken by that of e^{i psi}. */
ALWAYS_INLINE void add_thin_rows_of(const thin_worker *w, const row_frequency *f, const float *G, double sign, int degree, double s[3])
{
	const row_table *t = w->rows;
	const double shift[2] = {-f->h[1], f->h[1]};
	doubles re = {0}, im = {0}, beat = {0};
	row_part p = {.soft_next = {0, 0}};
	for (size_t i = 0; i < t->rows; i++) {
		thin_lanes sum = {{0}, {0}, {0}};
		double b[2][MOST_COEFFICIENTS];
		int32_t run[2][2];
		row_prefetch(t, &w->spans, i + ROWS_AHEAD, G);
		if (!row_part_take(&p, &w->spans, i))
			continue;
		for (int k = 0; k <= degree; k++) {
			b[0][k] = sign * w->b[0][k][i];
			b[1][k] = sign * w->b[1][k][i];
		}
		const float *g = row_G(t, i, G, w->tail);
		const int runs = row_runs(&p, run);
		for (int k = 0; k < runs; k++)
			add_thin_run(&p, g, t->c + t->row[i].column, shift, b, degree, run[k][0], run[k][1], &sum);
		add_lanes(&sum.re, &re);
		add_lanes(&sum.im, &im);
		add_lanes(&sum.beat, &beat);
		for (int term = 0; term < 2; term++) {
			add_thin_soft(&p, term, w->spans.soft, g, sign, s);
			s[2] += p.b[term][HARD_TO] - p.b[term][HARD_FROM];
		}
	}
	for (int i = 0; i < 4; i++) {
		s[0] += re[i];
		s[1] += sign * im[i];
		s[2] -= 2 * beat[i];
	}
}

LANES_KERNEL static void add_thin_rows(const thin_worker *w, const row_frequency *f, const float *G, double sign, double s[3])
{
	if (f->psi.degree <= 2)
		add_thin_rows_of(w, f, G, sign, 2, s);
	else if (f->psi.degree == 3)
		add_thin_rows_of(w, f, G, sign, 3, s);
	else
		add_thin_rows_of(w, f, G, sign, 5, s);
}

static sums thin_sums_at(thin_worker *w, const evidence *e, const frequency *f)
{
	double s[3] = {0, 0, 0};
	row_frequency at = row_frequency_make(w->rows, f->q);
	if (!spans_find(&w->spans, w->table, &at))
		return (sums){.W = 0};
	spans_weigh(&w->spans, w->table);
	spans_phases(&w->spans, &at);
	at.psi.degree = at.psi.degree <= 2 ? 2 : at.psi.degree == 3 ? 3 : 5;
	fill_coefficients(w, &at);
	add_thin_rows(w, &at, (const float *)evidence_G(e, f->bin, 0, e->pixels, w->scratch), f->conjugate ? -1 : 1, s);
	return (sums){.S = CMPLX(s[0], s[1]), .W = s[2]};
}

bool thin_sums(const evidence *e, const row_table *t, const frequency *f, size_t count, sums *out)
{
	span_table table;
	bool ok = true;
	if (!span_table_make(&table, t))
		return false;
#pragma omp parallel reduction(&& : ok)
	{
		thin_worker w = {0};
		ok = thin_worker_make(&w, &table);
#pragma omp for schedule(dynamic, bins_per_turn(count))
		for (size_t i = 0; i < count; i++)
			if (ok)
				out[i] = thin_sums_at(&w, e, &f[i]);
		thin_worker_free(&w);
	}
	span_table_free(&table);
	return ok;
}
