#include "tools/ssb-fit/fit.h"

#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/ssb-fit/search.h"
#include "tools/transfer/optics_io.h"
#include "tools/transfer/reconstruct.h"

enum { MOST_STARTS = 12, MOST_REFINED = 2 * (MOST_STARTS + 1), FINALISTS = 3, QUICK_STEPS = 12, MOST_STEPS = 60 };
static const double QUICK = 0.3, EXACT = 1e-4; /* last steps, in standard errors: to rank starts, and of the fit */
static const double AS_GOOD = 10;              /* log-likelihood: a second optimum within it is as good */
static const double IN_DOUBT = 100;            /* log-likelihood: finalists further behind before their last ascent stay behind */
static const double CONVINCING = 0.8;          /* explained: a false optimum of a strong specimen reached 0.51 */
static const double WELL_EXPLAINED = 0.9;      /* below it errors of the model, not of the dose, decide how far off the parameters are */
static const double SAME_PHASE = 0.3;          /* rad: optima nearer than that are one */
static const double POLARITY_DECIDES = 0.2;    /* physics.md section 7 */
static const double LS_EPSILON = 1e-3;

/* What one run needs beside the problem. */
typedef struct run {
	const fit_problem *problem;
	fit_result *result;
	ranking ranking;
	ascent ascent;
} run;

/* A refined start. */
typedef struct refined {
	size_t start; /* index into result->starts */
	optimum o;
} refined;

static bool no_memory(ssb_error *err)
{
	return ssb_fail(err, SSB_RUNTIME, "out of memory");
}

/* ---- starts ---- */

static void record_start(json_t *list, const start *s)
{
	json_t *entry = json_object();
	json_object_set_new(entry, "origin", json_string(s->origin));
	json_object_set_new(entry, "optics", optics_to_json(&s->p));
	if (s->score > 0)
		json_object_set_new(entry, "search_score", json_real(s->score));
	json_array_append_new(list, entry);
}

static void record_refined(json_t *list, const refined *r, const char *optics_key, const char *likelihood_key)
{
	json_t *entry = json_array_get(list, r->start);
	json_object_set_new(entry, optics_key, optics_to_json(&r->o.p));
	json_object_set_new(entry, likelihood_key, json_real(r->o.L));
}

static int better_first(const void *a, const void *b)
{
	const refined *x = a, *y = b;
	return x->o.L != y->o.L ? (x->o.L < y->o.L) - (x->o.L > y->o.L) : (x->start > y->start) - (x->start < y->start);
}

/* The phase by which two optima differ across the aperture; opposite branches are one optimum. */
static double phase_between(const run *r, const optics_parameters *a, const optics_parameters *b)
{
	if (a->transposed != b->transposed)
		return INFINITY;
	const optics_parameters other = optics_opposite_branch(b);
	const bool opposite = fabs(remainder(a->rotation_rad - b->rotation_rad, 2 * M_PI)) > M_PI / 2;
	const double *C = opposite ? other.C_A : b->C_A;
	const double turn = fabs(remainder(a->rotation_rad - b->rotation_rad, M_PI));
	const double size = fabs(a->C_A[C10]) + hypot(a->C_A[C12a], a->C_A[C12b]);
	return r->ascent.radian_per_A * (fabs(a->C_A[C10] - C[C10]) + hypot(a->C_A[C12a] - C[C12a], a->C_A[C12b] - C[C12b]) + turn * size);
}

/* Drop optima that a better one before them already is. Returns how many are left. */
static size_t distinct(const run *r, refined *list, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		bool fresh = true;
		for (size_t j = 0; j < kept; j++)
			fresh &= phase_between(r, &list[j].o.p, &list[i].o.p) > SAME_PHASE;
		if (fresh)
			list[kept++] = list[i];
	}
	return kept;
}

/* Climb from each start on the search's bins, enough to rank them; best first. */
static bool rank_starts(const run *r, refined *list, size_t count, ssb_error *err)
{
	objective f;
	ascent a = r->ascent;
	a.most_steps = QUICK_STEPS;
	a.enough = QUICK;
	if (!objective_make(&f, r->problem->b, r->problem->e, r->ranking.bin, r->ranking.searched))
		return no_memory(err);
	bool ok = true;
	for (size_t i = 0; ok && i < count; i++) {
		message_progress("refining starts", i, count);
		json_t *steps = json_array();
		ok = newton_ascend(&f, &a, &list[i].o, steps, err);
		json_object_set_new(json_array_get(r->result->starts, list[i].start), "steps", steps);
		record_refined(r->result->starts, &list[i], "refined", "refined_likelihood");
	}
	message_progress(NULL, 0, 0);
	qsort(list, count, sizeof *list, better_first);
	r->result->evaluations += f.evaluations;
	objective_free(&f);
	return ok;
}

