/* Derivatives of gamma and what they add to the sums over k, element by element, for host and CUDA (physics.md section 5).
 *
 * gamma = T_- - T_+, T = a w e^{i psi}. With A = a w, d_i = dpsi/di, u_i = dA/di:
 *   dT/di    = (u_i + i A d_i) e^{i psi}
 *   d2T/didj = (A_ij - A d_i d_j + i (u_i d_j + u_j d_i + A psi_ij)) e^{i psi}
 * a, w, psi below are a value with its first and second derivative: of a and psi by the rotation, of w = sin(x)/x by x. */
#ifndef TRANSFER_DERIVATIVE_H
#define TRANSFER_DERIVATIVE_H

#include "tools/transfer/gamma.h"
#include "tools/transfer/pixels.h"

/* What does not change from q to q. */
typedef struct derivative_model {
	size_t n;
	int parameter[FIT_PARAMETERS];
	bool rotation;                        /* is it fitted */
	bool thick;                           /* w is not 1 throughout */
	polynomial chi[6];                    /* chi, d_r, d_c, d_rr, d_rc, d_cc */
	polynomial basis[FIT_PARAMETERS][3];  /* of each aberration: p_i, d_r, d_c, by position in `parameter` */
} derivative_model;

/* x and w along the specimen's parameters. */
typedef struct thickness_path {
	double w[3];
	double x[4];             /* dx/d(tilt_r, tilt_c, thickness, rotation) */
	double x_thickness[4];   /* d2x / d(the same) d(thickness) */
	double x_rotation;       /* d2x / d(rotation)^2 */
} thickness_path;

/* a along the rotation, of the term of `sign`: k, q and dq/d(rotation) in the detector frame. */
SSB_HD void amplitude_path(int sign, double kr, double kc, const double q[2], const double q1[2], double aperture_k, double wavelength,
                           double semiangle, const double sampling[2], double a[3])
{
	const double v[2] = {kr + sign * q[0], kc + sign * q[1]};
	const double v1[2] = {sign * q1[0], sign * q1[1]}, v2[2] = {-sign * q[0], -sign * q[1]};
	double value[3];
	aperture_path(v, v1, v2, wavelength, semiangle, sampling, value);
	for (int j = 0; j < 3; j++)
		a[j] = aperture_k * value[j];
}

/* k, q in the scan frame; q2 = |q|^2, tilt_phase = 2 pi q.tau. */
SSB_HD void thickness_path_at(int sign, double kr, double kc, const double q[2], double q2, double tilt_phase, double wavelength,
                              double thickness, thickness_path *t)
{
	const double kq = kr * q[0] + kc * q[1], kq1 = kr * q[1] - kc * q[0];
	const double rate = thickness_rate(sign, wavelength, q2, kq, tilt_phase), rate1 = 2 * M_PI * wavelength * kq1;
	sinc_path(rate * thickness / 2, t->w);
	t->x[0] = -M_PI * q[0] * thickness;
	t->x[1] = -M_PI * q[1] * thickness;
	t->x[2] = rate / 2;
	t->x[3] = rate1 * thickness / 2;
	t->x_thickness[0] = -M_PI * q[0];
	t->x_thickness[1] = -M_PI * q[1];
	t->x_thickness[2] = 0;
	t->x_thickness[3] = rate1 / 2;
	t->x_rotation = -M_PI * wavelength * kq * thickness;
}

/* Derivative along the rotation, by which k = (r, c) moves to (-c, r), of a function with this gradient. */
SSB_HD double rotation_slope(double r, double c, double fr, double fc)
{
	return fc * r - fr * c;
}

/* The second derivative, with this Hessian too. */
SSB_HD double rotation_curvature(double r, double c, double fr, double fc, double frr, double frc, double fcc)
{
	return -fr * r - fc * c + frr * c * c - 2 * frc * c * r + fcc * r * r;
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

/* u_i of tilt, thickness (rotates = 0) and rotation (1); x: dx/di. The aberrations' is 0. */
SSB_HD double amplitude_slope(double a0, double a1, double w0, double w1, double x, double rotates)
{
	return a0 * w1 * x + rotates * a1 * w0;
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

/* Add A_ij of two parameters of specimen or rotation; xi = dx/di, xij = d2x/didj. */
SSB_HD void add_amplitude_curvature(double a0, double a1, double a2, double w0, double w1, double w2, double xi, double xj, double xij,
                                    double rotates_i, double rotates_j, double *re)
{
	*re += a0 * w2 * xi * xj + a1 * w1 * (rotates_i * xj + rotates_j * xi);
	*re += rotates_i * rotates_j * a2 * w0;
	*re += a0 * w1 * xij;
}

/* Add (re + i im) e^{i psi} = s d2T/didj to S_ij (as G conj of it) and to Y_ij; z, y as above. */
SSB_HD void add_second(double re, double im, double z_re, double z_im, double y_re, double y_im, double *S_re, double *S_im, double *Y)
{
	*S_re += re * z_re + im * z_im;
	*S_im += re * z_im - im * z_re;
	*Y += re * y_re - im * y_im;
}

#endif
