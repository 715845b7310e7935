#include "tools/ssb-fit/variance.h"

#include <limits.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"

enum { FIRST_BINS = 8, SEARCHED_BINS = 32, KEPT_PART = 8, FINALISTS = 8, QUICK_EVALUATIONS = 100 };
static const double FIRST_STEP_RAD = 0.5;
static const double QUICK_RAD = 0.05, EXACT_RAD = 1e-3; /* last steps: to choose among the search's optima, and of the fit */

bool variance_value(const backend *b, const evidence *e, const optics_parameters *p, double *variance_rad2, ssb_error *err)
{
	double *image = malloc(e->scan[0] * e->scan[1] * sizeof *image);
	if (!image)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	const bool ok = b->mean_phase(e, p, 1, image, variance_rad2, err);
	free(image);
	return ok;
}

/* ---- descent without derivatives ----
 *
 * BOBYQA. The objective is rough: a pixel that enters an overlap counts in full at once, and |gamma| passes 0; its jumps are 1e-5 to
 * 1e-4 of it. On 4 parameters at 4 and 40 counts per pixel BOBYQA ended within 1e-4 of the least value that any method found after 30
 * evaluations, Nelder-Mead within 3e-5 after 90, Subplex on it after 200; on 13, BOBYQA was the lowest after 160 (of the others'
 * hundreds). What they differ by is far below the standard errors. */

/* A function of n fit parameters and its best point so far. NLopt sees the parameters in rad from those at `start`. */
typedef struct descent {
	const variance_problem *problem;
	const int *parameter;
	const double *radians_per_unit;
	size_t n;
	bool (*value)(const struct descent *d, const optics_parameters *p, double *value, ssb_error *err);
	void *context;               /* of value */
	optics_parameters start, best;
	double best_value;
	size_t evaluations, most_evaluations;
	nlopt_opt optimiser;
	bool failed;
	ssb_error *err;
} descent;

/* nlopt_func */
static double evaluate(unsigned n, const double *rad, double *gradient, void *data)
{
	descent *d = data;
	optics_parameters p = d->start;
	double value = INFINITY;
	(void)gradient;
	for (unsigned i = 0; i < n; i++)
		if (d->radians_per_unit[i] > 0)
			fit_parameter_set(&p, d->parameter[i], fit_parameter_get(&p, d->parameter[i]) + rad[i] / d->radians_per_unit[i]);
	p.thickness_A = fabs(p.thickness_A); /* gamma is even in it */
	d->evaluations++;
	if (!d->value(d, &p, &value, d->err)) {
		d->failed = true;
		nlopt_force_stop(d->optimiser);
	} else if (value < d->best_value) {
		d->best = p;
		d->best_value = value;
	}
	return value;
}

/* From d->start down to a minimum: d->best, d->best_value. How NLopt ended; false, with the error set, where no value is to be had. */
static bool descend(descent *d, double last_step_rad, nlopt_result *result)
{
	double *rad = calloc(d->n, sizeof *rad), minimum;
	const int most = d->most_evaluations < 1 ? 1 : d->most_evaluations > INT_MAX ? INT_MAX : (int)d->most_evaluations;
	d->best_value = INFINITY;
	d->optimiser = nlopt_create(NLOPT_LN_BOBYQA, (unsigned)d->n);
	*result = NLOPT_OUT_OF_MEMORY;
	if (rad && d->optimiser && nlopt_set_min_objective(d->optimiser, evaluate, d) > 0 && nlopt_set_maxeval(d->optimiser, most) > 0 &&
	    nlopt_set_initial_step1(d->optimiser, FIRST_STEP_RAD) > 0 && nlopt_set_xtol_abs1(d->optimiser, last_step_rad) > 0)
		*result = nlopt_optimize(d->optimiser, rad, &minimum);
	nlopt_destroy(d->optimiser);
	free(rad);
	return !d->failed && (*result != NLOPT_OUT_OF_MEMORY || ssb_fail(d->err, SSB_RUNTIME, "out of memory"));
}

/* ---- the exact variance ---- */

static bool exact_value(const descent *d, const optics_parameters *p, double *value, ssb_error *err)
{
	message_progress("minimising the variance", d->evaluations, d->most_evaluations);
	return variance_value(d->problem->b, d->problem->e, p, value, err);
}

