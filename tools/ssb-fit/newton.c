#include "tools/ssb-fit/newton.h"

#include <lapacke.h>
#include <string.h>
#include "tools/ssb-fit/scales.h"
#include "tools/transfer/optics_io.h"

static const double ROUNDING = 1e-8;     /* of L: gains below it cannot be told from rounding; each S is a sum in single precision */
static const double FIRST_RADIUS = 1, MOST_RADIUS = 3; /* rad */
static const double FLAT = 1e-12;        /* of the largest curvature: a direction without any */
enum { MATRIX = FIT_PARAMETERS * FIT_PARAMETERS };

/* The quadratic model of L around a point: gradient and curvature along its principal axes, in rad. */
typedef struct quadratic {
	size_t n;
	bool of_L;                         /* else of J, where L is not concave */
	double rad[FIT_PARAMETERS];        /* per unit of each parameter */
	double curvature[FIT_PARAMETERS];  /* ascending */
	double axis[MATRIX];               /* columns */
	double slope[FIT_PARAMETERS];      /* along each axis */
} quadratic;

typedef struct step {
	double by[FIT_PARAMETERS]; /* of each parameter, in its unit */
	double length_rad;
	bool full;                 /* to the top of L's own model: the radius does not hold it back */
	double gain;               /* of L that the model predicts */
	double sigmas;             /* length in standard errors */
} step;

int parameter_set_find(const parameter_set *set, int parameter)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->parameter[i] == parameter)
			return (int)i;
	return -1;
}

/* Principal axes of M / (rad_i rad_j). */
static bool find_axes(quadratic *q, const double *M, double sign)
{
	for (size_t i = 0; i < q->n; i++)
		for (size_t j = 0; j < q->n; j++)
			q->axis[i * q->n + j] = sign * M[i * q->n + j] / (q->rad[i] * q->rad[j]);
	const lapack_int n = (lapack_int)q->n;
	return LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', n, q->axis, n, q->curvature) == 0;
}

/* -Hessian where it is positive definite, else J. */
static bool model_make(quadratic *q, const likelihood *l)
{
	if (!find_axes(q, l->hessian, -1))
		return false;
	q->of_L = q->curvature[0] > 0;
	if (!q->of_L && !find_axes(q, l->gauss_newton, 1))
		return false;
	for (size_t k = 0; k < q->n; k++) {
		q->slope[k] = 0;
		for (size_t i = 0; i < q->n; i++)
			q->slope[k] += q->axis[i * q->n + k] * l->gradient[i] / q->rad[i];
	}
	return q->curvature[q->n - 1] > 0;
}

/* Step along axis k under this damping. */
static double along(const quadratic *q, size_t k, double damping)
{
	return q->curvature[k] > FLAT * q->curvature[q->n - 1] ? q->slope[k] / (q->curvature[k] + damping) : 0;
}

static double length(const quadratic *q, double damping)
{
	double sum = 0;
	for (size_t k = 0; k < q->n; k++)
		sum += along(q, k, damping) * along(q, k, damping);
	return sqrt(sum);
}

/* The damping under which the step is as long as the radius: between 0 and |slope| / radius. */
static double damping_for(const quadratic *q, double radius)
{
	double low = 0, high = 0;
	if (length(q, 0) <= radius)
		return 0;
	for (size_t k = 0; k < q->n; k++)
		high += q->slope[k] * q->slope[k];
	high = sqrt(high) / radius;
	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;
		*(length(q, middle) > radius ? &low : &high) = middle;
	}
	return high;
}

static step step_within(const quadratic *q, const likelihood *l, double radius, double sigma2)
{
	const double damping = damping_for(q, radius);
	step s = {.length_rad = length(q, damping), .full = q->of_L && damping == 0};
	double squares = 0;
	for (size_t k = 0; k < q->n; k++) {
		const double y = along(q, k, damping);
		s.gain += y * (q->slope[k] - q->curvature[k] * y / 2);
		for (size_t i = 0; i < q->n; i++)
			s.by[i] += q->axis[i * q->n + k] * y / q->rad[i];
	}
	for (size_t i = 0; i < q->n; i++)
		for (size_t j = 0; j < q->n; j++)
			squares += s.by[i] * l->gauss_newton[i * q->n + j] * s.by[j];
	s.sigmas = sqrt(fabs(squares) / (2 * sigma2));
	return s;
}

static optics_parameters moved(const optics_parameters *p, const parameter_set *set, const double *by)
{
	optics_parameters q = *p;
	for (size_t i = 0; i < set->n; i++)
		fit_parameter_set(&q, set->parameter[i], fit_parameter_get(p, set->parameter[i]) + by[i]);
	return q;
}

