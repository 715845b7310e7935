#include "tools/ssb-fit/search.h"

#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"

enum { SEARCHED_BINS = 300, MOST_ORIENTATIONS = 8 };

/* ---- which bins ---- */

typedef struct ranked { double excess; size_t bin; } ranked;

static int stronger_first(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	return x->excess != y->excess ? (x->excess < y->excess) - (x->excess > y->excess) : (x->bin > y->bin) - (x->bin < y->bin);
}

bool ranking_make(ranking *r, const evidence *e)
{
	ranked *all = malloc(e->bins * sizeof *all);
	*r = (ranking){.bin = malloc(e->bins * sizeof *r->bin)};
	if (!all || !r->bin) {
		free(all);
		ranking_free(r);
		return false;
	}
	for (size_t i = 0; i < e->bins; i++)
		if (evidence_multiplicity(e, i) > 0)
			all[r->count++].bin = i;
#pragma omp parallel for schedule(dynamic, 64)
	for (size_t i = 0; i < r->count; i++)
		all[i].excess = evidence_excess(e, all[i].bin);
	qsort(all, r->count, sizeof *all, stronger_first);
	r->searched = r->count < SEARCHED_BINS ? r->count : SEARCHED_BINS;
	double power = 0, moment = 0;
	for (size_t i = 0; i < r->count; i++) {
		double q[2];
		r->bin[i] = all[i].bin;
		evidence_q(e, all[i].bin, q);
		if (i >= r->searched || all[i].excess <= 0)
			continue;
		power += all[i].excess;
		moment += all[i].excess * (q[0] * q[0] + q[1] * q[1]);
	}
	r->q_rms = power > 0 ? sqrt(moment / power) : 0.5 * e->geometry.semiangle_rad / e->geometry.wavelength_A;
	free(all);
	return true;
}

void ranking_free(ranking *r)
{
	free(r->bin);
	*r = (ranking){0};
}

double search_spacing_A(const fit_problem *problem, const ranking *r)
{
	return 0.5 / (problem->e->geometry.semiangle_rad * r->q_rms);
}

/* ---- orientations ---- */

typedef struct orientation { double rotation_rad; bool transposed; } orientation;

/* Add an orientation unless one within 2 degrees, modulo 180, is there: with theta + pi it is the same but for C10's sign. */
static void add_orientation(orientation *list, size_t *count, double rotation_rad, bool transposed)
{
	for (size_t i = 0; i < *count; i++)
		if (list[i].transposed == transposed && fabs(remainder(list[i].rotation_rad - rotation_rad, M_PI)) < 2 * M_PI / 180)
			return;
	list[(*count)++] = (orientation){rotation_rad, transposed};
}

/* Whether rotation and rotation + pi are searches of their own: theta + pi is theta with C10, C12 and every held order of even m of
 * opposite sign, which a symmetric range covers when nothing of even m is held. */
static bool branches_differ(const fit_problem *problem)
{
	for (int i = 0; i < ABERRATIONS; i++)
		if (!problem->fits[i] && aberration_terms[i].m % 2 == 0 && problem->held.C_A[i] != 0)
			return true;
	return problem->C10_range_A[0] != -problem->C10_range_A[1];
}

/* Those worth a search: the rotation held, or the neighbours' and the centre of mass's, for each transposition not ruled out. */
static size_t orientations(const fit_problem *problem, const start *neighbours, size_t neighbour_count, orientation *list)
{
	size_t count = 0;
	for (int transposed = 0; transposed < 2; transposed++) {
		if (problem->transposed_given && transposed != problem->held.transposed)
			continue;
		if (!problem->fits[ROTATION])
			add_orientation(list, &count, problem->held.rotation_rad, transposed);
		for (size_t i = 0; problem->fits[ROTATION] && i < neighbour_count; i++)
			if (neighbours[i].p.transposed == transposed)
				add_orientation(list, &count, neighbours[i].p.rotation_rad, transposed);
		if (problem->fits[ROTATION])
			add_orientation(list, &count, problem->com_rotation_rad[transposed], transposed);
	}
	const size_t once = count;
	if (problem->fits[ROTATION] && branches_differ(problem))
		for (size_t i = 0; i < once; i++)
			list[count++] = (orientation){list[i].rotation_rad + M_PI, list[i].transposed};
	return count;
}

/* The neighbour start for each transposition not ruled out, on the side of C10's range that it fits. */
static size_t neighbour_starts(const fit_problem *problem, start *out)
{
	const double range_A = fmax(fabs(problem->C10_range_A[0]), fabs(problem->C10_range_A[1])) + problem->C12_most_A;
	size_t count = 0;
	for (int t = 0; t < 2; t++) {
		const bool transposed = t;
		if (problem->transposed_given && transposed != problem->held.transposed)
			continue;
		const neighbour_estimate n =
			neighbour_start(problem->e, range_A, problem->fits[ROTATION] ? NULL : &problem->held.rotation_rad, &transposed);
		if (!n.found)
			continue;
		start s = {.origin = "neighbours", .p = problem->held};
		s.p.transposed = transposed;
		s.p.rotation_rad = n.rotation_rad;
		if (problem->fits[C10])
			s.p.C_A[C10] = n.C_A[0];
		if (problem->fits[C12a])
			memcpy(&s.p.C_A[C12a], &n.C_A[1], 2 * sizeof(double));
		if (problem->fits[ROTATION] && problem->fits[C10] && problem->fits[C12a] &&
		    (s.p.C_A[C10] < problem->C10_range_A[0] || s.p.C_A[C10] > problem->C10_range_A[1])) {
			const optics_parameters o = optics_opposite_branch(&s.p);
			memcpy(s.p.C_A, o.C_A, 3 * sizeof(double)); /* C10, C12: higher orders are held as they are */
			s.p.rotation_rad = o.rotation_rad;
		}
		out[count++] = s;
	}
	return count;
}

