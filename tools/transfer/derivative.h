/* Derivatives of gamma and what they add to the sums over k, element by element, for host and CUDA (physics.md section 5).
 *
 * gamma = T_- - T_+, T = a w e^{i psi}. With A = a w, d_i = dpsi/di, u_i = dA/di:
 *   dT/di    = (u_i + i A d_i) e^{i psi}
 *   d2T/didj = (A_ij - A d_i d_j + i (u_i d_j + u_j d_i + A psi_ij)) e^{i psi}
 * The rotation and log_sampling are the argument and the log-modulus of one complex factor on k. They move k, r + ic, to i k and k; in
 * the aperture, homogeneous in k and its own edge, they move q against it instead. */
#ifndef TRANSFER_DERIVATIVE_H
#define TRANSFER_DERIVATIVE_H

#include "tools/transfer/gamma.h"
#include "tools/transfer/pixels.h"

/* Derivatives of a function of k by what moves the frame: by the rotation r and log_sampling s, then rr, rs, ss. */
enum { BY_R, BY_S, BY_RR, BY_RS, BY_SS, FRAME_DERIVATIVES };
enum { SPECIALS = FIT_PARAMETERS - ABERRATIONS }; /* tilt_r, tilt_c, thickness, rotation, sampling: those that change A */

/* What does not change from q to q. */
typedef struct derivative_model {
	size_t n;
	int parameter[FIT_PARAMETERS];
	bool moves;                           /* is the rotation or the sampling fitted */
	bool thick;                           /* w is not 1 throughout */
	polynomial chi[6];                    /* chi, d_r, d_c, d_rr, d_rc, d_cc */
	polynomial basis[FIT_PARAMETERS][3];  /* of each aberration: p_i, d_r, d_c, by position in `parameter` */
} derivative_model;

/* x = rate t / 2 and w(x) along the specials. */
typedef struct thickness_path {
	double w[3];                  /* w, w', w'' */
	double x[SPECIALS];           /* dx/di */
	double x_thickness[SPECIALS]; /* d2x / di d(thickness) */
	double x_frame[3];            /* d2x by rr, rs, ss */
} thickness_path;

/* The frame's derivatives of a function with gradient g and Hessian H[3] (rr, rc, cc), whose argument moves by `turn` with the rotation
 * and by `grow` with log_sampling; way: +1 when it is k that moves, -1 when it is q against it. */
SSB_HD void frame_derivatives(const double g[2], const double H[3], const double turn[2], const double grow[2], int way,
                              double by[FRAME_DERIVATIVES])
{
	by[BY_R] = g[0] * turn[0] + g[1] * turn[1];
	by[BY_S] = g[0] * grow[0] + g[1] * grow[1];
	by[BY_RR] = H[0] * turn[0] * turn[0] + 2 * H[1] * turn[0] * turn[1] + H[2] * turn[1] * turn[1] - way * by[BY_S];
	by[BY_RS] = H[0] * turn[0] * grow[0] + H[1] * (turn[0] * grow[1] + turn[1] * grow[0]) + H[2] * turn[1] * grow[1] + way * by[BY_R];
	by[BY_SS] = H[0] * grow[0] * grow[0] + 2 * H[1] * grow[0] * grow[1] + H[2] * grow[1] * grow[1] + way * by[BY_S];
}

/* The frame's derivatives of a, and a, of the term of `sign`: k, q and dq/d(rotation) in the detector frame. */
SSB_HD double amplitude_derivatives(int sign, double kr, double kc, const double q[2], const double q1[2], double aperture_k,
                                    double wavelength, double semiangle, const double sampling[2], double by[FRAME_DERIVATIVES])
{
	const double v[2] = {kr + sign * q[0], kc + sign * q[1]};
	const double turn[2] = {sign * q1[0], sign * q1[1]}, grow[2] = {-sign * q[0], -sign * q[1]};
	double g[2], H[3];
	const double a = aperture_k * aperture_gradient(v, wavelength, semiangle, sampling, g, H);
	frame_derivatives(g, H, turn, grow, -1, by);
	for (int i = 0; i < FRAME_DERIVATIVES; i++)
		by[i] *= aperture_k;
	return a;
}

/* k, q in the scan frame; q2 = |q|^2, tilt_phase = 2 pi q.tau. */
SSB_HD void thickness_path_at(int sign, double kr, double kc, const double q[2], double q2, double tilt_phase, double wavelength,
                              double thickness, thickness_path *t)
{
	const double kq = kr * q[0] + kc * q[1], ikq = kr * q[1] - kc * q[0];
	const double rate = thickness_rate(sign, wavelength, q2, kq, tilt_phase);
	sinc_path(rate * thickness / 2, t->w);
	t->x_thickness[0] = -M_PI * q[0];
	t->x_thickness[1] = -M_PI * q[1];
	t->x_thickness[2] = 0;
	t->x_thickness[3] = M_PI * wavelength * ikq;
	t->x_thickness[4] = M_PI * wavelength * kq;
	for (int i = 0; i < SPECIALS; i++)
		t->x[i] = t->x_thickness[i] * thickness;
	t->x[2] = rate / 2;
	t->x_frame[0] = -t->x[4];
	t->x_frame[1] = t->x[3];
	t->x_frame[2] = t->x[4];
}

/* z = s G e^{-i psi}, s = + for T_-, - for T_+ */
SSB_HD void evidence_in_phase(int sign, double G_re, double G_im, double e_re, double e_im, double *z_re, double *z_im)
{
	*z_re = -sign * (G_re * e_re + G_im * e_im);
	*z_im = -sign * (G_im * e_re - G_re * e_im);
}

/* y = s conj(gamma) e^{i psi} */
SSB_HD void gamma_in_phase(int sign, double g_re, double g_im, double e_re, double e_im, double *y_re, double *y_im)
{
	*y_re = -sign * (g_re * e_re + g_im * e_im);
	*y_im = -sign * (g_re * e_im - g_im * e_re);
}

/* u_i of a special: ai = da/di, xi = dx/di */
SSB_HD double amplitude_slope(double a, double ai, double w0, double w1, double xi)
{
	return a * w1 * xi + ai * w0;
}

/* A_ij of two specials. */
SSB_HD double amplitude_curvature(double a, double ai, double aj, double aij, double w0, double w1, double w2, double xi, double xj,
                                  double xij)
{
	return a * (w2 * xi * xj + w1 * xij) + w1 * (ai * xj + aj * xi) + w0 * aij;
}

/* (u + i v) e^{i psi}, v = A d_i: added to dgamma/di by T_-, subtracted by T_+ */
SSB_HD void gamma_slope(double um, double vm, double em_re, double em_im, double up, double vp, double ep_re, double ep_im, double *re,
                        double *im)
{
	*re = um * em_re - vm * em_im - up * ep_re + vp * ep_im;
	*im = um * em_im + vm * em_re - up * ep_im - vp * ep_re;
}

/* d2T/didj e^{-i psi} but for A_ij and psi_ij */
SSB_HD void pair_factor(double A, double di, double dj, double ui, double uj, double *re, double *im)
{
	*re = -A * di * dj;
	*im = ui * dj + uj * di;
}

/* Add (re + i im) e^{i psi} = s d2T/didj to S_ij (as G conj of it) and to Y_ij; z, y as above. */
SSB_HD void add_second(double re, double im, double z_re, double z_im, double y_re, double y_im, double *S_re, double *S_im, double *Y)
{
	*S_re += re * z_re + im * z_im;
	*S_im += re * z_im - im * z_re;
	*Y += re * y_re - im * y_im;
}

#endif