static void warn_of_second(const run *r, const refined *list, size_t count)
{
	if (count < 2 || !r->result->worth.found)
		return;
	const double gain = (list[0].o.L - list[1].o.L) / (2 * r->ascent.sigma2);
	double C10_nm, C12_nm, phi_deg, ignored;
	optics_get(&list[1].o.p, 0, &C10_nm, &ignored);
	optics_get(&list[1].o.p, 1, &C12_nm, &phi_deg);
	if (gain < AS_GOOD)
		message_warn(r->result->warnings, "a second optimum is as good (its log-likelihood differs by %.1f): C10 %.2f nm, C12 %.2f nm at %.1f deg, "
		             "rotation %.2f deg", -gain, C10_nm, C12_nm, phi_deg, list[1].o.p.rotation_rad * 180 / M_PI);
}

/* The best optimum's twin of the other transposition is a start of its own: L alone tells the two apart. */
static bool add_twin(run *r, refined *list, size_t *count, ssb_error *err)
{
	start s = {.origin = "twin of the other transposition"};
	if (!search_twin(r->problem, &list[0].o.p, &s.p))
		return true;
	refined twin = {.start = json_array_size(r->result->starts), .o.p = s.p};
	record_start(r->result->starts, &s);
	if (!rank_starts(r, &twin, 1, err))
		return false;
	list[(*count)++] = twin;
	qsort(list, *count, sizeof *list, better_first);
	return true;
}

static double C12_size(const optics_parameters *p)
{
	return hypot(p->C_A[C12a], p->C_A[C12b]);
}

/* Of two optima that the data do not tell apart, the less astigmatic comes first. */
static void prefer_less_astigmatic(const run *r, refined *list, size_t count)
{
	if (count < 2 || list[0].o.L - list[1].o.L > AS_GOOD * 2 * r->ascent.sigma2 || C12_size(&list[0].o.p) <= C12_size(&list[1].o.p))
		return;
	const refined first = list[0];
	list[0] = list[1];
	list[1] = first;
}

/* The best distinct starts on every bin: the best one to convergence, step by step for the record, others too where they come near. */
static bool ascend_finalists(run *r, refined *list, size_t count, ssb_error *err)
{
	objective f;
	if (!objective_make(&f, r->problem->b, r->problem->e, r->ranking.bin, r->ranking.count))
		return no_memory(err);
	bool ok = true;
	for (size_t i = 0; ok && i < count; i++)
		ok = objective_value(&f, &list[i].o.p, &list[i].o.L, err);
	qsort(list, count, sizeof *list, better_first);
	const double in_doubt = list[0].o.L - IN_DOUBT * 2 * r->ascent.sigma2;
	for (size_t i = 0; ok && i < count && list[i].o.L >= in_doubt; i++) {
		ok = newton_ascend(&f, &r->ascent, &list[i].o, NULL, err);
		record_refined(r->result->starts, &list[i], "optimum", "optimum_likelihood");
	}
	qsort(list, count, sizeof *list, better_first);
	count = distinct(r, list, count);
	prefer_less_astigmatic(r, list, count);
	if (ok && newton_ascend(&f, &r->ascent, &list[0].o, r->result->steps, err)) {
		r->result->best = list[0].o;
		r->result->worth = certify(&f, &list[0].o, r->ascent.n);
		warn_of_second(r, list, count);
	}
	r->result->evaluations += f.evaluations;
	objective_free(&f);
	return ok;
}

/* Whether an optimum explains so much that no other rotation needs a look. */
static bool convincing(const run *r, const refined *best, bool *yes, ssb_error *err)
{
	objective f;
	double L;
	if (!objective_make(&f, r->problem->b, r->problem->e, r->ranking.bin, r->ranking.searched))
		return no_memory(err);
	const bool ok = objective_value(&f, &best->o.p, &L, err);
	const certificate c = certify(&f, &best->o, r->ascent.n);
	*yes = c.explained - 2 * c.explained_noise > CONVINCING;
	r->result->evaluations += f.evaluations;
	objective_free(&f);
	return ok;
}

