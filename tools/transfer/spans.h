/* The overlaps of one q in all rows of pixels at once, for the sums of single precision: per row and term (0: T_-, 1: T_+) the pixels
 * covered, those of them where A(k) A(k -+ q) is 1 (hard), and a list of the others (soft) with their amplitudes. Units and frame are
 * those of rows.h. */
#ifndef TRANSFER_SPANS_H
#define TRANSFER_SPANS_H

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
enum { FROM, TO, HARD_FROM, HARD_TO, BOUNDS };

typedef struct soft_list {
	size_t count;
	uint32_t *pixel;     /* BF pixels */
	double *r, *c;       /* k -+ q */
	double *a;           /* A(k) A(k -+ q) */
	double *a_r, *a_rr;  /* its derivatives by the rotation, when asked for */
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

#endif