static void say_why(variance_descent *v, nlopt_result result)
{
	v->converged = result == NLOPT_SUCCESS || result == NLOPT_XTOL_REACHED || result == NLOPT_ROUNDOFF_LIMITED;
	v->stopped = result == NLOPT_MAXEVAL_REACHED ? "the limit of evaluations was reached"
	             : v->converged ? "converged: steps below 0.001 rad at the aperture's edge" : "no step goes downhill";
}

static bool minimise(const variance_problem *problem, size_t most_evaluations, variance_descent *v, ssb_error *err)
{
	nlopt_result result = NLOPT_SUCCESS;
	v->optimum = v->start;
	v->evaluations = 1;
	v->converged = true;
	v->stopped = "nothing is fitted";
	if (!variance_value(problem->b, problem->e, &v->start, &v->start_rad2, err))
		return false;
	v->variance_rad2 = v->start_rad2;
	if (problem->n == 0)
		return true;
	descent d = {.problem = problem, .parameter = problem->parameter, .radians_per_unit = problem->radians_per_unit, .n = problem->n,
	             .value = exact_value, .start = v->start, .most_evaluations = most_evaluations, .err = err};
	const bool ok = descend(&d, EXACT_RAD, &result);
	message_progress(NULL, 0, 0);
	v->optimum = d.best;
	v->variance_rad2 = d.best_value;
	v->evaluations += d.evaluations;
	say_why(v, result);
	return ok;
}

/* ---- the primary search ---- */

/* The bins that the search looks at. */
typedef struct coherent {
	size_t bins;
	frequency frequency[SEARCHED_BINS];
	double multiplicity[SEARCHED_BINS];
} coherent;

static coherent coherent_make(const evidence *e, const variance_search *search)
{
	coherent c = {.bins = search->bins < SEARCHED_BINS ? search->bins : SEARCHED_BINS};
	for (size_t i = 0; i < c.bins; i++) {
		c.frequency[i].bin = search->bin[i];
		evidence_q(e, search->bin[i], c.frequency[i].q);
		c.multiplicity[i] = evidence_multiplicity(e, search->bin[i]);
	}
	return c;
}

/* Of the first `bins` of c. */
static bool coherent_power(const variance_problem *problem, const coherent *c, size_t bins, const optics_parameters *p, double *power,
                           ssb_error *err)
{
	sums s[SEARCHED_BINS];
	*power = 0;
	if (!problem->b->sums(problem->e, p, c->frequency, bins, true, s, err))
		return false;
	for (size_t i = 0; i < bins; i++)
		*power += c->multiplicity[i] * (creal(s[i].U) * creal(s[i].U) + cimag(s[i].U) * cimag(s[i].U));
	return true;
}

static bool incoherence(const descent *d, const optics_parameters *p, double *value, ssb_error *err)
{
	const coherent *c = d->context;
	const bool ok = coherent_power(d->problem, c, c->bins, p, value, err);
	*value = -*value;
	return ok;
}

static optics_parameters candidate_at(const variance_search *search, size_t i)
{
	optics_parameters p = search->orientation[i / search->candidates];
	memcpy(p.C_A, search->candidate[i % search->candidates].C_A, sizeof search->candidate->C_A);
	return p;
}