/* Add the refined starts of one search to the list, best first. */
static bool look(run *r, bool every_rotation, refined *list, size_t *count, ssb_error *err)
{
	start starts[MOST_STARTS];
	const size_t before = json_array_size(r->result->starts), n = search_starts(r->problem, &r->ranking, every_rotation, starts, MOST_STARTS, r->result->searches, err);
	for (size_t i = 0; i < n; i++) {
		record_start(r->result->starts, &starts[i]);
		list[*count + i] = (refined){.start = before + i, .o.p = starts[i].p};
	}
	if (n == 0 || !rank_starts(r, list + *count, n, err))
		return false;
	*count += n;
	qsort(list, *count, sizeof *list, better_first);
	return add_twin(r, list, count, err);
}

/* From starts to the best optimum. */
static bool find_optimum(run *r, ssb_error *err)
{
	refined list[MOST_REFINED] = {{.start = 0, .o.p = r->problem->held}};
	size_t count = 0;
	bool done = false;
	if (r->problem->has_start) {
		const start given = {.origin = "given", .p = r->problem->held};
		record_start(r->result->starts, &given);
		count = 1;
	} else if (!look(r, false, list, &count, err) || !convincing(r, &list[0], &done, err)) {
		return false;
	} else if (!done && r->problem->fits[ROTATION] && !look(r, true, list, &count, err)) {
		return false;
	}
	count = distinct(r, list, count);
	return ascend_finalists(r, list, count < FINALISTS ? count : FINALISTS, err);
}

/* ---- the optimum's worth ---- */

static void warn_of_worth(const run *r)
{
	const certificate *w = &r->result->worth;
	json_t *warnings = r->result->warnings;
	if (!w->found)
		message_warn(warnings, "nothing was found: the best optimum is %.1f deviations of pure noise, which a search of noise reaches too",
		             w->significance);
	else if (!(w->explained_noise < 0.5))
		message_warn(warnings, "the dose is too low to say how much of the signal is explained; the optimum is %.1f deviations of pure "
		             "noise", w->significance);
	else if (w->explained + 2 * w->explained_noise < WELL_EXPLAINED)
		message_warn(warnings, "only %.2f +- %.2f of the signal is explained: a thick or strong specimen, or aberrations that are not "
		             "in the model; the error bars do not cover that", w->explained, w->explained_noise);
	if (w->found && r->ascent.n > 0 && !w->has_covariance)
		message_warn(warnings, "no error bars: the noise-free curvature is not positive definite at the optimum");
	if (!r->result->best.converged)
		message_warn(warnings, "the fit has not converged: %s", r->result->best.stopped);
}

static void warn_of_range(const run *r)
{
	const fit_problem *p = r->problem;
	const optics_parameters *o = &r->result->best.p;
	const double margin = search_spacing_A(p, &r->ranking) / 2, C12_A = hypot(o->C_A[C12a], o->C_A[C12b]);
	if (p->has_start)
		return;
	if (p->fits[C10] && (o->C_A[C10] < p->C10_range_A[0] + margin || o->C_A[C10] > p->C10_range_A[1] - margin))
		message_warn(r->result->warnings, "C10 %.2f nm is at the edge of its range, %.1f to %.1f nm (--c10)", o->C_A[C10] / 10,
		             p->C10_range_A[0] / 10, p->C10_range_A[1] / 10);
	if (p->fits[C12a] && C12_A > p->C12_most_A - margin)
		message_warn(r->result->warnings, "C12 %.2f nm is at the edge of its range, %.1f nm (--c12)", C12_A / 10, p->C12_most_A / 10);
}

/* ---- the branch ---- */

static bool polarity_of(const run *r, const optics_parameters *p, double *polarity, ssb_error *err)
{
	const size_t count = r->problem->e->scan[0] * r->problem->e->scan[1];
	double *image = malloc(count * sizeof *image);
	const bool ok = image ? reconstruct(r->problem->b, r->problem->e, p, ESTIMATOR_LS, 1, LS_EPSILON, image, err) : no_memory(err);
	if (ok)
		*polarity = phase_polarity(image, count);
	free(image);
	return ok;
}

