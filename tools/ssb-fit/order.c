#include "tools/ssb-fit/order.h"

#include "tools/ssb-fit/scales.h"

static const double LIMIT = 4;

/* The optimum of one order. */
typedef struct level {
	parameter_set set;
	optimum o;
	certificate worth;
	size_t undetermined;   /* directions */
	double significance;   /* of its gain over the order below */
} level;

/* Parameters asked for of orders above `order` back at their held values. */
static optics_parameters cut(const fit_problem *problem, const optics_parameters *p, int order)
{
	optics_parameters q = *p;
	for (int i = 0; i < ABERRATIONS; i++)
		if (problem->fits[i] && aberration_terms[i].n > order)
			q.C_A[i] = problem->held.C_A[i];
	return q;
}

static size_t undetermined(const run *r, const level *l)
{
	double rad[FIT_PARAMETERS], deviation[FIT_PARAMETERS], axis[FIT_PARAMETERS * FIT_PARAMETERS];
	scale_all_rad(r->problem->e, r->ranking.q_rms, &l->o.p, l->set.parameter, l->set.n, rad);
	return certify_directions(&l->o.at, r->ascent.sigma2, rad, l->set.n, deviation, axis);
}

/* Climb from both starts, keep the better. */
static bool climb(const run *r, int order, const optics_parameters *from, const optics_parameters *before, objective *all, level *l,
                  ssb_error *err)
{
	l->set = climb_set(r->problem, order, true);
	const optics_parameters both[2] = {cut(r->problem, from, order), *before};
	for (int i = 0; i < (order > 1 ? 2 : 1); i++) {
		optimum o = {.p = both[i]};
		if (!newton_ascend(all, &r->ascent, &l->set, &o, NULL, err))
			return false;
		if (i == 0 || o.L > l->o.L)
			l->o = o;
	}
	if (!objective_value(all, &l->o.p, &l->o.L, err))
		return false;
	l->worth = certify(all, &l->o, l->set.n);
	l->undetermined = undetermined(r, l);
	return true;
}

static double significance(const run *r, const level *l, const level *below)
{
	const double gain = (l->o.L - below->o.L) / r->ascent.sigma2 - (l->worth.noise_gain - below->worth.noise_gain);
	return gain / sqrt(fmax(l->worth.noise_gain_variance - below->worth.noise_gain_variance, 1));
}

static void record(const run *r, int order, const level *l, const level *below)
{
	json_t *entry = json_pack("{s: i, s: I, s: f, s: I}", "order", order, "parameters", (json_int_t)l->set.n, "likelihood", l->o.L,
	                          "undetermined_directions", (json_int_t)l->undetermined);
	if (below) {
		json_object_set_new(entry, "log_likelihood_gain", json_real((l->o.L - below->o.L) / (2 * r->ascent.sigma2)));
		json_object_set_new(entry, "significance", json_real(l->significance));
	}
	json_object_set_new(entry, "optics", optics_to_json(&l->o.p));
	json_array_append_new(r->result->orders, entry);
}

bool order_choose(const run *r, const optics_parameters *from, objective *all, ssb_error *err)
{
	level l[MOST_ORDER + 1] = {0};
	int chosen = 1;
	r->result->orders = json_array();
	for (int order = 1; order <= MOST_ORDER; order++) {
		const level *below = order > 1 ? &l[order - 1] : NULL;
		if (!climb(r, order, from, below ? &below->o.p : from, all, &l[order], err))
			return false;
		if (below)
			l[order].significance = significance(r, &l[order], below);
		record(r, order, &l[order], below);
		if (below && l[order].set.n > below->set.n && l[order].significance > LIMIT && l[order].undetermined == 0 && l[order].worth.has_covariance)
			chosen = order;
	}
	for (size_t i = 0; i < json_array_size(r->result->orders); i++)
		json_object_set_new(json_array_get(r->result->orders, i), "taken", json_boolean((int)i + 1 <= chosen));
	r->result->set = l[chosen].set;
	r->result->best = l[chosen].o;
	if (!newton_ascend(all, &r->ascent, &r->result->set, &r->result->best, r->result->steps, err))
		return false;
	r->result->worth = certify(all, &r->result->best, r->result->set.n);
	return true;
}
