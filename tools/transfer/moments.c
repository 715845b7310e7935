#include "tools/transfer/moments.h"

void monomials_fill(const double x[2], int degree, double *out)
{
	out[0] = 1;
	for (int d = 1; d <= degree; d++) {
		for (int b = 0; b < d; b++)
			out[monomial_at(d - b, b)] = out[monomial_at(d - 1 - b, b)] * x[0];
		out[monomial_at(0, d)] = out[monomial_at(0, d - 1)] * x[1];
	}
}

moment_layout moment_layout_make(int degree, int first, int step)
{
	moment_layout l = {.degree = degree, .first = first, .step = step};
	for (int d = first; d <= degree; d += step)
		for (int b = 0; b <= d; b++) {
			l.offset[monomial_at(d - b, b)] = l.size;
			l.size += monomials(degree - d);
		}
	return l;
}

void moment_table_add(const moment_layout *l, double *restrict table, const double *restrict y, const double *restrict moment, double factor)
{
	for (int d = l->first; d <= l->degree; d += l->step)
		for (size_t e = monomials(d - 1), f, n = monomials(l->degree - d); e < monomials(d); e++) {
			const double weight = factor * y[e];
			double *to = table + l->offset[e];
			for (f = 0; f < n; f++)
				to[f] += weight * moment[f];
		}
}

void bipolynomial_add(bipolynomial *out, const moment_layout *l, const polynomial *p, int odd, const int by[4], double factor)
{
	for (int i = 0; i < 7; i++)
		for (int j = 0; i + j < 7; j++)
			for (int a = 0; p->b[i][j] != 0 && a <= i; a++)
				for (int b = 0; b <= j; b++) {
					if ((a + b) % 2 != odd || a + b == 0)
						continue;
					const int xr = i - a + by[0], xc = j - b + by[1], yr = a + by[2], yc = b + by[3];
					out->term[out->count++] = (bipolynomial_term){
						.factor = factor * p->b[i][j] * polynomial_binomial[i][a] * polynomial_binomial[j][b],
						.x = {(unsigned char)xr, (unsigned char)xc}, .y = {(unsigned char)yr, (unsigned char)yc},
						.at = (unsigned short)(l->offset[monomial_at(yr, yc)] + monomial_at(xr, xc))};
				}
}

double moment_of(const double *table, const bipolynomial *b)
{
	double sum = 0;
	for (int i = 0; i < b->count; i++)
		sum += b->term[i].factor * table[b->term[i].at];
	return sum;
}

void moment_table_times(const moment_layout *pair, const double *table, const bipolynomial *b, const moment_layout *single, double *out)
{
	const int odd = (b->term[0].y[0] + b->term[0].y[1]) % 2;
	for (int d = odd ? 1 : 2; d <= single->degree; d += 2)
		for (int ec = 0; ec <= d; ec++)
			for (int df = 0; df <= single->degree - d; df++)
				for (int fc = 0; fc <= df; fc++) {
					double sum = 0;
					for (int i = 0; i < b->count; i++) {
						const bipolynomial_term *t = &b->term[i];
						const size_t e = monomial_at(d - ec + t->y[0], ec + t->y[1]), f = monomial_at(df - fc + t->x[0], fc + t->x[1]);
						sum += t->factor * table[pair->offset[e] + f];
					}
					out[single->offset[monomial_at(d - ec, ec)] + monomial_at(df - fc, fc)] = sum;
				}
}
