/* Lists of optima: climbing from many starts, ranking them, telling them apart. */
#ifndef SSB_FIT_CLIMB_H
#define SSB_FIT_CLIMB_H

#include "tools/ssb-fit/search.h"

/* What one run needs beside the problem. */
typedef struct run {
	const fit_problem *problem;
	fit_result *result;
	ranking ranking;
	ascent ascent;          /* to convergence */
} run;

/* A start on its way to an optimum. */
typedef struct refined {
	size_t start;           /* index into result->starts */
	optimum o;
} refined;

/* How far to climb: on the strongest `bins` frequencies, so many steps. */
typedef struct effort { size_t bins, steps; } effort;

/* Enter a start into result->starts; returns it as an optimum to be. */
refined climb_begin(const run *r, const start *s);

/* Climb from each of the list; best first. With `key` ("refined", "optimum") where each arrives is recorded under its start. */
bool climb_all(const run *r, const parameter_set *set, effort how, refined *list, size_t count, const char *key, ssb_error *err);

/* Sort, best first; order of starts among equals. */
void climb_sort(refined *list, size_t count);

/* Drop optima that a better one before them already is; at most `most` are left. Returns how many. */
size_t climb_distinct(const run *r, refined *list, size_t count, size_t most);

/* Certificate of an optimum on the strongest `bins` frequencies: whether it explains so much that no other needs a look. */
bool climb_convincing(const run *r, const optimum *o, size_t bins, bool *yes, ssb_error *err);

/* An objective over the strongest `bins` frequencies. */
bool climb_objective(const run *r, size_t bins, objective *f, ssb_error *err);

/* Parameters of `problem` that belong to orders up to `order` (rotation included), with the sampling if asked; not the specimen's. */
parameter_set climb_set(const fit_problem *problem, int order, bool sampling);

#endif
