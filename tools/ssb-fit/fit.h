/* A fit from zero: exhaustive search and neighbour start, Levenberg–Marquardt on all the evidence, error bars, polarity
 * (physics.md sections 5 and 7). */
#ifndef SSB_FIT_FIT_H
#define SSB_FIT_FIT_H

#include <jansson.h>
#include "tools/ssb-fit/certificate.h"

/* What is asked. */
typedef struct fit_problem {
	const backend *b;
	const evidence *e;
	optics_parameters held;       /* values of what is not fitted (and the start, if has_start) */
	bool fits[FIT_PARAMETERS];    /* C10, C12a and C12b together, ROTATION */
	bool transposed_given;        /* held.transposed is not to be doubted */
	bool has_start;               /* climb from `held`, no search */
	double C10_range_A[2], C12_most_A;
	size_t memory;                /* bytes: most for the candidates of the search */
	double com_rotation_rad[2];   /* centre of mass: plain, transposed detector */
} fit_problem;

/* What was found. The JSON arrays are owned; release with fit_free. */
typedef struct fit_result {
	int parameter[FIT_PARAMETERS]; /* n of them, ascending */
	size_t n;
	optimum best;
	certificate worth;
	double variance_rad2;          /* the published objective at the optimum */
	double polarity;               /* of the ls phase at the optimum as first found */
	double polarity_taken;         /* of the branch that was taken: reconstructed again */
	const char *branch;            /* "kept", "opposite taken", "undecided", "given" */
	size_t evaluations;
	json_t *searches;              /* every orientation that was searched: candidates, frequencies, best score */
	json_t *starts;                /* every start: origin, optics, score, its refinement step by step and where that led */
	json_t *steps;                 /* the final ascent */
	json_t *warnings;              /* borrowed: message_warn appends */
} fit_result;

bool fit_run(const fit_problem *problem, fit_result *result, ssb_error *err);
void fit_free(fit_result *result);

#endif
