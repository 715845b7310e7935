#include "tools/ssb-fit/certificate.h"

#include <lapacke.h>
#include <stdlib.h>

/* Deviations of pure noise that its best candidate stays below (4 to 6 seen with every rotation looked at). physics.md's own test, eta within 3 of its noise, calls
 * fits lost that are 35 deviations out: the incoherent power in eta's denominator is far noisier than the coherent sum in L. */
static const double NOISE_LIMIT = 8;
static const double UNDETERMINED_RAD = 1;
static const double FLAT = 1e-10; /* of the largest curvature: rounding */
enum { MATRIX = FIT_PARAMETERS * FIT_PARAMETERS };

/* Signal power sum m sum_k (|G|^2 - G(0,k)) over the bins used, in their order. */
static double signal_power(const objective *f)
{
	double *part = f->sums ? calloc(f->count + 1, sizeof *part) : NULL, total = 0;
	if (!part)
		return NAN;
#pragma omp parallel for schedule(dynamic, 64)
	for (size_t i = 0; i < f->count; i++)
		part[i] = f->weight[i] > 0 ? f->weight[i] * evidence_excess(f->e, f->frequency[i].bin) : 0;
	for (size_t i = 0; i < f->count; i++)
		total += part[i];
	free(part);
	return total;
}

static void measure(const objective *f, double L, certificate *c)
{
	const double sigma2 = evidence_sigma2(f->e), power = c->signal_power = signal_power(f);
	double m2 = 0, n2 = 0;
	for (size_t i = 0; i < f->count; i++) {
		c->multiplicity += f->weight[i];
		m2 += f->weight[i] * f->weight[i];
	}
	for (size_t b = 0; b < f->e->pixels; b++)
		n2 += f->e->counts[b] * f->e->counts[b];
	c->explained = power > 0 ? (L - sigma2 * c->multiplicity) / power : NAN;
	c->explained_noise = power > 0 ? sqrt(2 * c->multiplicity * n2) / power : NAN;
	c->significance = m2 > 0 ? (L / sigma2 - c->multiplicity) / sqrt(m2) : 0;
	c->found = c->significance > NOISE_LIMIT;
}

static void multiply(const double *a, const double *b, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			out[i * n + j] = 0;
			for (size_t k = 0; k < n; k++)
				out[i * n + j] += a[i * n + k] * b[k * n + j];
		}
}

/* 2 sigma^2 H^-1 J H^-1 with H = J - sigma^2 sum_kappa, in units that make diag J = 1. And what so many parameters gain on noise: g^T H^-1 g / 2
 * with cov g = 2 sigma^2 J is tr(H^-1 J) on average, in units of sigma^2, with variance 2 tr((H^-1 J)^2). */
static bool covariance(const likelihood *l, double sigma2, size_t n, certificate *c)
{
	double H[MATRIX], J[MATRIX], half[MATRIX], scale[FIT_PARAMETERS];
	for (size_t i = 0; i < n; i++) {
		if (!(l->gauss_newton[i * n + i] > 0))
			return false;
		scale[i] = 1 / sqrt(l->gauss_newton[i * n + i]);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			J[i * n + j] = scale[i] * scale[j] * l->gauss_newton[i * n + j];
			H[i * n + j] = J[i * n + j] - scale[i] * scale[j] * sigma2 * l->sum_kappa[i * n + j];
		}
	const lapack_int size = (lapack_int)n;
	if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', size, H, size) != 0 || LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'U', size, H, size) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			H[i * n + j] = H[j * n + i];
	multiply(H, J, n, half);
	multiply(half, H, n, c->covariance);
	for (size_t i = 0; i < n; i++) {
		c->noise_gain += half[i * n + i];
		for (size_t j = 0; j < n; j++) {
			c->noise_gain_variance += 2 * half[i * n + j] * half[j * n + i];
			c->covariance[i * n + j] *= 2 * sigma2 * scale[i] * scale[j];
		}
	}
	return true;
}

certificate certify(const objective *f, const optimum *o, size_t n)
{
	const double sigma2 = evidence_sigma2(f->e);
	certificate c = {0};
	measure(f, o->L, &c);
	c.has_covariance = n > 0 && covariance(&o->at, sigma2, n, &c);
	return c;
}

size_t certify_directions(const likelihood *l, double sigma2, const double *rad, size_t n, double *deviation_rad, double *axis)
{
	double curvature[FIT_PARAMETERS];
	size_t undetermined = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			axis[i * n + j] = (l->gauss_newton[i * n + j] - sigma2 * l->sum_kappa[i * n + j]) / (rad[i] * rad[j]);
	if (n == 0 || LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', (lapack_int)n, axis, (lapack_int)n, curvature) != 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		deviation_rad[i] = curvature[i] > FLAT * curvature[n - 1] ? sqrt(2 * sigma2 / curvature[i]) : INFINITY;
		undetermined += deviation_rad[i] > UNDETERMINED_RAD;
	}
	return undetermined;
}
