#include "tools/ssb-fit/scales.h"

static const double LEAST_rad = 0.1; /* of rotation and sampling, which move the aperture's soft edge too */
static const double THIN_A = 50;     /* tilt and thickness have no scale of their own at 0 */

static double aberration_rad(const evidence *e, double q_rms, int aberration)
{
	return 2 * M_PI * pow(e->geometry.semiangle_rad, aberration_terms[aberration].n) * q_rms;
}

/* Phase by which a relative change of k (as a complex number) moves all coefficients. */
static double carried_rad(const evidence *e, double q_rms, const optics_parameters *p)
{
	double sum = 0;
	for (int i = 0; i < ABERRATIONS; i++) {
		const double phase = p->C_A[i] * aberration_rad(e, q_rms, i);
		sum += phase * phase;
	}
	return fmax(sqrt(sum), LEAST_rad);
}

double scale_rad(const evidence *e, double q_rms, const optics_parameters *p, int parameter)
{
	switch (parameter) {
	case TILT_R:
	case TILT_C: return M_PI * q_rms * fmax(p->thickness_A, THIN_A);
	case THICKNESS: return M_PI * q_rms * (e->geometry.semiangle_rad + hypot(p->tilt_rad[0], p->tilt_rad[1]));
	case ROTATION:
	case SAMPLING: return carried_rad(e, q_rms, p);
	default: return aberration_rad(e, q_rms, parameter);
	}
}

void scale_all_rad(const evidence *e, double q_rms, const optics_parameters *p, const int *parameter, size_t n, double *rad)
{
	for (size_t i = 0; i < n; i++)
		rad[i] = scale_rad(e, q_rms, p, parameter[i]);
}

double scale_edge_rad(const evidence *e, int aberration)
{
	const int n = aberration_terms[aberration].n;
	return 2 * M_PI / e->geometry.wavelength_A * pow(e->geometry.semiangle_rad, n + 1) / (n + 1);
}

double scale_distance_rad(const evidence *e, double q_rms, const optics_parameters *a, const optics_parameters *b)
{
	if (a->transposed != b->transposed)
		return INFINITY;
	optics_parameters other = *b;
	if (fabs(remainder(a->rotation_rad - b->rotation_rad, 2 * M_PI)) > M_PI / 2)
		other = optics_opposite_branch(b);
	double sum = 0;
	for (int i = 0; i < FIT_PARAMETERS; i++) {
		double apart = fit_parameter_get(a, i) - fit_parameter_get(&other, i);
		if (i == ROTATION)
			apart = remainder(apart, 2 * M_PI);
		apart *= scale_rad(e, q_rms, a, i);
		sum += apart * apart;
	}
	return sqrt(sum);
}
