/* Where to start: every (C10, C12, phi12) of the range by look-up, and the neighbours of the BF pixels. */
#ifndef SSB_FIT_SEARCH_H
#define SSB_FIT_SEARCH_H

#include "tools/ssb-fit/fit.h"

/* A start point. */
typedef struct start {
	const char *origin;    /* "exhaustive search", "neighbours" */
	optics_parameters p;
	double score;          /* L on the search's bins, by look-up for the exhaustive search */
} start;

/* The bins by falling excess power, and what follows from the strongest. */
typedef struct ranking {
	size_t *bin;           /* m > 0, strongest first */
	size_t count;
	size_t searched;       /* how many of them the search looks at */
	size_t standing_out;   /* how many have an excess of more than three deviations of shot noise */
	double q_rms;          /* 1/A, of those, weighted by excess power */
} ranking;

/* Every (C10, C12a, C12b) of the range, looked up on the strongest bins; what is not fitted stays at its value. */
typedef struct search_grid {
	double spacing_A;
	candidate *candidate;
	double *score, *m;  /* per candidate, of the last search; per bin of the ranking */
	size_t count, bins;
} search_grid;

bool ranking_make(ranking *r, const evidence *e);
void ranking_free(ranking *r);

/* The best distinct starts, at most `most`, best first, then the neighbour starts. Rotations: the neighbours' and the centre of mass's,
 * or (every_rotation) all of them; each is recorded in `searches` (a JSON array). Returns how many; 0 with *err set on failure. */
size_t search_starts(const fit_problem *problem, const ranking *r, bool every_rotation, start *starts, size_t most, json_t *searches,
                     ssb_error *err);

/* The grid of the problem's ranges; fails where it does not fit in the problem's memory. Release with search_grid_free. */
bool search_grid_make(search_grid *g, const fit_problem *problem, const ranking *r, ssb_error *err);
void search_grid_free(search_grid *g);

/* The best candidate at s->p's orientation and higher orders on the strongest `bins` bins: into s->p and s->score. */
bool search_best(const fit_problem *problem, const ranking *r, const search_grid *g, size_t bins, start *s, ssb_error *err);

/* The optimum's twin with the other transposition, whose gamma differs in chi(q) alone: M = lambda T R^T C is also that of
 * R' = F R S, C' = F C, F the reflection along the axes of C, S the swap of axes. False where the orientation is not free. */
bool search_twin(const fit_problem *problem, const optics_parameters *p, optics_parameters *twin);

/* Distance between candidates, A: half the basin 1/(alpha q_rms). */
double search_spacing_A(const fit_problem *problem, const ranking *r);

#endif
