#include "tools/ssb-fit/fit.h"

#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/profile.h"
#include "tools/ssb-fit/branch.h"
#include "tools/ssb-fit/broad.h"
#include "tools/ssb-fit/order.h"
#include "tools/ssb-fit/scales.h"
#include "tools/ssb-fit/specimen.h"
#include "tools/ssb-fit/variance.h"

enum { BEST = 12, FINALISTS = 5, ORIENTATIONS = 4, FIRST_BINS = 100, FIRST_STEPS = 4, QUICK_STEPS = 12, MOST_STEPS = 100, AUTO_ORDER = 3,
       LEAST_TELLING = 4096, MOST_TELLING = 16384 };
enum { MOST_REFINED = 6 * (BEST + 1) };
static const double EXACT = 0.02;              /* what another step would change, in standard errors */
static const double AS_GOOD = 10;              /* log-likelihood: a second optimum within it is as good */
static const double IN_DOUBT = 100;            /* log-likelihood: finalists further behind before their last ascent stay behind */
static const double SAYS_NOTHING = 10;         /* log-likelihood: more is not lost with a parameter that the data say nothing of */
static const double WELL_EXPLAINED = 0.9;      /* below it errors of the model, not of the dose, decide how far off the parameters are */
static const double SAMPLING_OFF = 0.01;       /* of the rule's value: worth a warning */
static const double NAMED = 0.3;               /* weight in an undetermined direction from which a parameter is named */
static const double ONE_ORIENTATION = 5;       /* degrees */

/* ---- from zero to a list of optima ---- */

/* The best optimum's twin of the other transposition is a start of its own: L alone tells the two apart. */
static bool add_twin(const run *r, const parameter_set *set, refined *list, size_t *count, ssb_error *err)
{
	start s = {.origin = "twin of the other transposition"};
	if (!search_twin(r->problem, &list[0].o.p, &s.p))
		return true;
	refined twin = climb_begin(r, &s);
	if (!climb_all(r, set, (effort){r->ranking.searched, QUICK_STEPS}, &twin, 1, "refined", err))
		return false;
	list[(*count)++] = twin;
	climb_sort(list, *count);
	return true;
}

/* Refine starts: all of them a little on few bins, the best of them more. */
static bool refine(const run *r, const parameter_set *set, refined *list, size_t *count, ssb_error *err)
{
	if (*count > BEST && !climb_all(r, set, (effort){FIRST_BINS, FIRST_STEPS}, list, *count, NULL, err))
		return false;
	*count = climb_distinct(r, list, *count, BEST);
	return climb_all(r, set, (effort){r->ranking.searched, QUICK_STEPS}, list, *count, "refined", err);
}

/* Append the refined starts of one search in C10, C12 and the rotation to list[*count], best first. */
static bool look(const run *r, bool every_rotation, refined *list, size_t *count, ssb_error *err)
{
	const parameter_set primary = climb_set(r->problem, 1, false);
	const size_t most = r->problem->trials + 2;
	start *starts = calloc(most, sizeof *starts);
	refined *fresh = calloc(most, sizeof *fresh);
	bool ok = starts && fresh ? true : ssb_fail(err, SSB_RUNTIME, "out of memory");
	size_t n = ok ? search_starts(r->problem, &r->ranking, every_rotation, starts, most, r->result->searches, err) : 0;
	for (size_t i = 0; i < n; i++)
		fresh[i] = climb_begin(r, &starts[i]);
	ok = n > 0 && refine(r, &primary, fresh, &n, err);
	for (size_t i = 0; ok && i < n; i++)
		list[(*count)++] = fresh[i];
	climb_sort(list, *count);
	free(starts);
	free(fresh);
	return ok && add_twin(r, &primary, list, count, err);
}