/* Whether the opposite branch is open: the rotation, C10 and C12 are fitted, nothing of even order is held, C10 may change its sign. */
static bool branch_open(const fit_problem *p, const optics_parameters *opposite)
{
	for (int i = C21a; i < ABERRATIONS; i++)
		if (aberration_terms[i].m % 2 == 0 && p->held.C_A[i] != 0)
			return false;
	return p->fits[ROTATION] && (p->fits[C10] || p->held.C_A[C10] == 0) &&
	       (p->fits[C12a] || (p->held.C_A[C12a] == 0 && p->held.C_A[C12b] == 0)) &&
	       (p->has_start || (opposite->C_A[C10] >= p->C10_range_A[0] && opposite->C_A[C10] <= p->C10_range_A[1]));
}

/* In the other branch the even orders and the tilt change sign, so their covariances with the others do. */
static void flip_covariance(fit_result *result)
{
	for (size_t i = 0; i < result->n; i++)
		for (size_t j = 0; j < result->n; j++) {
			const int a = result->parameter[i], b = result->parameter[j];
			const bool flips_a = a < ABERRATIONS ? aberration_terms[a].m % 2 == 0 : a == TILT_R || a == TILT_C;
			const bool flips_b = b < ABERRATIONS ? aberration_terms[b].m % 2 == 0 : b == TILT_R || b == TILT_C;
			if (flips_a != flips_b)
				result->worth.covariance[i * result->n + j] *= -1;
		}
}

static bool choose_branch(run *r, ssb_error *err)
{
	fit_result *result = r->result;
	const optics_parameters opposite = optics_opposite_branch(&result->best.p);
	const bool open = branch_open(r->problem, &opposite);
	if (!polarity_of(r, &result->best.p, &result->polarity, err))
		return false;
	result->polarity_taken = result->polarity;
	result->branch = !open ? "given" : fabs(result->polarity) < POLARITY_DECIDES ? "undecided" : "kept";
	if (open && fabs(result->polarity) < POLARITY_DECIDES)
		message_warn(result->warnings, "polarity %.2f does not decide between rotation %.2f deg and its opposite", result->polarity,
		             result->best.p.rotation_rad * 180 / M_PI);
	if (result->polarity > -POLARITY_DECIDES)
		return true;
	if (!open) {
		message_warn(result->warnings, "polarity %.2f: the atoms are dark; the opposite branch (rotation + 180 deg, C10 and C12 of opposite "
		             "sign) is ruled out by what was given", result->polarity);
		return true;
	}
	result->best.p = opposite;
	result->branch = "opposite taken";
	flip_covariance(result);
	return polarity_of(r, &opposite, &result->polarity_taken, err);
}

/* ---- all of it ---- */

static void list_parameters(const fit_problem *problem, fit_result *result)
{
	for (int i = 0; i < FIT_PARAMETERS; i++)
		if (problem->fits[i])
			result->parameter[result->n++] = i;
}

static bool judge(run *r, ssb_error *err)
{
	fit_result *result = r->result;
	const size_t count = r->problem->e->scan[0] * r->problem->e->scan[1];
	warn_of_worth(r);
	if (!result->worth.found)
		return true;
	if (!choose_branch(r, err))
		return false;
	warn_of_range(r);
	double *image = malloc(count * sizeof *image);
	const bool ok = image ? r->problem->b->mean_phase(r->problem->e, &result->best.p, 1, image, &result->variance_rad2, err) : no_memory(err);
	free(image);
	return ok;
}

bool fit_run(const fit_problem *problem, fit_result *result, ssb_error *err)
{
	run r = {.problem = problem, .result = result};
	result->n = 0;
	list_parameters(problem, result);
	result->searches = json_array();
	result->starts = json_array();
	result->steps = json_array();
	if (!ranking_make(&r.ranking, problem->e))
		return no_memory(err);
	r.ascent = (ascent){.parameter = result->parameter, .n = result->n, .most_steps = MOST_STEPS, .enough = EXACT,
	                    .radian_per_A = 2 * M_PI * problem->e->geometry.semiangle_rad * r.ranking.q_rms,
	                    .sigma2 = evidence_sigma2(problem->e)};
	const bool ok = find_optimum(&r, err) && judge(&r, err);
	ranking_free(&r.ranking);
	return ok;
}

void fit_free(fit_result *result)
{
	json_decref(result->searches);
	json_decref(result->starts);
	json_decref(result->steps);
}
