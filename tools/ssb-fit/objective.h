/* The likelihood objective over a set of scan frequencies (physics.md section 5). */
#ifndef SSB_FIT_OBJECTIVE_H
#define SSB_FIT_OBJECTIVE_H

#include "tools/transfer/backend.h"

/* Evaluations made by all objectives that share it; `passes` counts each by its share of all frequencies, of which there are `bins`, and
 * may not exceed `most`. */
typedef struct evaluations {
	size_t spent;
	double passes, most;
	size_t bins;
} evaluations;

typedef struct objective {
	const backend *b;
	const evidence *e;
	size_t count;            /* bins with m > 0 that take part */
	frequency *frequency;
	double *multiplicity;    /* m of each */
	double *weight;          /* m, or 0 where W <= epsilon max W at the last value */
	sums *sums;              /* at the last value */
	evaluations *budget;     /* borrowed; NULL: without limit */
} objective;

/* Over `count` bins (indices into the evidence); those with m = 0 are dropped. False when memory runs out. */
bool objective_make(objective *o, const backend *b, const evidence *e, const size_t *bin, size_t count, evaluations *budget);
void objective_free(objective *o);

/* L at p. */
bool objective_value(objective *o, const optics_parameters *p, double *L, ssb_error *err);

/* L and its derivatives by n parameters at the p of the last objective_value. */
bool objective_derivatives(const objective *o, const optics_parameters *p, const int *parameter, size_t n, likelihood *out,
                           ssb_error *err);

/* Whether the budget is spent. */
bool objective_spent(const objective *o);

#endif
