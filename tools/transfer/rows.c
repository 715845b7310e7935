#include "tools/transfer/rows.h"

#include <stdlib.h>
#include <string.h>

/* Row and column of each BF pixel into rows of side-by-side pixels; `left`: the first column of all. */
static void find_rows(row_table *t, const evidence *e, int32_t left)
{
	for (size_t b = 0, end; b < e->pixels; b = end) {
		for (end = b + 1; end < e->pixels && e->pixel[end][0] == e->pixel[b][0] && e->pixel[end][1] == e->pixel[end - 1][1] + 1;)
			end++;
		t->row[t->rows++] = (pixel_row){
			.first = b, .count = end - b, .column = (size_t)(e->pixel[b][1] - left), .r = t->pixels.detector[0][b] / t->unit};
		t->most_pieces += (end - b) / PIECE + 2;
	}
}

bool row_table_make(row_table *t, const evidence *e, const optics_parameters *p)
{
	*t = (row_table){0};
	if (!pixel_table_make(&t->pixels, e, p))
		return false;
	const pixel_table *x = &t->pixels;
	const double widest = fmax(x->sampling[0], x->sampling[1]) / x->semiangle;
	int32_t left = INT32_MAX, right = INT32_MIN;
	for (size_t b = 0; b < e->pixels; b++) {
		left = e->pixel[b][1] < left ? e->pixel[b][1] : left;
		right = e->pixel[b][1] > right ? e->pixel[b][1] : right;
	}
	t->unit = x->semiangle / x->wavelength;
	t->reach = 1 + widest / 2;
	t->inner = 1 - widest / 2;
	t->step = x->sampling[1] / x->semiangle;
	t->chi = row_polynomial(t, &x->chi);
	t->columns = (size_t)(right - left) + 1;
	t->row = malloc((e->pixels + 1) * sizeof *t->row);
	t->c = calloc(t->columns + COLUMN_ROOM, sizeof *t->c);
	if (!t->row || !t->c) {
		row_table_free(t);
		return false;
	}
	for (size_t i = 0; i < t->columns; i++)
		t->c[i] = ((double)left + (double)i - e->geometry.centre_px[1]) * t->step;
	find_rows(t, e, left);
	return true;
}

void row_table_free(row_table *t)
{
	pixel_table_free(&t->pixels);
	free(t->row);
	free(t->c);
	t->row = NULL;
	t->c = NULL;
}

/* Multiply a form in (r, c), given by the power of c, by x r + y c. */
static void multiply_form(double form[7], double x, double y)
{
	for (int k = 6; k >= 0; k--)
		form[k] = x * form[k] + (k > 0 ? y * form[k - 1] : 0);
}

polynomial row_polynomial(const row_table *t, const polynomial *p)
{
	const double er[2] = {t->unit, 0}, ec[2] = {0, t->unit};
	double r[2], c[2]; /* the images of the unit vectors */
	to_scan_frame(er, t->pixels.transposed, t->pixels.cosine, t->pixels.sine, r);
	to_scan_frame(ec, t->pixels.transposed, t->pixels.cosine, t->pixels.sine, c);
	polynomial out = {.degree = p->degree};
	for (int i = 0; i < 7; i++)
		for (int j = 0; i + j < 7; j++) {
			double form[7] = {p->b[i][j]};
			for (int k = 0; k < i; k++)
				multiply_form(form, r[0], c[0]);
			for (int k = 0; k < j; k++)
				multiply_form(form, r[1], c[1]);
			for (int k = 0; k <= i + j; k++)
				out.b[i + j - k][k] += form[k];
		}
	return out;
}

polynomial row_difference(const polynomial *p, const double h[2])
{
	double hr[7] = {1}, hc[7] = {1};
	for (int i = 1; i < 7; i++) {
		hr[i] = hr[i - 1] * h[0];
		hc[i] = hc[i - 1] * h[1];
	}
	polynomial d = {.degree = p->degree - 1};
	for (int i = 0; i <= p->degree; i++)
		for (int j = 0; i + j <= p->degree; j++)
			for (int a = 0; a <= i; a++)
				for (int b = 1 - a % 2; b <= j; b += 2)
					d.b[i - a][j - b] += 2 * p->b[i][j] * polynomial_binomial[i][a] * polynomial_binomial[j][b] * hr[a] * hc[b];
	return d;
}

