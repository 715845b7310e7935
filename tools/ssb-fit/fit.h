/* A fit from zero: exhaustive search and neighbour start, Newton steps on all the evidence, error bars, polarity (physics.md sections 5
 * and 7). */
#ifndef SSB_FIT_FIT_H
#define SSB_FIT_FIT_H

#include <jansson.h>
#include "tools/ssb-fit/certificate.h"
#include "tools/transfer/optics_io.h"

enum objective_kind { OBJECTIVE_LIKELIHOOD, OBJECTIVE_VARIANCE };
enum branch_wanted { BRANCH_POLARITY, BRANCH_0, BRANCH_180, BRANCH_BOTH };

/* What is asked. */
typedef struct fit_problem {
	const backend *b;
	const evidence *e;
	optics_parameters held;       /* values of what is not fitted (and the start, if has_start) */
	bool fits[FIT_PARAMETERS];    /* C12a and C12b together, and so on */
	bool order_auto;              /* of the orders in `fits`, as many as the data support */
	bool transposed_given;        /* held.transposed is not to be doubted */
	bool has_start;               /* climb from `held`, no search */
	double range_A[OPTICS_ORDERS][2]; /* m = 0: from, to; else 0, largest modulus */
	double rotation_range_rad[2];
	bool rotation_ranged;         /* look there alone */
	double thickness_most_A, tilt_most_rad; /* to look for a start */
	size_t broad;                 /* starting points in the higher orders */
	size_t trials;                /* most local optima of the exhaustive search to refine */
	size_t most_evaluations;
	enum branch_wanted branch;
	enum objective_kind objective;
	size_t memory;                /* bytes: most for the candidates of the search */
	double com_rotation_rad[2];   /* centre of mass: plain, transposed detector */
	double sampling_rule_rad;     /* detector sampling by physics.md section 1's rule; NAN: unknown */
} fit_problem;

/* One branch of the rotation. */
typedef struct fit_branch {
	optics_parameters p;
	double polarity;
} fit_branch;

/* What was found. The JSON values are owned; release with fit_free. */
typedef struct fit_result {
	parameter_set set;             /* what was fitted in the end */
	bool undetermined[FIT_PARAMETERS]; /* asked for, but the data do not say */
	optimum best;
	certificate worth;
	double variance_rad2;          /* the published objective at the optimum; NAN where it was not asked for */
	double polarity;               /* of the ls phase at the optimum as first found */
	double polarity_taken;         /* of the branch that was taken; the other's phase is the same of opposite sign (branch.c) */
	const char *branch;            /* "kept", "opposite taken", "undecided", "given", "asked for" */
	size_t branches;               /* 2 when both were asked for: 0 and 180 degrees */
	fit_branch both[2];
	evaluations budget;
	json_t *searches;              /* every orientation that was searched: candidates, frequencies, best score */
	json_t *starts;                /* every start: origin, optics, score, its refinement and where that led */
	json_t *optima;                /* the best distinct optima on the telling frequencies, best first */
	json_t *steps;                 /* the final ascent */
	json_t *orders;                /* --order auto: every order, its gain and significance */
	json_t *directions;            /* what the data do not determine: deviation, names and weights */
	json_t *thickness;             /* the comparison with a thin specimen; NULL: not asked for */
	json_t *variance;              /* the fit of the published objective; NULL: not asked for */
	json_t *warnings;              /* borrowed: message_warn appends */
} fit_result;

/* Whether a rotation is in the range that was given, whole turns aside; always where none was. */
bool fit_rotation_in_range(const fit_problem *problem, double rotation_rad);

bool fit_run(const fit_problem *problem, fit_result *result, ssb_error *err);
void fit_free(fit_result *result);

#endif
