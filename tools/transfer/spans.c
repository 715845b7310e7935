#include "tools/transfer/spans.h"

#include <stdlib.h>
#include "tools/transfer/derivative.h"

bool span_table_make(span_table *t, const row_table *rows)
{
	const size_t n = rows->rows;
	*t = (span_table){.rows = rows, .r = malloc(3 * n * sizeof *t->r + 2 * n * sizeof *t->full_from + 1)};
	if (!t->r)
		return false;
	t->left = t->r + n;
	t->count = t->left + n;
	t->full_from = (int32_t *)(t->count + n);
	t->full_to = t->full_from + n;
	for (size_t i = 0; i < n; i++) {
		const pixel_row *row = &rows->row[i];
		const double *A = rows->pixels.aperture + row->first;
		size_t from = 0, to = row->count;
		while (from < to && A[from] < 1)
			from++;
		while (to > from && A[to - 1] < 1)
			to--;
		t->r[i] = row->r;
		t->left[i] = rows->c[row->column];
		t->count[i] = (double)row->count;
		t->full_from[i] = (int32_t)from;
		t->full_to[i] = (int32_t)to;
		t->extent = fmax(t->extent, hypot(row->r, fmax(fabs(t->left[i]), fabs(rows->c[row->column + row->count - 1]))));
	}
	return true;
}

void span_table_free(span_table *t)
{
	free(t->r);
	t->r = NULL;
}

bool spans_make(spans *s, const span_table *t)
{
	enum { DOUBLES = 8 };
	const size_t rows = (t->rows->rows + 1) & ~(size_t)1, pixels = (t->rows->pixels.pixels + 1) & ~(size_t)1;
	const size_t per_term = DOUBLES * pixels * sizeof(double) + (pixels + BOUNDS * rows) * sizeof(int32_t);
	*s = (spans){.memory = malloc(2 * per_term)};
	if (!s->memory)
		return false;
	for (int term = 0; term < 2; term++) {
		double *d = (double *)((char *)s->memory + (size_t)term * per_term);
		soft_list *l = &s->soft[term];
		double **const arrays[DOUBLES] = {&l->r, &l->c, &l->a, &l->a_r, &l->a_rr, &l->re, &l->im, &l->beat};
		for (int i = 0; i < DOUBLES; i++, d += pixels)
			*arrays[i] = d;
		l->pixel = (uint32_t *)d;
		for (size_t i = 0; i < BOUNDS; i++)
			s->bound[term][i] = (int32_t *)d + pixels + i * rows;
	}
	return true;
}

void spans_free(spans *s)
{
	free(s->memory);
	s->memory = NULL;
}

/* The columns whose k_c + qc is on the chord of a circle, as places from each row's first pixel on. */
KERNEL static void chords(const double *restrict r, const double *restrict left, const double *restrict count, size_t rows, double radius,
                          double qr, double qc, double step, int32_t *restrict from, int32_t *restrict to)
{
	const double per_step = 1 / step, whole = radius > 0 ? radius * radius : 0;
	for (size_t i = 0; i < rows; i++) {
		const double vr = r[i] + qr, square = whole - vr * vr, half = sqrt(square > 0 ? square : 0), middle = -qc - left[i];
		double low = (middle - half) * per_step, high = square > 0 ? (middle + half) * per_step + 1 : 0;
		low = low > 0 ? low : 0;
		low = low < count[i] ? low : count[i];
		high = high > 0 ? high : 0;
		high = high < count[i] ? high : count[i];
		const int32_t first = (int32_t)low + ((double)(int32_t)low < low), end = (int32_t)high;
		from[i] = first;
		to[i] = end > first ? end : first;
	}
}

/* Hard where both A(k) and A(k -+ q) are 1. */
KERNEL static void harden(const int32_t *restrict full_from, const int32_t *restrict full_to, size_t rows, const int32_t *restrict to,
                          int32_t *restrict hard_from, int32_t *restrict hard_to)
{
	for (size_t i = 0; i < rows; i++) {
		const int32_t first = full_from[i] > hard_from[i] ? full_from[i] : hard_from[i], end = full_to[i] < hard_to[i] ? full_to[i] : hard_to[i];
		hard_from[i] = first < end ? first : to[i];
		hard_to[i] = first < end ? end : to[i];
	}
}