row_frequency row_frequency_make(const row_table *t, const double q[2])
{
	const pixel_table *x = &t->pixels;
	row_frequency f = {.q2 = q[0] * q[0] + q[1] * q[1], .tilt_phase = 2 * M_PI * (q[0] * x->tilt[0] + q[1] * x->tilt[1])};
	to_detector_frame(q, x->transposed, x->cosine, x->sine, f.q);
	for (int axis = 0; axis < 2; axis++) {
		f.q[axis] /= t->unit;
		f.h[axis] = f.q[axis] / 2;
	}
	f.psi = row_difference(&t->chi, f.h);
	return f;
}

/* The columns whose k_c + qc is on the chord of a circle, as places from c_first on, below `count`. */
static void chord(double radius, double vr, double c_first, double qc, double step, size_t count, size_t *from, size_t *to)
{
	const double square = radius * radius - vr * vr, half = square > 0 && radius > 0 ? sqrt(square) : 0;
	const double low = (-half - qc - c_first) / step, high = (half - qc - c_first) / step;
	*from = *to = 0;
	if (half == 0 || low > (double)count || high < 0)
		return;
	*from = low > 0 ? (size_t)low + ((double)(size_t)low < low) : 0;
	*to = high < (double)count ? (size_t)high + 1 : count;
	if (*to < *from)
		*from = *to = 0;
}

/* Pixels begin … end - 1 of a row in pieces; from, to of both terms and of both inner intervals are relative to the row. */
static size_t cut(const pixel_row *row, size_t begin, size_t end, const size_t from[2][2], const size_t to[2][2], piece *list)
{
	size_t n = 0;
	for (size_t at = begin; at < end; at += PIECE) {
		piece p = {.first = row->first + at, .count = end - at < PIECE ? end - at : PIECE, .column = row->column + at, .r = row->r};
		for (int i = 0; i < 2; i++) {
			size_t *const bound[4] = {&p.from[i], &p.to[i], &p.inner_from[i], &p.inner_to[i]};
			const size_t in_row[4] = {from[i][0], to[i][0], from[i][1], to[i][1]};
			for (int k = 0; k < 4; k++)
				*bound[k] = in_row[k] < at ? 0 : in_row[k] - at > p.count ? p.count : in_row[k] - at;
			if (p.inner_from[i] >= p.inner_to[i])
				p.inner_from[i] = p.inner_to[i] = p.to[i];
		}
		list[n++] = p;
	}
	return n;
}

size_t row_pieces(const row_table *t, const row_frequency *f, piece *list)
{
	size_t n = 0;
	for (size_t i = 0; i < t->rows; i++) {
		const pixel_row *row = &t->row[i];
		size_t from[2][2], to[2][2]; /* [term][0: overlap, 1: inner] */
		for (int term = 0; term < 2; term++) {
			const int sign = term == 0 ? -1 : 1;
			const double vr = row->r + sign * f->q[0], qc = sign * f->q[1], c = t->c[row->column];
			chord(t->reach, vr, c, qc, t->step, row->count, &from[term][0], &to[term][0]);
			chord(t->inner, vr, c, qc, t->step, row->count, &from[term][1], &to[term][1]);
		}
		const int left = from[1][0] < from[0][0];
		const bool apart = to[left][0] <= from[!left][0] || to[0][0] == 0 || to[1][0] == 0;
		if (apart) {
			n += cut(row, from[left][0], to[left][0], from, to, list + n);
			n += cut(row, from[!left][0], to[!left][0], from, to, list + n);
		} else {
			n += cut(row, from[left][0], to[0][0] > to[1][0] ? to[0][0] : to[1][0], from, to, list + n);
		}
	}
	return n;
}
