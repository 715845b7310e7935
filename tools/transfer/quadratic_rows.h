/* What sums over k of a quadratic chi go by, row by row: see quadratic.h. */
#ifndef TRANSFER_QUADRATIC_ROWS_H
#define TRANSFER_QUADRATIC_ROWS_H

#include <complex.h>
#include <string.h>
#include "tools/transfer/lanes.h"
#include "tools/transfer/quadratic.h"
#include "tools/transfer/spans.h"

enum { MOST_POWER = 2, ROWS_AHEAD = 8 };

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

/* A row's part of one q: its bounds by term, the pixels hard in both, and where its soft pixels are in their lists. */
typedef struct row_part {
	int32_t b[2][BOUNDS], both_from, both_to;
	size_t soft[2], soft_next[2];
} row_part;

/* Go on to this row: rows must be taken in order, from p->soft_next = {0, 0}. False where it has no pixel. */
ALWAYS_INLINE bool row_part_take(row_part *p, const spans *s, size_t row)
{
	for (int term = 0; term < 2; term++) {
		int32_t *b = p->b[term];
		for (int k = 0; k < BOUNDS; k++)
			b[k] = s->bound[term][k][row];
		p->soft[term] = p->soft_next[term];
		p->soft_next[term] += (size_t)(b[HARD_FROM] - b[FROM] + b[TO] - b[HARD_TO]);
	}
	const int32_t *m = p->b[0], *n = p->b[1];
	p->both_from = m[HARD_FROM] > n[HARD_FROM] ? m[HARD_FROM] : n[HARD_FROM];
	p->both_to = m[HARD_TO] < n[HARD_TO] ? m[HARD_TO] : n[HARD_TO];
	p->both_to = p->both_to > p->both_from ? p->both_to : p->both_from;
	return m[FROM] < m[TO] || n[FROM] < n[TO];
}

/* Where the hard pixels of both terms are, without what is between them; returns how many runs. */
ALWAYS_INLINE int row_runs(const row_part *p, int32_t run[2][2])
{
	const int left = p->b[1][HARD_FROM] < p->b[0][HARD_FROM];
	const int32_t *first = p->b[left], *second = p->b[!left];
	const bool apart = first[HARD_TO] + PAIRS <= second[HARD_FROM]; /* lest a vector of one ends in the other */
	run[0][0] = first[HARD_FROM];
	run[0][1] = apart || first[HARD_TO] > second[HARD_TO] ? first[HARD_TO] : second[HARD_TO];
	run[1][0] = second[HARD_FROM];
	run[1][1] = second[HARD_TO];
	return apart ? 2 : 1;
}

/* The place of pixel j of the row in a term's list of soft pixels. */
enum { HARD = -1, OUTSIDE = -2 };
ALWAYS_INLINE long row_soft_at(const row_part *p, int term, int32_t j)
{
	const int32_t *b = p->b[term];
	if (j < b[FROM] || j >= b[TO])
		return OUTSIDE;
	if (j >= b[HARD_FROM] && j < b[HARD_TO])
		return HARD;
	return (long)p->soft[term] + (j < b[HARD_FROM] ? j - b[FROM] : j - b[HARD_TO] + b[HARD_FROM] - b[FROM]);
}

/* G of a row, whose end a vector may overrun. */
ALWAYS_INLINE const float *row_G(const quadratic_worker *w, size_t row, const float *G)
{
	const pixel_row *r = &w->rows->row[row];
	if (r->first + r->count + PAIRS > w->rows->pixels.pixels)
		return memcpy(w->tail, G + 2 * r->first, 2 * r->count * sizeof *G);
	return G + 2 * r->first;
}

/* Ask for the G of a row some time before its turn: rows are too short for the hardware to guess. */
ALWAYS_INLINE void row_prefetch(const row_table *t, const spans *s, size_t row, const float *G)
{
	enum { LINE = 64 / (2 * sizeof(float)) };
	if (row >= t->rows)
		return;
	for (int term = 0; term < 2; term++)
		for (int32_t j = s->bound[term][FROM][row]; j < s->bound[term][TO][row]; j += LINE)
			__builtin_prefetch(G + 2 * (t->row[row].first + (size_t)j));
}

#endif
