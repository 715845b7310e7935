/* The published objective as a fit: the variance over the BF pixels of their phase images (physics.md section 5), exact over all of
 * them, minimised without derivatives. */
#ifndef SSB_FIT_VARIANCE_H
#define SSB_FIT_VARIANCE_H

#include "tools/transfer/backend.h"

/* Where its own primary search looks: every candidate at each orientation. By Parseval the linearised variance is a constant less the
 * coherent power sum m |U|^2 / B^2 (physics.md section 5), so that no image is needed to search. */
typedef struct variance_search {
	const optics_parameters *orientation; /* rotation, transposition, and all else at which C10 and C12 are searched */
	size_t orientations;
	const candidate *candidate;           /* in place of the orientation's C10 and C12 */
	size_t candidates;
	double spacing_A;                     /* between candidates */
	const size_t *bin;                    /* m > 0, strongest first; a few dozen of them are used */
	size_t bins;
} variance_search;

/* What is fitted. A unit is A or rad; radians_per_unit says how much phase it makes at the aperture's edge: where that is 0 the
 * parameter stays. */
typedef struct variance_problem {
	const backend *b;
	const evidence *e;
	const int *parameter;          /* n of them; C12a and C12b together or neither */
	const double *radians_per_unit;
	size_t n;
	size_t most_evaluations;       /* of the exact variance, all starts together */
} variance_problem;

/* One start and where it led. */
typedef struct variance_descent {
	const char *origin;            /* "likelihood", "coherent power" */
	optics_parameters start, optimum;
	double start_rad2, variance_rad2;
	size_t evaluations;
	bool converged;
	const char *stopped;           /* why, a static text */
} variance_descent;

enum { VARIANCE_STARTS = 2 };

typedef struct variance_optimum {
	size_t starts, best;           /* descent[best] is the result */
	variance_descent descent[VARIANCE_STARTS];
	size_t bins;                   /* that the search looked at; 0 without one */
	size_t evaluations;            /* of the exact variance, those that choose among the search's optima among them */
} variance_optimum;

/* The published variance at p, rad^2. */
bool variance_value(const backend *b, const evidence *e, const optics_parameters *p, double *variance_rad2, ssb_error *err);

/* Minimise from the likelihood's optimum and from the best that the search finds (`search` may be NULL: no search); the same bytes for
 * any number of threads. Fails (SSB_RUNTIME) when memory or the device fails. */
bool variance_fit(const variance_problem *problem, const variance_search *search, const optics_parameters *likelihood_optimum,
                  variance_optimum *out, ssb_error *err);

#endif
