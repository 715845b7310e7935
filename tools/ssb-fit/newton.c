#include "tools/ssb-fit/newton.h"

#include <lapacke.h>
#include "tools/transfer/optics_io.h"

static const double ROUNDING = 1e-13;   /* of L: gains below it cannot be told from rounding */
static const double MOST_DAMPING = 1e8;

typedef struct linear_step {
	double step[FIT_PARAMETERS];
	double gain;   /* of L that the quadratic model predicts */
	double sigmas; /* length in standard errors */
} linear_step;

/* Solve (M + damping diag J) x = g in units of 1/sqrt(J_ii); M is -Hessian where that is positive definite, else J. */
static bool solve_with(const likelihood *l, size_t n, double damping, bool newton, double *x)
{
	double A[FIT_PARAMETERS * FIT_PARAMETERS], scale[FIT_PARAMETERS];
	for (size_t i = 0; i < n; i++)
		scale[i] = 1 / sqrt(l->gauss_newton[i * n + i]);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++)
			A[i * n + j] = scale[i] * scale[j] * (newton ? -l->hessian[i * n + j] : l->gauss_newton[i * n + j]) + (i == j ? damping : 0);
		x[i] = scale[i] * l->gradient[i];
	}
	const lapack_int size = (lapack_int)n;
	if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', size, 1, A, size, x, 1) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		x[i] *= scale[i];
	return true;
}

static bool usable(const likelihood *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(l->gauss_newton[i * n + i] > 0))
			return false;
	return n > 0;
}

static bool concave(const likelihood *l, size_t n)
{
	double ignored[FIT_PARAMETERS];
	return solve_with(l, n, 0, true, ignored);
}

/* The phase a step makes: of the aberrations across the aperture at the frequencies that carry the power, of the rotation by them. */
static double step_phase(const ascent *a, const optics_parameters *p, const double *step)
{
	double phase = 0, size_A = fabs(p->C_A[C10]) + hypot(p->C_A[C12a], p->C_A[C12b]);
	for (size_t i = 0; i < a->n; i++)
		phase += fabs(step[i]) * a->radian_per_A * (a->parameter[i] == ROTATION ? size_A : 1);
	return phase;
}

static bool next_step(const likelihood *l, const ascent *a, const optics_parameters *p, double damping, linear_step *s)
{
	const size_t n = a->n;
	if (!solve_with(l, n, damping, concave(l, n), s->step))
		return false;
	const double phase = step_phase(a, p, s->step), shrink = phase > 1 ? 1 / phase : 1;
	double curvature = 0, slope = 0;
	for (size_t i = 0; i < n; i++)
		s->step[i] *= shrink;
	for (size_t i = 0; i < n; i++) {
		slope += l->gradient[i] * s->step[i];
		for (size_t j = 0; j < n; j++)
			curvature += s->step[i] * l->gauss_newton[i * n + j] * s->step[j];
	}
	s->gain = slope / 2;
	s->sigmas = sqrt(fabs(curvature) / (2 * a->sigma2));
	return true;
}

static optics_parameters moved(const optics_parameters *p, const ascent *a, const double *step)
{
	optics_parameters q = *p;
	for (size_t i = 0; i < a->n; i++)
		fit_parameter_set(&q, a->parameter[i], fit_parameter_get(p, a->parameter[i]) + step[i]);
	return q;
}

static void record(json_t *steps, const optics_parameters *p, double L, double damping, bool taken)
{
	if (!steps)
		return;
	json_t *step = optics_to_json(p);
	json_object_set_new(step, "likelihood", json_real(L));
	json_object_set_new(step, "damping", json_real(damping));
	json_object_set_new(step, "taken", json_boolean(taken));
	json_array_append_new(steps, step);
}

static bool evaluate(objective *f, const ascent *a, optimum *o, ssb_error *err)
{
	return objective_value(f, &o->p, &o->L, err) && objective_derivatives(f, &o->p, a->parameter, a->n, &o->at, err);
}

static void stop(optimum *o, bool converged, const char *why)
{
	o->converged = converged;
	o->stopped = why;
}

bool newton_ascend(objective *f, const ascent *a, optimum *o, json_t *steps, ssb_error *err)
{
	double damping = 1e-3;
	if (!evaluate(f, a, o, err))
		return false;
	record(steps, &o->p, o->L, damping, true);
	stop(o, false, "the limit of steps was reached");
	for (size_t i = 0; i < a->most_steps; i++) {
		linear_step s;
		if (!usable(&o->at, a->n) || !next_step(&o->at, a, &o->p, damping, &s)) {
			stop(o, a->n == 0, a->n ? "the objective does not depend on a parameter" : "nothing is fitted");
			break;
		}
		optimum next = {.p = moved(&o->p, a, s.step)};
		if (!objective_value(f, &next.p, &next.L, err))
			return false;
		const bool flat = fabs(s.gain) <= ROUNDING * o->L, taken = next.L >= o->L || flat;
		record(steps, &next.p, next.L, damping, taken);
		if (!taken) {
			if ((damping *= 10) > MOST_DAMPING) {
				stop(o, false, "no step goes uphill");
				break;
			}
			continue;
		}
		if (!objective_derivatives(f, &next.p, a->parameter, a->n, &next.at, err))
			return false;
		*o = next;
		damping = fmax(damping / 10, 1e-12);
		stop(o, false, "the limit of steps was reached");
		if (s.sigmas < a->enough || flat) {
			stop(o, true, "converged: the last step was a small fraction of the standard errors");
			break;
		}
	}
	/* the objective's sums must be those of o->p, whatever trial came last */
	return objective_value(f, &o->p, &o->L, err);
}