static int stronger_first(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

/* The power of every candidate whose power so far is at least `least`; below it -1. A candidate is too little work for two threads; a
 * device has one queue. */
static bool score(const variance_problem *problem, const variance_search *search, const coherent *c, size_t bins, double least, double *power,
                  ssb_error *err)
{
	const size_t count = search->orientations * search->candidates;
	bool ok = true;
#pragma omp parallel for schedule(dynamic, 16) reduction(&& : ok) if (!problem->e->device)
	for (size_t i = 0; i < count; i++) {
		const optics_parameters p = candidate_at(search, i);
		ssb_error own;
		message_progress("searching the variance", i, count);
		if (power[i] < least) {
			power[i] = -1;
		} else if (ok && !coherent_power(problem, c, bins, &p, &power[i], &own)) {
			ok = false;
#pragma omp critical(variance_error)
			*err = own;
		}
	}
	message_progress(NULL, 0, 0);
	return ok;
}

/* The power of the candidates at every orientation that are strong on a few bins, on all of c; of the others -1. The caller's to free. */
static double *search_powers(const variance_problem *problem, const variance_search *search, const coherent *c, ssb_error *err)
{
	const size_t count = search->orientations * search->candidates;
	double *power = calloc(count, sizeof *power), *sorted = calloc(count, sizeof *sorted);
	bool ok = power && sorted;
	if (!ok)
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	ok = ok && score(problem, search, c, c->bins < FIRST_BINS ? c->bins : FIRST_BINS, 0, power, err);
	if (ok) {
		memcpy(sorted, power, count * sizeof *sorted);
		qsort(sorted, count, sizeof *sorted, stronger_first);
		ok = score(problem, search, c, c->bins, sorted[count / KEPT_PART], power, err);
	}
	free(sorted);
	if (ok)
		return power;
	free(power);
	return NULL;
}

/* The strongest candidate, which is taken out with its neighbours of the same orientation. False when none is left. */
static bool take_strongest(const variance_search *search, double *power, optics_parameters *p)
{
	const size_t count = search->orientations * search->candidates;
	size_t best = 0;
	for (size_t i = 1; i < count; i++)
		best = power[i] > power[best] ? i : best;
	if (count == 0 || power[best] < 0)
		return false;
	const size_t first = best - best % search->candidates;
	const double *C = search->candidate[best % search->candidates].C_A;
	for (size_t i = 0; i < search->candidates; i++) {
		const double *other = search->candidate[i].C_A;
		bool near = true;
		for (int j = 0; j < 3; j++)
			near &= fabs(other[j] - C[j]) <= 1.5 * search->spacing_A;
		if (near)
			power[first + i] = -1;
	}
	*p = candidate_at(search, best);
	return true;
}

/* Up to the nearest maximum of the coherent power, in the parameters that its few bins determine. */
static bool raise_power(const variance_problem *problem, coherent *c, optics_parameters *p, ssb_error *err)
{
	int parameter[FIT_PARAMETERS];
	double radians_per_unit[FIT_PARAMETERS];
	nlopt_result ignored;
	descent d = {.problem = problem, .parameter = parameter, .radians_per_unit = radians_per_unit, .value = incoherence, .context = c,
	             .start = *p, .most_evaluations = QUICK_EVALUATIONS, .err = err};
	for (size_t i = 0; i < problem->n; i++)
		if (problem->parameter[i] <= C12b || problem->parameter[i] == ROTATION) {
			parameter[d.n] = problem->parameter[i];
			radians_per_unit[d.n++] = problem->radians_per_unit[i];
		}
	if (d.n == 0)
		return true;
	const bool ok = descend(&d, QUICK_RAD, &ignored);
	*p = d.best;
	return ok;
}

/* The search's best local optima refined; the one of least variance is the start. */
static bool search_start(const variance_problem *problem, const variance_search *search, variance_optimum *out, optics_parameters *start,
                         ssb_error *err)
{
	coherent c = coherent_make(problem->e, search);
	double least_rad2 = INFINITY, *power = search_powers(problem, search, &c, err);
	bool ok = power != NULL;
	optics_parameters p;
	out->bins = c.bins;
	for (size_t i = 0; ok && i < FINALISTS && take_strongest(search, power, &p); i++) {
		double rad2 = INFINITY;
		ok = raise_power(problem, &c, &p, err) && variance_value(problem->b, problem->e, &p, &rad2, err);
		out->evaluations++;
		if (ok && rad2 < least_rad2) {
			least_rad2 = rad2;
			*start = p;
		}
	}
	free(power);
	return ok;
}

/* ---- all of it ---- */

static bool add_descent(const variance_problem *problem, const char *origin, const optics_parameters *start, size_t most_evaluations,
                        variance_optimum *out, ssb_error *err)
{
	variance_descent *v = &out->descent[out->starts];
	*v = (variance_descent){.origin = origin, .start = *start};
	if (!minimise(problem, most_evaluations, v, err))
		return false;
	out->evaluations += v->evaluations;
	if (v->variance_rad2 < out->descent[out->best].variance_rad2)
		out->best = out->starts;
	out->starts++;
	return true;
}

bool variance_fit(const variance_problem *problem, const variance_search *search, const optics_parameters *likelihood_optimum,
                  variance_optimum *out, ssb_error *err)
{
	const bool searches = search && search->orientations > 0 && search->candidates > 0;
	optics_parameters start = *likelihood_optimum;
	*out = (variance_optimum){0};
	if (!add_descent(problem, "likelihood", likelihood_optimum, problem->most_evaluations / (searches ? 2 : 1), out, err))
		return false;
	if (!searches)
		return true;
	if (!search_start(problem, search, out, &start, err))
		return false;
	const size_t left = problem->most_evaluations > out->evaluations ? problem->most_evaluations - out->evaluations : 1;
	return add_descent(problem, "coherent power", &start, left, out, err);
}
