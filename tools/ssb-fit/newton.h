/* Newton ascent of L with exact first and second derivatives in a trust region (physics.md section 5, search 3). */
#ifndef SSB_FIT_NEWTON_H
#define SSB_FIT_NEWTON_H

#include <jansson.h>
#include "tools/ssb-fit/objective.h"

/* The parameters that are varied together, ascending. */
typedef struct parameter_set {
	int parameter[FIT_PARAMETERS];
	size_t n;
} parameter_set;

/* Where a parameter is in the set; -1: nowhere. */
int parameter_set_find(const parameter_set *set, int parameter);

/* How to climb. */
typedef struct ascent {
	size_t most_steps;
	double enough;           /* stop where a further step would change less, in standard errors */
	double q_rms;            /* 1/A, of the bins that carry the power: steps are measured in rad there (scales.h) */
	double sigma2;           /* N I0 */
} ascent;

typedef struct optimum {
	optics_parameters p;
	double L;
	likelihood at;           /* with derivatives by the set's parameters */
	bool converged;
	const char *stopped;     /* why, a static text */
} optimum;

/* Climb from `o->p` to the local maximum over the set. A step is at most as long as the trust region, 1 rad at first; directions without
 * curvature are not walked. A last step whose error is below `enough` is taken without another look: L is then the model's, `at` and the
 * objective's sums are those of the point before. `steps`: an array to which every step is appended ({"likelihood", "radius_rad", "taken", the optics}),
 * NULL for none. Fails when memory or the device fails. */
bool newton_ascend(objective *f, const ascent *a, const parameter_set *set, optimum *o, json_t *steps, ssb_error *err);

#endif