/* Climb from the best of the list with every order of the set, too. */
static bool deepen(const run *r, const parameter_set *set, refined *list, size_t *count, ssb_error *err)
{
	refined best[BEST];
	*count = climb_distinct(r, list, *count, MOST_REFINED - BEST);
	const size_t n = *count < BEST ? *count : BEST;
	for (size_t i = 0; i < n; i++) {
		const start s = {.origin = "with the higher orders", .p = list[i].o.p};
		best[i] = climb_begin(r, &s);
	}
	if (!climb_all(r, set, (effort){r->ranking.searched, 2 * QUICK_STEPS}, best, n, "refined", err))
		return false;
	for (size_t i = 0; i < n; i++)
		list[(*count)++] = best[i];
	climb_sort(list, *count);
	return true;
}

/* The orientations of the best of a list, each once. */
static size_t best_orientations(const refined *list, size_t count, optics_parameters *out)
{
	size_t n = 0;
	for (size_t i = 0; i < count && n < ORIENTATIONS; i++) {
		bool fresh = true;
		for (size_t j = 0; j < n; j++)
			fresh &= out[j].transposed != list[i].o.p.transposed ||
			         fabs(remainder(out[j].rotation_rad - list[i].o.p.rotation_rad, M_PI)) > ONE_ORIENTATION * M_PI / 180;
		if (fresh)
			out[n++] = list[i].o.p;
	}
	return n;
}

/* Look, at first where neighbours and centre of mass point, then at every rotation, then broadly, until an optimum is convincing. */
static bool search(const run *r, const parameter_set *set, int order, refined *list, size_t *count, ssb_error *err)
{
	const fit_problem *problem = r->problem;
	bool done = false;
	for (int every = 0; every < (problem->fits[ROTATION] && !problem->rotation_ranged ? 2 : 1) && !done; every++)
		if (!look(r, every, list, count, err) || (order > 1 && !deepen(r, set, list, count, err)) ||
		    !climb_convincing(r, &list[0].o, r->ranking.searched, &done, err))
			return false;
	if (done || order == 1 || problem->broad == 0)
		return true;
	optics_parameters orientation[ORIENTATIONS];
	const size_t n = best_orientations(list, *count, orientation), before = climb_distinct(r, list, *count, MOST_REFINED - BEST);
	*count = before;
	if (!broad_search(r, set, orientation, n, list, BEST, count, err) ||
	    !climb_all(r, set, (effort){r->ranking.searched, 2 * QUICK_STEPS}, list + before, *count - before, "refined", err))
		return false;
	climb_sort(list, *count);
	return true;
}

