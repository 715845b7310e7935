/* The overlaps of one q in all rows of pixels at once, for the sums of single precision: per row and term (0: T_-, 1: T_+) the pixels
 * covered, those of them where A(k) A(k -+ q) is 1 (hard), and a list of the others (soft) with their amplitudes. Units and frame are
 * those of rows.h. */
#ifndef TRANSFER_SPANS_H
#define TRANSFER_SPANS_H

#include <string.h>
#include "tools/transfer/lanes.h"
#include "tools/transfer/rows.h"

/* What the overlaps of all q share, by row of pixels. */
typedef struct span_table {
	const row_table *rows;
	double *r, *left, *count;        /* k_r, k_c of the first pixel, pixels */
	int32_t *full_from, *full_to;    /* where A(k) = 1 */
	double extent;                   /* the largest |k| */
} span_table;

/* False when memory runs out. rows must stay. */
bool span_table_make(span_table *t, const row_table *rows);
void span_table_free(span_table *t);

/* Pixels from … hard_from - 1 and hard_to … to - 1 of a row are soft, in this order. */
enum { ROWS_AHEAD = 8 }; /* to prefetch */
enum { FROM, TO, HARD_FROM, HARD_TO, BOUNDS };

typedef struct soft_list {
	size_t count;
	uint32_t *pixel;     /* BF pixels */
	double *r, *c;       /* k -+ q */
	double *a;           /* A(k) A(k -+ q) */
	double *a_r, *a_rr;  /* its derivatives by the rotation (spans_slopes) */
	double *re, *im;     /* e^{i psi} (spans_phases) */
	double *beat;        /* cos(psi_- - psi_+), too */
} soft_list;

typedef struct spans {
	int32_t *bound[2][BOUNDS];
	soft_list soft[2];
	void *memory;
} spans;

/* Room for one q of this table. False when memory runs out. */
bool spans_make(spans *s, const span_table *t);
void spans_free(spans *s);

/* The overlaps of f; false where there are none. */
bool spans_find(spans *s, const span_table *t, const row_frequency *f);

/* The amplitudes of the soft pixels; spans_slopes: with their derivatives by the rotation. */
void spans_weigh(spans *s, const span_table *t);
void spans_slopes(spans *s, const span_table *t, const row_frequency *f);

/* Their phases. */
void spans_phases(spans *s, const row_frequency *f);

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
	const bool apart = first[HARD_TO] + FLOATS <= second[HARD_FROM]; /* lest a vector of one ends in the other */
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

/* G of a row, whose end a vector may overrun: the last rows come in `tail`, 2 (columns + FLOATS). */
ALWAYS_INLINE const float *row_G(const row_table *t, size_t row, const float *G, float *tail)
{
	const pixel_row *r = &t->row[row];
	if (r->first + r->count + FLOATS > t->pixels.pixels)
		return memcpy(tail, G + 2 * r->first, 2 * r->count * sizeof *G);
	return G + 2 * r->first;
}

/* Ask for the G of a row some time before its turn: rows are too short for the hardware to guess. */
ALWAYS_INLINE void row_prefetch(const row_table *t, const spans *s, size_t row, const float *G)
{
	enum { LINE = 64 / (2 * sizeof(float)) };
	if (row >= t->rows)
		return;
	const int32_t from = s->bound[0][FROM][row], to = s->bound[0][TO][row], other_from = s->bound[1][FROM][row], other_to = s->bound[1][TO][row];
	const bool apart = other_to <= from || other_from >= to, before = other_from < from;
	const float *g = G + 2 * t->row[row].first;
	for (int32_t j = from; j < to; j += LINE)
		__builtin_prefetch(g + 2 * j);
	for (int32_t j = apart || before ? other_from : to, end = apart || !before ? other_to : from; j < end; j += LINE)
		__builtin_prefetch(g + 2 * j);
}

#endif