/* ---- the exhaustive search ---- */

/* Every (C10, C12a, C12b) of the range at the search's spacing; parameters not fitted stay at their value. */
static candidate *candidate_grid(const fit_problem *problem, double spacing, size_t *count)
{
	const double *range = problem->C10_range_A, most = problem->C12_most_A;
	const size_t n10 = problem->fits[C10] ? (size_t)ceil((range[1] - range[0]) / spacing) + 1 : 1;
	const long half = problem->fits[C12a] ? (long)ceil(most / spacing) : 0;
	const size_t side = 2 * (size_t)half + 1;
	candidate *c = malloc(n10 * side * side * sizeof *c);
	*count = 0;
	for (size_t i = 0; c && i < n10; i++)
		for (long a = -half; a <= half; a++)
			for (long b = -half; b <= half; b++) {
				const double C10_A = n10 > 1 ? range[0] + (range[1] - range[0]) * (double)i / (double)(n10 - 1) : range[0];
				if (hypot((double)a, (double)b) * spacing > most + spacing / 2 && problem->fits[C12a])
					continue;
				c[(*count)++] = (candidate){{problem->fits[C10] ? C10_A : problem->held.C_A[C10],
				                             problem->fits[C12a] ? (double)a * spacing : problem->held.C_A[C12a],
				                             problem->fits[C12a] ? (double)b * spacing : problem->held.C_A[C12b]}};
			}
	return c;
}

/* Whether two starts would climb to the same optimum: neighbours on the grid, at one orientation. */
static bool adjacent(const start *a, const start *b, double spacing)
{
	if (a->p.transposed != b->p.transposed || a->p.rotation_rad != b->p.rotation_rad)
		return false;
	for (int i = C10; i <= C12b; i++)
		if (fabs(a->p.C_A[i] - b->p.C_A[i]) > 1.5 * spacing)
			return false;
	return true;
}

/* Keep the best distinct starts in falling order of score. */
static void keep_start(start *kept, size_t *count, size_t most, const start *s, double spacing)
{
	if (*count == most && s->score <= kept[most - 1].score)
		return;
	for (size_t i = 0; i < *count; i++)
		if (adjacent(&kept[i], s, spacing)) {
			if (s->score <= kept[i].score)
				return;
			memmove(&kept[i], &kept[i + 1], (--*count - i) * sizeof *kept);
			i--;
		}
	if (*count == most)
		--*count;
	size_t at = *count;
	for (; at > 0 && kept[at - 1].score < s->score; at--)
		kept[at] = kept[at - 1];
	kept[at] = *s;
	++*count;
}

static bool search_orientation(const fit_problem *problem, const ranking *r, const double *m, const orientation *o, const candidate *c,
                               size_t candidates, double *score, double spacing, start *kept, size_t *count, size_t most,
                               ssb_error *err)
{
	start s = {.origin = "exhaustive search", .p = problem->held};
	s.p.rotation_rad = o->rotation_rad;
	s.p.transposed = o->transposed;
	if (!problem->b->search(problem->e, &s.p, r->bin, m, r->searched, c, candidates, score, err))
		return false;
	for (size_t i = 0; i < candidates; i++) {
		memcpy(s.p.C_A, c[i].C_A, sizeof c[i].C_A);
		s.score = score[i];
		keep_start(kept, count, most, &s, spacing);
	}
	return true;
}

size_t search_starts(const fit_problem *problem, const ranking *r, start *starts, size_t most, ssb_error *err)
{
	start neighbours[2];
	orientation list[MOST_ORIENTATIONS];
	const double spacing = search_spacing_A(problem, r);
	const size_t neighbour_count = neighbour_starts(problem, neighbours), n = orientations(problem, neighbours, neighbour_count, list);
	size_t candidates = 0, count = 0;
	candidate *c = candidate_grid(problem, spacing, &candidates);
	double *score = malloc((candidates + 1) * sizeof *score), *m = malloc((r->searched + 1) * sizeof *m);
	bool ok = (c && score && m) || ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; ok && i < r->searched; i++)
		m[i] = evidence_multiplicity(problem->e, r->bin[i]);
	message_detail("search: %zu candidates %.2f nm apart at %zu orientations, %zu frequencies", candidates, spacing / 10, n, r->searched);
	for (size_t i = 0; ok && i < n; i++)
		ok = search_orientation(problem, r, m, &list[i], c, candidates, score, spacing, starts, &count, most - neighbour_count,
		                        err);
	free(c);
	free(score);
	free(m);
	if (!ok)
		return 0;
	memcpy(starts + count, neighbours, neighbour_count * sizeof *starts);
	return count + neighbour_count;
}