static void record_optima(const run *r, const refined *list, size_t count)
{
	r->result->optima = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(r->result->optima, json_pack("{s: f, s: f, s: o}", "likelihood", list[i].o.L, "log_likelihood_behind",
		                                                   (list[0].o.L - list[i].o.L) / (2 * r->ascent.sigma2), "optics",
		                                                   optics_to_json(&list[i].o.p)));
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

static void warn_of_second(const run *r, const refined *list, size_t count)
{
	double C10_nm, C12_nm, phi_deg, ignored;
	if (count < 2)
		return;
	const double gain = (list[0].o.L - list[1].o.L) / (2 * r->ascent.sigma2);
	optics_get(&list[1].o.p, 0, &C10_nm, &ignored);
	optics_get(&list[1].o.p, 1, &C12_nm, &phi_deg);
	if (gain < AS_GOOD && r->result->worth.found)
		message_warn(r->result->warnings, "a second optimum is as good (its log-likelihood differs by %.1f): C10 %.2f nm, C12 %.2f nm at %.1f deg, "
		             "rotation %.2f deg", -gain, C10_nm, C12_nm, phi_deg, list[1].o.p.rotation_rad * 180 / M_PI);
}

/* The strongest frequencies that tell optima apart: those that stand out of shot noise, and not too few. The others add as much noise as signal
 * to a difference of L. */
static size_t telling_bins(const run *r)
{
	const size_t most = r->ranking.standing_out > MOST_TELLING ? MOST_TELLING : r->ranking.standing_out;
	const size_t bins = most > LEAST_TELLING ? most : LEAST_TELLING;
	return bins < r->ranking.count ? bins : r->ranking.count;
}

/* The best distinct optima, compared on the telling bins: those that come near the best to convergence. Returns how many are left. */
static bool rank_finalists(const run *r, const parameter_set *set, refined *list, size_t *count, ssb_error *err)
{
	objective f;
	bool ok = climb_objective(r, telling_bins(r), &f, err);
	for (size_t i = 0; ok && i < *count; i++)
		ok = objective_value(&f, &list[i].o.p, &list[i].o.L, err);
	climb_sort(list, *count);
	const double in_doubt = list[0].o.L - IN_DOUBT * 2 * r->ascent.sigma2;
	for (size_t i = 0; ok && i < *count && list[i].o.L >= in_doubt; i++)
		ok = newton_ascend(&f, &r->ascent, set, &list[i].o, NULL, err);
	objective_free(&f);
	climb_sort(list, *count);
	*count = climb_distinct(r, list, *count, FINALISTS);
	prefer_less_astigmatic(r, list, *count);
	return ok;
}

/* The best of the list to convergence on every bin, step by step for the record. */
static bool ascend_best(const run *r, const parameter_set *set, refined *list, size_t count, objective *all, ssb_error *err)
{
	record_optima(r, list, count);
	profile_phase("all evidence");
	r->result->set = *set;
	r->result->best = list[0].o;
	if (!newton_ascend(all, &r->ascent, set, &r->result->best, r->result->steps, err))
		return false;
	r->result->worth = certify(all, &r->result->best, set->n);
	warn_of_second(r, list, count);
	return true;
}

/* The start that was given, of a thin specimen where its thickness or tilt is to be fitted. */
static optics_parameters given_thin(const fit_problem *problem)
{
	optics_parameters p = problem->held;
	for (int i = 0; i < FIT_PARAMETERS; i++)
		if (specimen_has(i) && problem->fits[i])
			fit_parameter_set(&p, i, 0);
	return p;
}

/* From starts to the best optimum of a thin specimen. */
static bool find_optimum(const run *r, objective *all, ssb_error *err)
{
	const fit_problem *problem = r->problem;
	const int order = problem->order_auto ? AUTO_ORDER : MOST_ORDER;
	const parameter_set searched = climb_set(problem, order, false), set = climb_set(problem, order, true);
	const bool higher = climb_set(problem, 1, true).n < set.n;
	refined *list = calloc(MOST_REFINED, sizeof *list);
	size_t count = 0;
	bool ok = list ? true : ssb_fail(err, SSB_RUNTIME, "out of memory");
	if (ok && problem->has_start) {
		start given = {.origin = "given", .p = given_thin(problem)};
		list[count++] = climb_begin(r, &given);
	} else {
		ok = ok && search(r, &searched, higher ? order : 1, list, &count, err);
	}
	count = climb_distinct(r, list, count, FINALISTS);
	ok = ok && rank_finalists(r, &set, list, &count, err) && ascend_best(r, &set, list, count, all, err);
	free(list);
	const optics_parameters best = r->result->best.p;
	return ok && (!problem->order_auto || order_choose(r, &best, all, err));
}

/* ---- what the data do not determine ---- */

static bool same_order(int a, int b)
{
	if (a >= ABERRATIONS || b >= ABERRATIONS)
		return a == b || (a >= TILT_R && a <= TILT_C && b >= TILT_R && b <= TILT_C);
	return aberration_terms[a].n == aberration_terms[b].n && aberration_terms[a].m == aberration_terms[b].m;
}

/* Take the last of the parameters that make up the direction `axis` (stride n), and its partner, out of the set; back to its held value. */
static void leave_out(const run *r, const double *axis)
{
	fit_result *result = r->result;
	const size_t n = result->set.n;
	double most = 0;
	int last = -1;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(axis[i * n]));
	for (size_t i = 0; i < n; i++)
		if (fabs(axis[i * n]) > most / 2)
			last = result->set.parameter[i];
	for (size_t i = 0; i < n; i++) {
		const int parameter = result->set.parameter[i];
		if (!same_order(parameter, last)) {
			result->set.parameter[kept++] = parameter;
			continue;
		}
		result->undetermined[parameter] = true;
		fit_parameter_set(&result->best.p, parameter, fit_parameter_get(&r->problem->held, parameter));
	}
	result->set.n = kept;
}

