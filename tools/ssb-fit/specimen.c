#include "tools/ssb-fit/specimen.h"

#include <stdlib.h>
#include "tools/common/message.h"
#include "tools/common/profile.h"

enum { MOST_STARTS = 4, CLIMB_STEPS = 30 };
static const double LIMIT = 8;           /* deviations of what noise gains, as for an optimum (certificate.c): tilts are searched, too */
static const double THINNEST_A = 20;     /* of the thicknesses looked at: each twice the last */
static const double FEW_COUNTS = 5;      /* below it the error bars of tilt and thickness are too small (physics.md section 5: by 10-20 %) */

bool specimen_wanted(const fit_problem *problem)
{
	return problem->fits[TILT_R] || problem->fits[THICKNESS];
}

/* L at p, kept if it is among the best. */
static bool try_one(objective *f, const optics_parameters *p, refined *best, size_t *count, ssb_error *err)
{
	refined x = {.o.p = *p};
	if (!objective_value(f, p, &x.o.L, err))
		return false;
	if (*count < MOST_STARTS)
		best[(*count)++] = x;
	else if (x.o.L > best[MOST_STARTS - 1].o.L)
		best[MOST_STARTS - 1] = x;
	climb_sort(best, *count);
	return true;
}

/* Every tilt of the range at one thickness, as far apart as the weight sin(x)/x tells them apart. */
static bool try_tilts(const run *r, objective *f, optics_parameters p, refined *best, size_t *count, ssb_error *err)
{
	const fit_problem *problem = r->problem;
	const double spacing = 1 / (M_PI * r->ranking.q_rms * p.thickness_A);
	const long half = problem->fits[TILT_R] ? (long)ceil(problem->tilt_most_rad / spacing) : 0;
	bool ok = true;
	for (long a = -half; ok && a <= half; a++)
		for (long b = -half; ok && b <= half; b++) {
			if (problem->fits[TILT_R]) {
				p.tilt_rad[0] = (double)a * spacing;
				p.tilt_rad[1] = (double)b * spacing;
			}
			ok = hypot((double)a, (double)b) > (double)half + 0.5 || try_one(f, &p, best, count, err);
		}
	return ok;
}

static bool look(const run *r, const optics_parameters *thin, refined *best, size_t *count, ssb_error *err)
{
	const fit_problem *problem = r->problem;
	objective f;
	optics_parameters p = *thin;
	bool ok = climb_objective(r, r->ranking.searched, &f, err);
	if (problem->fits[THICKNESS])
		for (double t = THINNEST_A; ok && t <= problem->thickness_most_A; t *= 2) {
			p.thickness_A = t;
			ok = try_tilts(r, &f, p, best, count, err);
		}
	else if (ok)
		ok = try_tilts(r, &f, p, best, count, err);
	if (ok && problem->has_start && problem->held.thickness_A > 0) {
		p.thickness_A = problem->held.thickness_A;
		p.tilt_rad[0] = problem->held.tilt_rad[0], p.tilt_rad[1] = problem->held.tilt_rad[1];
		ok = try_one(&f, &p, best, count, err);
	}
	objective_free(&f);
	return ok;
}

static void record(fit_result *result, const optimum *thin, double eta_thin, const optimum *thick, const certificate *c, double gain,
                   double significance)
{
	result->thickness = json_pack("{s: f, s: f, s: f, s: f, s: f, s: b}", "likelihood_thin", thin->L, "likelihood_thick", thick->L,
	                              "log_likelihood_gain", gain / 2, "significance", significance, "limit", LIMIT, "determined",
	                              (int)(significance > LIMIT));
	if (isfinite(eta_thin) && isfinite(c->explained)) {
		json_object_set_new(result->thickness, "explained_thin", json_real(eta_thin));
		json_object_set_new(result->thickness, "explained_thick", json_real(c->explained));
	}
	json_object_set_new(result->thickness, "optics_thick", optics_to_json(&thick->p));
}

/* Climb on every bin. The weights are even in the thickness, whose sign is a convention. */
static bool climb_thick(const run *r, const parameter_set *set, objective *all, optimum *thick, ssb_error *err)
{
	if (!newton_ascend(all, &r->ascent, set, thick, r->result->steps, err))
		return false;
	if (thick->p.thickness_A >= 0)
		return true;
	thick->p.thickness_A *= -1;
	return newton_ascend(all, &r->ascent, set, thick, r->result->steps, err);
}

static void take(const run *r, const parameter_set *set, const optimum *thick, const certificate *c)
{
	fit_result *result = r->result;
	result->best = *thick;
	result->set = *set;
	result->worth = *c;
	if (evidence_sigma2(r->problem->e) < FEW_COUNTS * (double)(r->problem->e->scan[0] * r->problem->e->scan[1]))
		message_warn(result->warnings, "below about %.0f counts per bright-field pixel the error bars of tilt and thickness are 10 to 20 %% too "
		             "small", FEW_COUNTS);
}

static void leave(const run *r, const parameter_set *set, double significance)
{
	fit_result *result = r->result;
	for (size_t i = 0; i < set->n; i++)
		if (specimen_has(set->parameter[i]))
			result->undetermined[set->parameter[i]] = true;
	message_warn(result->warnings, "the data do not show a thickness: with %s the likelihood gains %.1f deviations of what noise gives "
	             "(%.0f would show it)", r->problem->fits[TILT_R] ? "tilt and thickness" : "it", significance, LIMIT);
}

bool specimen_compare(const run *r, const parameter_set *set, objective *all, ssb_error *err)
{
	refined list[MOST_STARTS];
	fit_result *result = r->result;
	size_t count = 0;
	const optimum thin = result->best;
	const certificate of_thin = result->worth;
	if (!look(r, &thin.p, list, &count, err) ||
	    !climb_all(r, set, (effort){r->ranking.searched, CLIMB_STEPS}, list, count, NULL, err))
		return false;
	profile_phase("all evidence");
	optimum thick = list[0].o;
	if (!climb_thick(r, set, all, &thick, err))
		return false;
	const certificate c = certify(all, &thick, set->n);
	const double extra = (double)(set->n - result->set.n), gain = (thick.L - thin.L) / r->ascent.sigma2;
	const double significance = (gain - extra) / sqrt(2 * extra);
	record(result, &thin, of_thin.explained, &thick, &c, gain, significance);
	if (significance > LIMIT) {
		take(r, set, &thick, &c);
		return true;
	}
	leave(r, set, significance);
	return objective_value(all, &result->best.p, &result->best.L, err);
}