static void list_soft(soft_list *l, const row_table *t, int32_t *const bound[BOUNDS], double qr, double qc)
{
	size_t n = 0;
	for (size_t i = 0; i < t->rows; i++) {
		const pixel_row *row = &t->row[i];
		for (int side = 0; side < 2; side++)
			for (int32_t j = bound[side ? HARD_TO : FROM][i]; j < bound[side ? TO : HARD_FROM][i]; j++) {
				l->pixel[n] = (uint32_t)(row->first + (size_t)j);
				l->r[n] = row->r + qr;
				l->c[n++] = t->c[row->column + (size_t)j] + qc;
			}
	}
	l->count = n;
}

bool spans_find(spans *s, const span_table *t, const row_frequency *f)
{
	const row_table *rows = t->rows;
	if (hypot(f->q[0], f->q[1]) > rows->reach + t->extent)
		return false;
	for (int term = 0; term < 2; term++) {
		const double qr = term == 0 ? -f->q[0] : f->q[0], qc = term == 0 ? -f->q[1] : f->q[1];
		int32_t *const *b = s->bound[term];
		chords(t->r, t->left, t->count, rows->rows, rows->reach, qr, qc, rows->step, b[FROM], b[TO]);
		chords(t->r, t->left, t->count, rows->rows, rows->inner, qr, qc, rows->step, b[HARD_FROM], b[HARD_TO]);
		harden(t->full_from, t->full_to, rows->rows, b[TO], b[HARD_FROM], b[HARD_TO]);
		list_soft(&s->soft[term], rows, b, qr, qc);
	}
	return true;
}

KERNEL static void weigh(const double *restrict A, const pixel_table *t, const uint32_t *restrict pixel, const double *restrict r,
                         const double *restrict c, size_t n, double *restrict a)
{
	const double alpha = t->semiangle, sampling[2] = {t->sampling[0], t->sampling[1]};
	for (size_t i = 0; i < n; i++)
		a[i] = A[pixel[i]] * aperture_value(r[i], c[i], alpha, alpha, sampling);
}

void spans_weigh(spans *s, const span_table *t)
{
	for (int term = 0; term < 2; term++) {
		soft_list *l = &s->soft[term];
		weigh(t->rows->pixels.aperture, &t->rows->pixels, l->pixel, l->r, l->c, l->count, l->a);
	}
}

KERNEL static void slopes(const pixel_table *t, const uint32_t *restrict pixel, const double *restrict r, const double *restrict c, size_t n,
                          const double turn[2], const double grow[2], double *restrict a, double *restrict a_r, double *restrict a_rr)
{
	const double *A = t->aperture, alpha = t->semiangle, sampling[2] = {t->sampling[0], t->sampling[1]};
	for (size_t i = 0; i < n; i++) {
		const double v[2] = {r[i], c[i]};
		double g[2], H[3], by[FRAME_DERIVATIVES];
		a[i] = A[pixel[i]] * aperture_gradient(v, alpha, alpha, sampling, g, H);
		frame_derivatives(g, H, turn, grow, -1, by);
		a_r[i] = A[pixel[i]] * by[BY_R];
		a_rr[i] = A[pixel[i]] * by[BY_RR];
	}
}

void spans_slopes(spans *s, const span_table *t, const row_frequency *f)
{
	const double sense = t->rows->pixels.transposed ? -1 : 1;
	for (int term = 0; term < 2; term++) {
		const double sign = term == 0 ? -1 : 1;
		const double turn[2] = {sign * sense * f->q[1], -sign * sense * f->q[0]}, grow[2] = {-sign * f->q[0], -sign * f->q[1]};
		soft_list *l = &s->soft[term];
		slopes(&t->rows->pixels, l->pixel, l->r, l->c, l->count, turn, grow, l->a, l->a_r, l->a_rr);
	}
}

/* re, im hold psi of the term and of the other. */
KERNEL static void turn(double *restrict re, double *restrict im, double *restrict beat, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double unused;
		sine_cosine(re[i] - im[i], &unused, &beat[i]);
		sine_cosine(re[i], &im[i], &re[i]);
	}
}

void spans_phases(spans *s, const row_frequency *f)
{
	for (int term = 0; term < 2; term++) {
		const double sign = term == 0 ? 1 : -1;
		const double h[2] = {sign * f->h[0], sign * f->h[1]}; /* u = k -+ h from k -+ q, and of the other term */
		soft_list *l = &s->soft[term];
		polynomial_values(&f->psi, l->r, l->c, h[0], h[1], l->count, l->re);
		polynomial_values(&f->psi, l->r, l->c, 3 * h[0], 3 * h[1], l->count, l->im);
		turn(l->re, l->im, l->beat, l->count);
	}
}