static void record_direction(const run *r, double deviation_rad, const double *axis)
{
	json_t *entry = json_object(), *weights = json_object();
	const size_t n = r->result->set.n;
	for (size_t i = 0; i < n; i++)
		if (fabs(axis[i * n]) > NAMED)
			json_object_set_new(weights, fit_parameter_name(r->result->set.parameter[i]), json_real(axis[i * n]));
	if (isfinite(deviation_rad))
		json_object_set_new(entry, "deviation_rad", json_real(deviation_rad));
	json_object_set_new(entry, "weights", weights);
	json_array_append_new(r->result->directions, entry);
}

/* Names of what makes up the weak directions, once each. */
static void name_weak(const run *r, size_t weak, const double *axis, char *names, size_t size)
{
	const size_t n = r->result->set.n;
	*names = 0;
	for (size_t i = 0; i < n; i++) {
		double weight = 0;
		for (size_t k = 0; k < weak; k++)
			weight = fmax(weight, fabs(axis[i * n + k]));
		if (weight > NAMED)
			snprintf(names + strlen(names), size - strlen(names), "%s%s", *names ? ", " : "", fit_parameter_name(r->result->set.parameter[i]));
	}
}

static void warn_of_directions(const run *r, size_t asked, size_t weak, const double *axis)
{
	const size_t left = r->result->set.n;
	char names[300] = "";
	if (weak > 0) {
		name_weak(r, weak, axis, names, sizeof names);
		message_warn(r->result->warnings, "the data determine %zu of %zu combinations of the parameters to a radian across the aperture; the others, "
		             "of %s, are in the fit with the error bars that come of that", left - weak, left, names);
	}
	if (left == asked)
		return;
	*names = 0;
	for (int i = 0; i < FIT_PARAMETERS; i++)
		if (r->result->undetermined[i])
			snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", fit_parameter_name(i));
	message_warn(r->result->warnings, "the data determine %zu of the %zu parameters asked for; left at their start: %s", left, asked, names);
}

/* Back to the optimum that had it: without curvature, but not without a say. On a kink of the aperture's edge that is possible. */
static bool put_back(const run *r, const fit_result *before, objective *all, ssb_error *err)
{
	fit_result *result = r->result;
	json_array_remove(result->directions, json_array_size(result->directions) - 1);
	result->set = before->set;
	result->best = before->best;
	result->worth = before->worth;
	result->worth.has_covariance = false;
	memcpy(result->undetermined, before->undetermined, sizeof result->undetermined);
	return objective_value(all, &result->best.p, &result->best.L, err);
}

/* Leave out what the data say nothing of: the last parameter of each direction without curvature. What they determine badly stays, since the
 * others' error bars are true only with it; it is named. */
static bool settle(const run *r, objective *all, ssb_error *err)
{
	fit_result *result = r->result;
	const size_t asked = result->set.n;
	double rad[FIT_PARAMETERS], deviation[FIT_PARAMETERS], axis[FIT_PARAMETERS * FIT_PARAMETERS];
	size_t weak = 0;
	while (result->worth.found && result->set.n > 0) {
		scale_all_rad(r->problem->e, r->ranking.q_rms, &result->best.p, result->set.parameter, result->set.n, rad);
		weak = certify_directions(&result->best.at, r->ascent.sigma2, rad, result->set.n, deviation, axis);
		if (weak == 0 || isfinite(deviation[0]))
			break;
		const fit_result before = *result;
		record_direction(r, deviation[0], axis);
		leave_out(r, axis);
		if (!newton_ascend(all, &r->ascent, &result->set, &result->best, result->steps, err))
			return false;
		result->worth = certify(all, &result->best, result->set.n);
		weak = 0;
		if (before.best.L - result->best.L > SAYS_NOTHING * 2 * r->ascent.sigma2) {
			if (!put_back(r, &before, all, err))
				return false;
			break;
		}
	}
	for (size_t k = 0; k < weak; k++)
		record_direction(r, deviation[k], axis + k);
	warn_of_directions(r, asked, weak, axis);
	return true;
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
	if (w->found && r->result->set.n > 0 && !w->has_covariance && r->problem->objective == OBJECTIVE_LIKELIHOOD)
		message_warn(warnings, "no error bars: the noise-free curvature is not positive definite at the optimum");
	if (!r->result->best.converged)
		message_warn(warnings, "the fit has not converged: %s", r->result->best.stopped);
}

