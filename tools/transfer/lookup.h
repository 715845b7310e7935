/* The exhaustive search, element by element, for host and CUDA (physics.md section 5, search 2). With quadratic chi,
 *   S(q) = e^{i chi(q)} X_-(u) - e^{-i chi(q)} X_+(u),  X_-+(u) = sum_k G A A_-+ e^{-i u.k},  u = 2 pi lambda C q,
 * so one zero-padded transform over the detector per q serves every (C10, C12a, C12b) by a look-up, and W is closed form. Orders that
 * are held go into the transforms: G e^{i(...)} in place of G. */
#ifndef TRANSFER_LOOKUP_H
#define TRANSFER_LOOKUP_H

#include "tools/transfer/pixels.h"
#include "tools/transfer/sincos.h"

/* One q, ready for look-ups. */
typedef struct lookup {
	double index[3][2];  /* steps of u on the padded grid per A of C10, C12a, C12b */
	double chi[3];       /* chi(q) in rad per A of each */
	double m;
	double W[3];         /* W0, W1 of W = W0 - Re[W1 e^{-2i chi(q)}] */
} lookup;

/* Pixel b's elements X[0] of X_-, X[1] of X_+ (re, im), and its share of W, which is added. False: outside both, nothing is set.
 * qd: q in the detector frame. */
SSB_HD bool lookup_element(const pixel_table *t, size_t b, const double q[2], const double qd[2], double G_re, double G_im, double X[2][2],
                           double W[3])
{
	const double kr = t->detector[0][b], kc = t->detector[1][b], A = t->aperture[b];
	const double minus = A * aperture_value(kr - qd[0], kc - qd[1], t->wavelength, t->semiangle, t->sampling);
	const double plus = A * aperture_value(kr + qd[0], kc + qd[1], t->wavelength, t->semiangle, t->sampling);
	if (minus == 0 && plus == 0)
		return false;
	const double h = t->chi_k[b];
	const double chi_m = polynomial_value(&t->chi, t->scan[0][b] - q[0], t->scan[1][b] - q[1]);
	const double chi_p = polynomial_value(&t->chi, t->scan[0][b] + q[0], t->scan[1][b] + q[1]);
	const double phase[2] = {chi_m - h, h - chi_p}, amplitude[2] = {minus, plus};
	for (int i = 0; i < 2; i++) {
		const double c = cos(phase[i]), s = sin(phase[i]);
		X[i][0] = amplitude[i] * (G_re * c - G_im * s);
		X[i][1] = amplitude[i] * (G_re * s + G_im * c);
	}
	W[0] += minus * minus + plus * plus;
	if (minus * plus > 0) {
		W[1] += 2 * minus * plus * cos(2 * h - chi_m - chi_p);
		W[2] += 2 * minus * plus * sin(2 * h - chi_m - chi_p);
	}
	return true;
}

/* The nearest grid point to `index`, modulo the periodic grid's size; without an integer division, which would cost more than the rest. */
SSB_HD size_t lookup_wrap(double index, double size)
{
	const double turns = index / size;
	const size_t i = (size_t)((turns - floor(turns)) * size + 0.5);
	return i < (size_t)size ? i : 0;
}

/* m |S|^2 / max(W, floor) for C = (C10, C12a, C12b) in A, from the transforms of this q (complex, size[0] x size[1]). */
SSB_HD double lookup_score(const lookup *l, const size_t size[2], const float *X_minus, const float *X_plus, const double C[3],
                           double floor)
{
	const size_t r = lookup_wrap(l->index[0][0] * C[0] + l->index[1][0] * C[1] + l->index[2][0] * C[2], (double)size[0]);
	const size_t c = lookup_wrap(l->index[0][1] * C[0] + l->index[1][1] * C[1] + l->index[2][1] * C[2], (double)size[1]);
	double sine, cosine;
	sine_cosine(l->chi[0] * C[0] + l->chi[1] * C[1] + l->chi[2] * C[2], &sine, &cosine);
	const float *m = X_minus + 2 * (r * size[1] + c), *p = X_plus + 2 * (r * size[1] + c);
	const double re = (cosine * m[0] - sine * m[1]) - (cosine * p[0] + sine * p[1]);
	const double im = (cosine * m[1] + sine * m[0]) - (cosine * p[1] - sine * p[0]);
	const double W = l->W[0] - (l->W[1] * (cosine * cosine - sine * sine) + l->W[2] * (2 * cosine * sine));
	return l->m * (re * re + im * im) / (W > floor ? W : floor);
}

#endif