static void record(json_t *steps, const optics_parameters *p, double L, double radius, bool taken)
{
	if (!steps)
		return;
	json_t *entry = optics_to_json(p);
	json_object_set_new(entry, "likelihood", json_real(L));
	json_object_set_new(entry, "radius_rad", json_real(radius));
	json_object_set_new(entry, "taken", json_boolean(taken));
	json_array_append_new(steps, entry);
}

static bool derive(objective *f, const parameter_set *set, optimum *o, ssb_error *err)
{
	return objective_derivatives(f, &o->p, set->parameter, set->n, &o->at, err);
}

static bool stop(optimum *o, bool converged, const char *why)
{
	o->converged = converged;
	o->stopped = why;
	return false;
}

/* The model at o->p; false when there is nothing to climb on. */
static bool look_around(const objective *f, const ascent *a, const parameter_set *set, optimum *o, quadratic *q)
{
	q->n = set->n;
	if (set->n == 0)
		return stop(o, true, "nothing is fitted");
	scale_all_rad(f->e, a->q_rms, &o->p, set->parameter, set->n, q->rad);
	return model_make(q, &o->at) || stop(o, false, "the objective does not depend on the parameters");
}

/* Whether so little is missed by the step that it can be taken without another look. A step of d rad misses by about d of itself, since L's
 * third derivatives are its second's per rad (at the bins' rms frequency: a few times more beyond it); of rotation and sampling also by the kinks
 * of the aperture's edge: 0.3 of the step was seen for a disk of 10 pixels radius, 0.004 to 0.01 for 53. What has been rejected is never taken
 * so: the radius then holds every step back. */
static bool settled(const step *s, const ascent *a, const parameter_set *set, const evidence *e)
{
	const double SMALL_RAD = 0.05, KINKS = 30, radius_px = e->geometry.semiangle_rad / e->geometry.sampling_rad[0];
	const bool kinks = parameter_set_find(set, ROTATION) >= 0 || parameter_set_find(set, SAMPLING) >= 0;
	const double missed = 4 * s->length_rad + (kinks ? KINKS / (radius_px * radius_px) : 0);
	return s->full && s->length_rad < SMALL_RAD && missed * s->sigmas < a->enough;
}

static void settle(optimum *o, const optics_parameters *p, const step *s)
{
	o->p = *p;
	o->L += s->gain;
	stop(o, true, "converged: a further step would change a small fraction of the standard errors");
}

/* Trust-region rule: shrink to a quarter of a step that disappoints, double after one that keeps its promise at full length. */
static double next_radius(double radius, const step *s, double gained)
{
	if (gained < s->gain / 4)
		return s->length_rad / 4;
	return gained > 0.75 * s->gain && s->length_rad > 0.9 * radius ? fmin(2 * radius, MOST_RADIUS) : radius;
}

/* After a step that was rejected: whether to try a shorter one. On a kink of the aperture's edge L may fall both ways, whatever its derivatives say. */
static bool try_shorter(optimum *o, const step *s, const ascent *a, bool flat)
{
	if (s->sigmas < a->enough)
		return stop(o, true, "converged: no step goes uphill, not even one of a small fraction of the standard errors");
	return !flat || stop(o, false, "no step goes uphill");
}

bool newton_ascend(objective *f, const ascent *a, const parameter_set *set, optimum *o, json_t *steps, ssb_error *err)
{
	double radius = FIRST_RADIUS;
	quadratic q;
	if (!objective_value(f, &o->p, &o->L, err) || !derive(f, set, o, err))
		return false;
	record(steps, &o->p, o->L, radius, true);
	stop(o, false, "the limit of steps was reached");
	bool climbing = look_around(f, a, set, o, &q), sums_of_at = true;
	for (size_t i = 0; climbing && i < a->most_steps; i++) {
		const step s = step_within(&q, &o->at, radius, a->sigma2);
		optimum next = {.p = moved(&o->p, set, s.by)};
		if (settled(&s, a, set, f->e)) {
			settle(o, &next.p, &s);
			record(steps, &o->p, o->L, radius, true);
			break;
		}
		if (objective_spent(f)) {
			stop(o, false, "the limit of evaluations was reached (--max-evals)");
			break;
		}
		if (!objective_value(f, &next.p, &next.L, err))
			return false;
		const bool flat = fabs(s.gain) <= ROUNDING * o->L;
		const bool taken = next.L >= o->L || (flat && s.full);
		record(steps, &next.p, next.L, radius, taken);
		radius = next_radius(radius, &s, next.L - o->L);
		sums_of_at = taken;
		if (!taken) {
			climbing = try_shorter(o, &s, a, flat);
			continue;
		}
		if (!derive(f, set, &next, err))
			return false;
		*o = next;
		stop(o, false, "the limit of steps was reached");
		climbing = flat && s.full ? stop(o, true, "converged: a further step would gain no more than rounding") : look_around(f, a, set, o, &q);
	}
	/* the objective's sums must be those of o->at, whatever trial came last */
	return sums_of_at || objective_value(f, &o->p, &o->L, err);
}