static void warn_of_range(const run *r)
{
	const fit_problem *p = r->problem;
	const double margin = search_spacing_A(p, &r->ranking) / 2;
	double C_nm, phi_deg;
	for (int order = 0; !p->has_start && order < OPTICS_ORDERS; order++) {
		const double *range = p->range_A[order];
		const bool round = optics_orders[order].m == 0;
		optics_get(&r->result->best.p, order, &C_nm, &phi_deg);
		const double C_A = 10 * C_nm, near = order < 2 ? margin : 0;
		if (!p->fits[optics_first(order)] || isnan(range[1]) || (C_A < range[1] - near && (!round || C_A > range[0] + near)))
			continue;
		message_warn(r->result->warnings, "%s %.2f nm is at the edge of its range, %.1f to %.1f nm (--range)", optics_orders[order].name, C_nm,
		             range[0] / 10, range[1] / 10);
	}
}

static void warn_of_sampling(const run *r)
{
	const fit_problem *p = r->problem;
	const double fitted = p->e->geometry.sampling_rad[0] * exp(r->result->best.p.log_sampling), off = fitted / p->sampling_rule_rad - 1;
	if (p->fits[SAMPLING] && !r->result->undetermined[SAMPLING] && fabs(off) > SAMPLING_OFF)
		message_warn(r->result->warnings, "the fitted detector sampling, %.4f mrad, is %.1f %% off the rule's %.4f mrad", fitted * 1e3, 100 * off,
		             p->sampling_rule_rad * 1e3);
}

static bool judge(const run *r, const objective *all, ssb_error *err)
{
	warn_of_worth(r);
	if (!r->result->worth.found)
		return true;
	if (!branch_choose(r, all, err))
		return false;
	warn_of_range(r);
	warn_of_sampling(r);
	return r->problem->objective != OBJECTIVE_VARIANCE ||
	       variance_value(r->problem->b, r->problem->e, &r->result->best.p, &r->result->variance_rad2, err);
}

/* ---- the published objective ---- */

static json_t *descents(const variance_optimum *v)
{
	json_t *list = json_array();
	for (size_t i = 0; i < v->starts; i++) {
		const variance_descent *d = &v->descent[i];
		json_array_append_new(list, json_pack("{s: s, s: o, s: f, s: o, s: f, s: I, s: s}", "origin", d->origin, "start", optics_to_json(&d->start),
		                                      "start_rad2", d->start_rad2, "optimum", optics_to_json(&d->optimum), "variance_rad2",
		                                      d->variance_rad2, "evaluations", (json_int_t)d->evaluations, "stopped", d->stopped));
	}
	return list;
}

/* Where the variance looks itself: at the likelihood's orientation and the centre of mass's. */
static size_t variance_orientations(const run *r, optics_parameters out[3])
{
	const fit_problem *p = r->problem;
	size_t n = 0;
	out[n++] = r->result->best.p;
	for (int t = 0; t < 2 && p->fits[ROTATION] && !p->has_start; t++) {
		if (p->transposed_given && t != p->held.transposed)
			continue;
		out[n] = r->result->best.p;
		out[n].transposed = t;
		out[n++].rotation_rad = p->com_rotation_rad[t];
	}
	return n;
}

