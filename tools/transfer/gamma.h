/* The transfer function gamma(q,k) = P(k-q) P*(k) w_- - P*(k+q) P(k) w_+ (physics.md section 3), element by element.
 *
 * Each term is T = a w e^{i psi}: a = A(k) A(k-+q), psi_- = chi(k) - chi(k-q), psi_+ = chi(k+q) - chi(k), w = sin(x)/x with
 * x = rate t / 2. Aberrations enter psi only, tilt and thickness w only, the rotation and the sampling all three. Written once for host
 * and CUDA. */
#ifndef TRANSFER_GAMMA_H
#define TRANSFER_GAMMA_H

#include "tools/transfer/optics.h"
#include "tools/transfer/sincos.h"

#define GAMMA_ZERO 1e-8 /* |gamma| below it counts as no overlap where gamma is divided by its modulus (physics.md section 5) */

/* Whether k-q or k+q can lie inside the aperture, which ends at |v|^2 = reach2; k, q in the detector frame. */
SSB_HD bool in_overlap(double kr, double kc, double qr, double qc, double reach2)
{
	const double mr = kr - qr, mc = kc - qc, pr = kr + qr, pc = kc + qc;
	const double m2 = mr * mr + mc * mc, p2 = pr * pr + pc * pc;
	return (m2 < p2 ? m2 : p2) < reach2;
}

/* gamma = T_- - T_+ from their amplitudes and phases. */
SSB_HD void gamma_of_terms(double amplitude_m, double phase_m, double amplitude_p, double phase_p, double *re, double *im)
{
	double sm, cm, sp, cp;
	sine_cosine(phase_m, &sm, &cm);
	sine_cosine(phase_p, &sp, &cp);
	*re = amplitude_m * cm - amplitude_p * cp;
	*im = amplitude_m * sm - amplitude_p * sp;
}

/* 1/|gamma|, 0 without an overlap. */
SSB_HD double gamma_inverse(double g_re, double g_im)
{
	const double modulus = sqrt(g_re * g_re + g_im * g_im);
	return modulus > GAMMA_ZERO ? 1 / modulus : 0;
}

/* Add one pixel to S = sum G conj(gamma) (re, im) and W = sum |gamma|^2; with G conj(gamma)/|gamma| to U. */
SSB_HD void add_S(double G_re, double G_im, double g_re, double g_im, double *re, double *im)
{
	*re += G_re * g_re + G_im * g_im;
	*im += G_im * g_re - G_re * g_im;
}

SSB_HD void add_U(double G_re, double G_im, double g_re, double g_im, double *re, double *im)
{
	const double inverse = gamma_inverse(g_re, g_im);
	*re += (G_re * g_re + G_im * g_im) * inverse;
	*im += (G_im * g_re - G_re * g_im) * inverse;
}

/* Add 1/`share` of -i G conj(gamma)/|gamma|: one bin of the half-plane spectrum of a pixel's phase image (section 4). */
SSB_HD void add_sideband(double G_re, double G_im, double g_re, double g_im, double share, double *re, double *im)
{
	const double inverse = gamma_inverse(g_re, g_im) / share;
	*re += (G_im * g_re - G_re * g_im) * inverse;
	*im -= (G_re * g_re + G_im * g_im) * inverse;
}

/* sin(x)/x; by its series near 0. */
SSB_HD double sinc_value(double x)
{
	double s, c;
	const double x2 = x * x;
	sine_cosine(x, &s, &c);
	return x2 < 1e-4 ? 1 - x2 / 6 * (1 - x2 / 20 * (1 - x2 / 42)) : s / x;
}

/* sin(x)/x and its first two derivatives. */
SSB_HD void sinc_path(double x, double w[3])
{
	double s, c;
	const double x2 = x * x;
	sine_cosine(x, &s, &c);
	const double first = (c - s / x) / x;
	w[0] = x2 < 1e-4 ? 1 - x2 / 6 * (1 - x2 / 20 * (1 - x2 / 42)) : s / x;
	w[1] = x2 < 1e-4 ? -x / 3 * (1 - x2 / 10 * (1 - x2 / 28)) : first;
	w[2] = x2 < 1e-4 ? -1.0 / 3 + x2 / 10 - x2 * x2 / 168 : -s / x - 2 * first / x;
}

/* The rate of physics.md section 3 for the term of `sign` (-1: k-q, +1: k+q): q, k in the scan frame, tilt_phase = 2 pi q.tau. */
SSB_HD double thickness_rate(int sign, double wavelength, double q2, double kq, double tilt_phase)
{
	return sign * M_PI * wavelength * (q2 + sign * 2 * kq) - tilt_phase;
}

/* A with its gradient g[2] and Hessian H[3] (rr, rc, cc) at v in the detector frame: those of the ramp and 0 off it (its kinks are
 * ignored). */
SSB_HD double aperture_gradient(const double v[2], double wavelength, double semiangle, const double sampling[2], double g[2], double H[3])
{
	const double S[2] = {sampling[0] * sampling[0], sampling[1] * sampling[1]}, Sv[2] = {S[0] * v[0], S[1] * v[1]};
	const double a = v[0] * v[0] + v[1] * v[1], b = v[0] * Sv[0] + v[1] * Sv[1];
	const bool centre = !(a > 0);
	const double a_ = centre ? 1 : a, b_ = centre ? 1 : b;
	const double ra = sqrt(a_), ib = 1 / sqrt(b_);
	const double f = (semiangle * ra - wavelength * a_) * ib; /* the ramp less 1/2, as a function of a = |v|^2 and b = (d |v|)^2 */
	const double ramp = !centre && fabs(f) < 0.5;
	const double fa = ramp * (semiangle / (2 * ra) - wavelength) * ib, fb = -ramp * f / (2 * b_);
	const double faa = -ramp * semiangle / (4 * ra * a_) * ib, fab = -fa / (2 * b_), fbb = ramp * 3 * f / (4 * b_ * b_);
	for (int i = 0; i < 2; i++) {
		g[i] = 2 * (fa * v[i] + fb * Sv[i]);
		H[2 * i] = 2 * (fa + fb * S[i]) + 4 * (faa * v[i] * v[i] + 2 * fab * v[i] * Sv[i] + fbb * Sv[i] * Sv[i]);
	}
	H[1] = 4 * (faa * v[0] * v[1] + fab * (v[0] * Sv[1] + v[1] * Sv[0]) + fbb * Sv[0] * Sv[1]);
	return centre ? 1 : f < -0.5 ? 0 : f > 0.5 ? 1 : f + 0.5;
}

#endif
