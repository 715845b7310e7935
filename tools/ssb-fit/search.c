#include "tools/ssb-fit/search.h"

#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/profile.h"

enum { SEARCHED_BINS = 300, SCANNED_BINS = 100, SCANNED_ROTATIONS = 24, MOST_ORIENTATIONS = 8 * SCANNED_ROTATIONS };

static const double NEAR_BEST = 0.3; /* of the best candidate's signal: those below are not refined */

/* ---- which bins ---- */

typedef struct ranked { double excess; size_t bin; } ranked;

static int stronger_first(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	return x->excess != y->excess ? (x->excess < y->excess) - (x->excess > y->excess) : (x->bin > y->bin) - (x->bin < y->bin);
}

bool ranking_make(ranking *r, const evidence *e)
{
	ranked *all = calloc(e->bins, sizeof *all);
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
	double power = 0, moment = 0, n2 = 0;
	for (size_t b = 0; b < e->pixels; b++)
		n2 += e->counts[b] * e->counts[b];
	for (size_t i = 0; i < r->count; i++) {
		double q[2];
		r->bin[i] = all[i].bin;
		evidence_q(e, all[i].bin, q);
		r->standing_out += all[i].excess > 3 * sqrt(n2);
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
	return problem->range_A[0][0] != -problem->range_A[0][1];
}

/* Rotations across the range that was given, both ends included. */
static void add_range(const fit_problem *problem, bool transposed, orientation *list, size_t *count)
{
	const double low = problem->rotation_range_rad[0], width = problem->rotation_range_rad[1] - low;
	const int steps = (int)ceil(width / (M_PI / SCANNED_ROTATIONS));
	for (int i = 0; i <= steps; i++)
		list[(*count)++] = (orientation){low + width * i / steps, transposed};
}

/* Those worth a search at one transposition: the rotation held, the range given, every one, or the neighbours' and the centre of mass's. */
static void add_orientations(const fit_problem *problem, const start *neighbours, size_t neighbour_count, bool every, bool transposed,
                             orientation *list, size_t *count)
{
	if (!problem->fits[ROTATION]) {
		add_orientation(list, count, problem->held.rotation_rad, transposed);
	} else if (problem->rotation_ranged) {
		add_range(problem, transposed, list, count);
	} else if (every) {
		for (int i = 0; i < SCANNED_ROTATIONS; i++)
			add_orientation(list, count, i * M_PI / SCANNED_ROTATIONS, transposed);
	} else {
		for (size_t i = 0; i < neighbour_count; i++)
			if (neighbours[i].p.transposed == transposed)
				add_orientation(list, count, neighbours[i].p.rotation_rad, transposed);
		add_orientation(list, count, problem->com_rotation_rad[transposed], transposed);
	}
}

static size_t orientations(const fit_problem *problem, const start *neighbours, size_t neighbour_count, bool every, orientation *list)
{
	size_t count = 0;
	for (int transposed = 0; transposed < 2; transposed++)
		if (!problem->transposed_given || transposed == problem->held.transposed)
			add_orientations(problem, neighbours, neighbour_count, every, transposed, list, &count);
	const size_t once = count;
	if (problem->fits[ROTATION] && !problem->rotation_ranged && branches_differ(problem))
		for (size_t i = 0; i < once; i++)
			list[count++] = (orientation){list[i].rotation_rad + M_PI, list[i].transposed};
	return count;
}

/* The neighbour start for each transposition not ruled out, on the side of C10's range that it fits. */
static size_t neighbour_starts(const fit_problem *problem, start *out)
{
	const double *C10_A = problem->range_A[0];
	const double range_A = fmax(fabs(C10_A[0]), fabs(C10_A[1])) + problem->range_A[1][1];
	size_t count = 0;
	double M[2][2];
	const bool found = neighbour_matrix(problem->e, range_A, M);
	for (int t = 0; t < 2 && found; t++) {
		const bool transposed = t;
		if (problem->transposed_given && transposed != problem->held.transposed)
			continue;
		const neighbour_estimate n =
			neighbour_from_matrix(problem->e, (const double(*)[2])M, problem->fits[ROTATION] ? NULL : &problem->held.rotation_rad, &transposed);
		start s = {.origin = "neighbours", .p = problem->held};
		s.p.transposed = transposed;
		s.p.rotation_rad = n.rotation_rad;
		if (problem->fits[C10])
			s.p.C_A[C10] = n.C_A[0];
		if (problem->fits[C12a])
			memcpy(&s.p.C_A[C12a], &n.C_A[1], 2 * sizeof(double));
		if (problem->fits[ROTATION] && problem->fits[C10] && problem->fits[C12a] &&
		    (s.p.C_A[C10] < C10_A[0] || s.p.C_A[C10] > C10_A[1])) {
			const optics_parameters o = optics_opposite_branch(&s.p);
			memcpy(s.p.C_A, o.C_A, 3 * sizeof(double)); /* C10, C12: higher orders are held as they are */
			s.p.rotation_rad = o.rotation_rad;
		}
		out[count++] = s;
	}
	return count;
}

/* ---- the exhaustive search ---- */

/* The best distinct starts so far, in falling order of score. */
typedef struct pool {
	start *kept;
	size_t count, most;
} pool;

/* Parameters that are not fitted stay at their value. */
static void fill_grid(search_grid *g, const fit_problem *problem, size_t n10, long half)
{
	const double *range = problem->range_A[0], *held = problem->held.C_A;
	for (size_t i = 0; i < n10; i++)
		for (long a = -half; a <= half; a++)
			for (long b = -half; b <= half; b++) {
				if (half > 0 && hypot((double)a, (double)b) * g->spacing_A > problem->range_A[1][1] + g->spacing_A / 2)
					continue;
				const double C10_A = n10 > 1 ? range[0] + (range[1] - range[0]) * (double)i / (double)(n10 - 1) : held[C10];
				g->candidate[g->count++] = (candidate){{C10_A, problem->fits[C12a] ? (double)a * g->spacing_A : held[C12a],
				                                        problem->fits[C12a] ? (double)b * g->spacing_A : held[C12b]}};
			}
}

bool search_grid_make(search_grid *g, const fit_problem *problem, const ranking *r, ssb_error *err)
{
	*g = (search_grid){.spacing_A = search_spacing_A(problem, r)};
	const double *range = problem->range_A[0], C12_most_A = problem->range_A[1][1];
	const double n10_fit = problem->fits[C10] ? (range[1] - range[0]) / g->spacing_A + 2 : 1;
	const double side_fit = problem->fits[C12a] ? 2 * C12_most_A / g->spacing_A + 3 : 1;
	if (n10_fit * side_fit * side_fit * (double)(sizeof *g->candidate + sizeof *g->score) > (double)problem->memory)
		return ssb_fail(err, SSB_RUNTIME, "the range of C10 and C12 holds %.2g candidates, which do not fit in --memory",
		                n10_fit * side_fit * side_fit);
	const size_t n10 = problem->fits[C10] ? (size_t)ceil((range[1] - range[0]) / g->spacing_A) + 1 : 1;
	const long half = problem->fits[C12a] ? (long)ceil(C12_most_A / g->spacing_A) : 0;
	const size_t side = 2 * (size_t)half + 1;
	g->candidate = malloc(n10 * side * side * sizeof *g->candidate);
	g->score = malloc(n10 * side * side * sizeof *g->score);
	g->m = malloc((r->searched + 1) * sizeof *g->m);
	if (!g->candidate || !g->score || !g->m)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	fill_grid(g, problem, n10, half);
	for (size_t i = 0; i < r->searched; i++)
		g->m[i] = evidence_multiplicity(problem->e, r->bin[i]);
	return true;
}

void search_grid_free(search_grid *g)
{
	free(g->candidate);
	free(g->score);
	free(g->m);
}

/* Whether two starts would climb to the same optimum: neighbours on the grid, at neighbouring rotations modulo 180 degrees. */
static bool adjacent(const start *a, const start *b, double spacing)
{
	const double turn = remainder(a->p.rotation_rad - b->p.rotation_rad, 2 * M_PI);
	const double sign = fabs(turn) > M_PI / 2 ? -1 : 1;
	if (a->p.transposed != b->p.transposed || fabs(remainder(turn, M_PI)) > 1.5 * M_PI / SCANNED_ROTATIONS)
		return false;
	for (int i = C10; i <= C12b; i++)
		if (fabs(a->p.C_A[i] - sign * b->p.C_A[i]) > 1.5 * spacing)
			return false;
	return true;
}

static void keep_start(pool *p, const start *s, double spacing)
{
	if (p->count == p->most && s->score <= p->kept[p->most - 1].score)
		return;
	for (size_t i = 0; i < p->count; i++)
		if (adjacent(&p->kept[i], s, spacing)) {
			if (s->score <= p->kept[i].score)
				return;
			memmove(&p->kept[i], &p->kept[i + 1], (--p->count - i) * sizeof *p->kept);
			i--;
		}
	if (p->count == p->most)
		p->count--;
	size_t at = p->count++;
	for (; at > 0 && p->kept[at - 1].score < s->score; at--)
		p->kept[at] = p->kept[at - 1];
	p->kept[at] = *s;
}

/* How many of the pool come near the best: by the look-ups, which lose a third of an optimum at most, above the noise of the bins. */
static size_t near_best(const pool *p, const search_grid *g, double sigma2)
{
	double noise = 0;
	size_t count = 0;
	for (size_t i = 0; i < g->bins; i++)
		noise += sigma2 * g->m[i];
	const double least = noise + NEAR_BEST * fmax(p->count ? p->kept[0].score - noise : 0, 0);
	while (count < p->count && (p->kept[count].score >= least || least == noise))
		count++;
	return count;
}

static void record_search(json_t *searches, const search_grid *g, const orientation *o)
{
	double best = 0;
	for (size_t i = 0; i < g->count; i++)
		best = g->score[i] > best ? g->score[i] : best;
	json_array_append_new(searches, json_pack("{s: f, s: b, s: I, s: f, s: I, s: f}", "rotation_deg", o->rotation_rad * 180 / M_PI, "transposed",
	                                          (int)o->transposed, "candidates", (json_int_t)g->count, "spacing_nm", g->spacing_A / 10,
	                                          "frequencies", (json_int_t)g->bins, "best_score", best));
}

static bool search_orientation(const fit_problem *problem, const ranking *r, search_grid *g, const orientation *o, pool *p, ssb_error *err)
{
	start s = {.origin = "exhaustive search", .p = problem->held};
	s.p.rotation_rad = o->rotation_rad;
	s.p.transposed = o->transposed;
	if (!problem->b->search(problem->e, &s.p, r->bin, g->m, g->bins, g->candidate, g->count, g->score, err))
		return false;
	for (size_t i = 0; i < g->count; i++) {
		memcpy(s.p.C_A, g->candidate[i].C_A, sizeof g->candidate[i].C_A);
		s.score = g->score[i];
		keep_start(p, &s, g->spacing_A);
	}
	return true;
}

bool search_best(const fit_problem *problem, const ranking *r, const search_grid *g, size_t bins, start *s, ssb_error *err)
{
	size_t best = 0;
	profile_phase("search");
	if (!problem->b->search(problem->e, &s->p, r->bin, g->m, bins < r->searched ? bins : r->searched, g->candidate, g->count, g->score, err))
		return false;
	for (size_t i = 1; i < g->count; i++)
		best = g->score[i] > g->score[best] ? i : best;
	memcpy(s->p.C_A, g->candidate[best].C_A, sizeof g->candidate[best].C_A);
	s->score = g->score[best];
	return true;
}

size_t search_starts(const fit_problem *problem, const ranking *r, bool every_rotation, start *starts, size_t most, json_t *searches,
                     ssb_error *err)
{
	start neighbours[2];
	orientation list[MOST_ORIENTATIONS];
	search_grid g;
	profile_phase("search");
	const size_t neighbour_count = every_rotation || problem->rotation_ranged ? 0 : neighbour_starts(problem, neighbours);
	const size_t n = orientations(problem, neighbours, neighbour_count, every_rotation, list);
	pool p = {.kept = starts, .most = most - neighbour_count};
	bool ok = search_grid_make(&g, problem, r, err);
	g.bins = every_rotation && r->searched > SCANNED_BINS ? SCANNED_BINS : r->searched;
	message_detail("search: %zu candidates %.2f nm apart at %zu orientations, %zu frequencies", g.count, g.spacing_A / 10, n, g.bins);
	for (size_t i = 0; ok && i < n; i++) {
		message_progress("searching", i, n);
		ok = search_orientation(problem, r, &g, &list[i], &p, err);
		if (ok)
			record_search(searches, &g, &list[i]);
	}
	message_progress(NULL, 0, 0);
	const size_t count = ok ? near_best(&p, &g, evidence_sigma2(problem->e)) : 0;
	search_grid_free(&g);
	if (!ok)
		return 0;
	memcpy(starts + count, neighbours, neighbour_count * sizeof *starts);
	return count + neighbour_count;
}

bool search_twin(const fit_problem *problem, const optics_parameters *p, optics_parameters *twin)
{
	if (problem->transposed_given || !problem->fits[ROTATION] || !problem->fits[C10] || !problem->fits[C12a])
		return false;
	/* C = V diag(C10 + s, C10 - s) V^T, its first axis at `axis`; F = V diag(1, -1) V^T */
	const double s = hypot(p->C_A[C12a], p->C_A[C12b]), axis = atan2(p->C_A[C12b], p->C_A[C12a]);
	const double c = cos(p->rotation_rad), n = sin(p->rotation_rad);
	/* first column of R S (S the swap) is R's second; of R S T for a transposed detector likewise: R' = F R S */
	const double column[2] = {-n, c};
	*twin = *p;
	twin->transposed = !p->transposed;
	twin->rotation_rad = atan2(sin(axis) * column[0] - cos(axis) * column[1], cos(axis) * column[0] + sin(axis) * column[1]);
	twin->C_A[C10] = s;
	twin->C_A[C12a] = p->C_A[C10] * cos(axis);
	twin->C_A[C12b] = p->C_A[C10] * sin(axis);
	return true;
}