/* Replace the likelihood's optimum by the variance's, which has no error bars. */
static bool fit_variance(const run *r, objective *all, ssb_error *err)
{
	fit_result *result = r->result;
	const fit_problem *p = r->problem;
	double rad[FIT_PARAMETERS];
	optics_parameters orientation[3];
	variance_optimum v;
	scale_all_rad(p->e, r->ranking.q_rms, &result->best.p, result->set.parameter, result->set.n, rad);
	const variance_problem problem = {.b = p->b, .e = p->e, .parameter = result->set.parameter, .radians_per_unit = rad, .n = result->set.n,
	                                  .most_evaluations = p->most_evaluations};
	search_grid g;
	bool ok = search_grid_make(&g, p, &r->ranking, err);
	const variance_search search = {.orientation = orientation, .orientations = variance_orientations(r, orientation), .candidate = g.candidate,
	                                .candidates = g.count, .spacing_A = g.spacing_A, .bin = r->ranking.bin, .bins = r->ranking.count};
	ok = ok && variance_fit(&problem, p->has_start ? NULL : &search, &result->best.p, &v, err);
	search_grid_free(&g);
	if (!ok)
		return false;
	result->variance = descents(&v);
	result->best.p = v.descent[v.best].optimum;
	result->best.converged = v.descent[v.best].converged;
	result->best.stopped = v.descent[v.best].stopped;
	if (!objective_value(all, &result->best.p, &result->best.L, err))
		return false;
	const bool found = result->worth.found;
	result->worth = certify(all, &result->best, 0);
	result->worth.found = found;
	return true;
}

/* ---- all of it ---- */

/* Tilt and thickness beside what is fitted. */
static bool fit_specimen(const run *r, objective *all, ssb_error *err)
{
	parameter_set set = {.n = 0};
	for (int i = 0; i < FIT_PARAMETERS; i++)
		if (parameter_set_find(&r->result->set, i) >= 0 || (specimen_has(i) && r->problem->fits[i]))
			set.parameter[set.n++] = i;
	return specimen_compare(r, &set, all, err) && settle(r, all, err);
}

static bool fit_with(const run *r, objective *all, ssb_error *err)
{
	fit_result *result = r->result;
	if (!find_optimum(r, all, err) || !settle(r, all, err))
		return false;
	if (result->worth.found && specimen_wanted(r->problem) && !fit_specimen(r, all, err))
		return false;
	if (result->worth.found && r->problem->objective == OBJECTIVE_VARIANCE && !fit_variance(r, all, err))
		return false;
	return judge(r, all, err);
}

bool fit_rotation_in_range(const fit_problem *problem, double rotation_rad)
{
	const double from = problem->rotation_range_rad[0], turned = rotation_rad - from;
	return !problem->rotation_ranged || turned - 2 * M_PI * floor(turned / (2 * M_PI)) <= problem->rotation_range_rad[1] - from;
}

bool fit_run(const fit_problem *problem, fit_result *result, ssb_error *err)
{
	run r = {.problem = problem, .result = result};
	objective all = {0};
	profile_phase("rank");
	result->variance_rad2 = NAN;
	result->searches = json_array();
	result->starts = json_array();
	result->steps = json_array();
	result->directions = json_array();
	if (!ranking_make(&r.ranking, problem->e))
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	result->budget = (evaluations){.most = (double)problem->most_evaluations, .bins = r.ranking.count ? r.ranking.count : 1};
	r.ascent = (ascent){.most_steps = MOST_STEPS, .enough = EXACT, .q_rms = r.ranking.q_rms, .sigma2 = evidence_sigma2(problem->e)};
	const bool ok = climb_objective(&r, r.ranking.count, &all, err) && fit_with(&r, &all, err);
	objective_free(&all);
	ranking_free(&r.ranking);
	return ok;
}

void fit_free(fit_result *result)
{
	json_decref(result->searches);
	json_decref(result->starts);
	json_decref(result->optima);
	json_decref(result->steps);
	json_decref(result->orders);
	json_decref(result->directions);
	json_decref(result->thickness);
	json_decref(result->variance);
}
