#include "tools/ssb-fit/branch.h"

#include <stdlib.h>
#include "tools/common/message.h"
#include "tools/transfer/reconstruct.h"

static const double DECIDES = 0.2; /* physics.md section 7 */
static const double LS_EPSILON = 1e-3, DEG = 180 / M_PI;

/* Of the phase that the objective's sums give: no other pass over the evidence. */
static bool polarity_of(const objective *f, double *polarity, ssb_error *err)
{
	const size_t count = f->e->scan[0] * f->e->scan[1];
	double *image = malloc(count * sizeof *image);
	const bool ok = image ? reconstruct_from_sums(f->e, f->frequency, f->sums, f->count, LS_EPSILON, image, err)
	                      : ssb_fail(err, SSB_RUNTIME, "out of memory");
	if (ok)
		*polarity = phase_polarity(image, count);
	free(image);
	return ok;
}

static bool flips(int parameter)
{
	return parameter < ABERRATIONS ? aberration_terms[parameter].m % 2 == 0 : parameter == TILT_R || parameter == TILT_C;
}

static bool in_range(const fit_problem *p, const optics_parameters *o)
{
	return o->C_A[C10] >= p->range_A[0][0] && o->C_A[C10] <= p->range_A[0][1] && fit_rotation_in_range(p, o->rotation_rad);
}

/* Whether the opposite branch is open: the rotation is fitted, nothing that changes its sign is held, and the ranges allow it. */
static bool is_open(const fit_problem *p, const optics_parameters *opposite)
{
	for (int i = 0; i < FIT_PARAMETERS; i++)
		if (flips(i) && !p->fits[i] && fit_parameter_get(&p->held, i) != 0)
			return false;
	return p->fits[ROTATION] && (p->has_start || in_range(p, opposite));
}

/* In the other branch gamma changes its sign (physics.md section 7), and so does the phase. The even orders and the tilt change theirs, so their
 * covariances with the others do. */
static void take_opposite(fit_result *result)
{
	const size_t n = result->set.n;
	result->best.p = optics_opposite_branch(&result->best.p);
	result->polarity_taken = -result->polarity;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			if (flips(result->set.parameter[i]) != flips(result->set.parameter[j]))
				result->worth.covariance[i * n + j] *= -1;
}

static bool is_branch_0(const optics_parameters *p)
{
	return cos(p->rotation_rad) >= 0;
}

static void warn_of_polarity(const run *r, bool open)
{
	const fit_result *result = r->result;
	if (open && fabs(result->polarity) < DECIDES)
		message_warn(result->warnings, "polarity %.2f does not decide between rotation %.2f deg and its opposite", result->polarity,
		             result->best.p.rotation_rad * DEG);
	else if (!open && result->polarity <= -DECIDES)
		message_warn(result->warnings, "polarity %.2f: the atoms are dark; the opposite branch (rotation + 180 deg, C10 and C12 of opposite "
		             "sign) is ruled out by what was given", result->polarity);
}

/* The branch that was asked for, whatever the polarity. */
static bool take_asked(const run *r, bool open, ssb_error *err)
{
	fit_result *result = r->result;
	result->branch = "asked for";
	if (is_branch_0(&result->best.p) == (r->problem->branch == BRANCH_0))
		return true;
	if (!open)
		return ssb_fail(err, SSB_USAGE, "--branch %s: the other branch is ruled out by what was given", r->problem->branch == BRANCH_0 ? "0" : "180");
	take_opposite(result);
	return true;
}

static bool list_both(const run *r, bool open, ssb_error *err)
{
	fit_result *result = r->result;
	if (!open)
		return ssb_fail(err, SSB_USAGE, "--branch both: the other branch is ruled out by what was given");
	const optics_parameters other = optics_opposite_branch(&result->best.p);
	const bool first = is_branch_0(&result->best.p);
	result->both[first ? 0 : 1] = (fit_branch){result->best.p, result->polarity_taken};
	result->both[first ? 1 : 0] = (fit_branch){other, -result->polarity_taken};
	result->branches = 2;
	return true;
}

bool branch_choose(const run *r, const objective *all, ssb_error *err)
{
	fit_result *result = r->result;
	const optics_parameters opposite = optics_opposite_branch(&result->best.p);
	const bool open = is_open(r->problem, &opposite);
	if (!polarity_of(all, &result->polarity, err))
		return false;
	result->polarity_taken = result->polarity;
	if (r->problem->branch == BRANCH_0 || r->problem->branch == BRANCH_180)
		return take_asked(r, open, err);
	result->branch = !open ? "given" : fabs(result->polarity) < DECIDES ? "undecided" : "kept";
	warn_of_polarity(r, open);
	if (open && result->polarity <= -DECIDES) {
		result->branch = "opposite taken";
		take_opposite(result);
	}
	return r->problem->branch != BRANCH_BOTH || list_both(r, open, err);
}
