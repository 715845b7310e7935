#include "tools/ssb-fit/climb.h"

#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/profile.h"
#include "tools/ssb-fit/scales.h"
#include "tools/ssb-fit/specimen.h"

static const double QUICK = 0.3;       /* last step of a climb that ranks, in standard errors */
static const double CONVINCING = 0.8;  /* explained: a false optimum of a strong specimen reached 0.51 */
static const double NOISY = 0.3, FAR_OUT = 30; /* where eta's own noise hides that: its least and the optimum's deviations of pure noise */
static const double SAME_RAD = 0.3;    /* optima nearer than that are one */

refined climb_begin(const run *r, const start *s)
{
	json_t *entry = json_object(), *list = r->result->starts;
	json_object_set_new(entry, "origin", json_string(s->origin));
	json_object_set_new(entry, "optics", optics_to_json(&s->p));
	if (s->score > 0)
		json_object_set_new(entry, "search_score", json_real(s->score));
	json_array_append_new(list, entry);
	return (refined){.start = json_array_size(list) - 1, .o.p = s->p};
}

static void record(const run *r, const refined *x, const char *key)
{
	json_t *entry = json_array_get(r->result->starts, x->start);
	char likelihood_key[32];
	snprintf(likelihood_key, sizeof likelihood_key, "%s_likelihood", key);
	json_object_set_new(entry, key, optics_to_json(&x->o.p));
	json_object_set_new(entry, likelihood_key, json_real(x->o.L));
}

static int better_first(const void *a, const void *b)
{
	const refined *x = a, *y = b;
	return x->o.L != y->o.L ? (x->o.L < y->o.L) - (x->o.L > y->o.L) : (x->start > y->start) - (x->start < y->start);
}

void climb_sort(refined *list, size_t count)
{
	qsort(list, count, sizeof *list, better_first);
}

bool climb_objective(const run *r, size_t bins, objective *f, ssb_error *err)
{
	const size_t count = bins < r->ranking.count ? bins : r->ranking.count;
	return objective_make(f, r->problem->b, r->problem->e, r->ranking.bin, count, &r->result->budget) ||
	       ssb_fail(err, SSB_RUNTIME, "out of memory");
}

bool climb_all(const run *r, const parameter_set *set, effort how, refined *list, size_t count, const char *key, ssb_error *err)
{
	objective f;
	ascent a = r->ascent;
	profile_phase("climb");
	a.most_steps = how.steps;
	a.enough = QUICK;
	bool ok = climb_objective(r, how.bins, &f, err);
	for (size_t i = 0; ok && i < count; i++) {
		message_progress("refining starts", i, count);
		ok = newton_ascend(&f, &a, set, &list[i].o, NULL, err);
		if (key)
			record(r, &list[i], key);
	}
	message_progress(NULL, 0, 0);
	climb_sort(list, count);
	objective_free(&f);
	return ok;
}

size_t climb_distinct(const run *r, refined *list, size_t count, size_t most)
{
	size_t kept = 0;
	for (size_t i = 0; i < count && kept < most; i++) {
		bool fresh = true;
		for (size_t j = 0; fresh && j < kept; j++)
			fresh = scale_distance_rad(r->problem->e, r->ranking.q_rms, &list[j].o.p, &list[i].o.p) > SAME_RAD;
		if (fresh)
			list[kept++] = list[i];
	}
	return kept;
}

bool climb_convincing(const run *r, const optimum *o, size_t bins, bool *yes, ssb_error *err)
{
	objective f;
	double L;
	const bool ok = climb_objective(r, bins, &f, err) && objective_value(&f, &o->p, &L, err);
	if (ok) {
		const certificate c = certify(&f, o, 0);
		*yes = c.explained - 2 * c.explained_noise > CONVINCING ||
		       (c.explained > CONVINCING && c.explained_noise < NOISY && c.significance > FAR_OUT);
	}
	objective_free(&f);
	return ok;
}

parameter_set climb_set(const fit_problem *problem, int order, bool sampling)
{
	parameter_set set = {.n = 0};
	for (int i = 0; i < FIT_PARAMETERS; i++) {
		const bool wanted = i < ABERRATIONS ? aberration_terms[i].n <= order : i == SAMPLING ? sampling : !specimen_has(i);
		if (problem->fits[i] && wanted)
			set.parameter[set.n++] = i;
	}
	return set;
}
