/* Levenberg–Marquardt ascent of L with exact derivatives (physics.md section 5, search 3). */
#ifndef SSB_FIT_NEWTON_H
#define SSB_FIT_NEWTON_H

#include <jansson.h>
#include "tools/ssb-fit/objective.h"

/* What is varied, and how far one step may go. */
typedef struct ascent {
	const int *parameter;    /* n of them */
	size_t n;
	size_t most_steps;
	double enough;           /* stop after a step below so many standard errors */
	double radian_per_A;     /* phase across aperture and scan frequency that 1 A makes: no step above 1 rad */
	double sigma2;           /* N I0 */
} ascent;

typedef struct optimum {
	optics_parameters p;
	double L;
	likelihood at;           /* with derivatives by the ascent's parameters */
	bool converged;
	const char *stopped;     /* why, a static text */
} optimum;

/* Climb from `o->p` to the local maximum. `steps`: an array to which every step is appended ({"likelihood", "damping", "taken", the
 * optics}), NULL for none. Fails when memory or the device fails. */
bool newton_ascend(objective *f, const ascent *a, optimum *o, json_t *steps, ssb_error *err);

#endif
