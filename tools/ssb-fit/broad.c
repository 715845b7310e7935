#include "tools/ssb-fit/broad.h"

#include <stdlib.h>
#include "tools/common/message.h"
#include "tools/ssb-fit/scales.h"

enum { LOOK_BINS = 40, CLIMB_BINS = 100, CLIMB_STEPS = 12 };
static const double RANGE_RAD = 2; /* of each higher order at the aperture's edge, where no range is given */

/* Points of the unit cube of d dimensions without clusters: multiples of the powers of 1/g, g the root of x^(d+1) = x + 1 (the golden
 * ratio for d = 1). */
typedef struct points { double step[ABERRATIONS]; int d; } points;

static points points_make(int d)
{
	points s = {.d = d};
	double g = 2;
	for (int i = 0; i < 60; i++)
		g = pow(1 + g, 1.0 / (d + 1));
	for (int j = 0; j < d; j++)
		s.step[j] = pow(1 / g, j + 1);
	return s;
}

static double points_at(const points *s, size_t point, int dimension)
{
	const double x = 0.5 + (double)point * s->step[dimension];
	return x - floor(x);
}

static double most_A(const fit_problem *problem, int order, int aberration)
{
	const double given = problem->range_A[order][1];
	return isnan(given) ? RANGE_RAD / scale_edge_rad(problem->e, aberration) : given;
}

static double least_A(const fit_problem *problem, int order, int aberration)
{
	return isnan(problem->range_A[order][0]) ? -most_A(problem, order, aberration) : problem->range_A[order][0];
}

/* Point i of the higher orders: evenly over the disk of (C_a, C_b), or the range of a round one. Point 0 is 0. */
static void place(const fit_problem *problem, const parameter_set *set, const points *s, size_t point, optics_parameters *p)
{
	int dimension = 0;
	for (int order = 2; order < OPTICS_ORDERS; order++) {
		const int i = optics_first(order);
		if (parameter_set_find(set, i) < 0)
			continue;
		const double u = points_at(s, point, dimension), most = most_A(problem, order, i), least = least_A(problem, order, i);
		if (optics_orders[order].m == 0) {
			p->C_A[i] = point ? least + u * (most - least) : 0;
			dimension++;
			continue;
		}
		const double modulus = point ? most * sqrt(u) : 0, azimuth = 2 * M_PI * points_at(s, point, dimension + 1);
		p->C_A[i] = modulus * cos(azimuth);
		p->C_A[i + 1] = modulus * sin(azimuth);
		dimension += 2;
	}
}

static int dimensions(const parameter_set *set)
{
	int d = 0;
	for (size_t i = 0; i < set->n; i++)
		d += set->parameter[i] >= C21a && set->parameter[i] < ABERRATIONS;
	return d;
}

/* Keep the best distinct ones. */
static void keep(const run *r, refined *list, size_t most, size_t *count, const refined *fresh)
{
	if (*count == most && fresh->o.L <= list[most - 1].o.L)
		return;
	if (*count == most)
		--*count;
	list[(*count)++] = *fresh;
	climb_sort(list, *count);
	*count = climb_distinct(r, list, *count, most);
}

static bool look(const run *r, const parameter_set *set, const search_grid *g, const points *s, size_t point,
                 const optics_parameters *orientation, refined *found, ssb_error *err)
{
	start from = {.origin = "broad search", .p = r->problem->held};
	from.p.rotation_rad = orientation->rotation_rad;
	from.p.transposed = orientation->transposed;
	place(r->problem, set, s, point, &from.p);
	if (!search_best(r->problem, &r->ranking, g, LOOK_BINS, &from, err))
		return false;
	*found = (refined){.start = 0, .o.p = from.p};
	return climb_all(r, set, (effort){CLIMB_BINS, CLIMB_STEPS}, found, 1, NULL, err);
}

bool broad_search(const run *r, const parameter_set *set, const optics_parameters *orientation, size_t orientations, refined *list,
                  size_t most, size_t *count, ssb_error *err)
{
	const points s = points_make(dimensions(set));
	refined *kept = calloc(most, sizeof *kept), found;
	search_grid g = {0};
	size_t n = 0, looked = 0;
	bool ok = kept ? search_grid_make(&g, r->problem, &r->ranking, err) : ssb_fail(err, SSB_RUNTIME, "out of memory"), done = false;
	for (size_t i = 0; ok && !done && i < r->problem->broad; i++) {
		message_progress("broad search", i, r->problem->broad);
		ok = look(r, set, &g, &s, i, &orientation[i % orientations], &found, err);
		if (!ok)
			break;
		looked++;
		if (n == 0 || found.o.L > kept[0].o.L)
			ok = climb_convincing(r, &found.o, CLIMB_BINS, &done, err);
		keep(r, kept, most, &n, &found);
	}
	message_progress(NULL, 0, 0);
	message_detail("broad search: %zu starts in %d higher coefficients", looked, s.d);
	for (size_t i = 0; ok && i < n; i++) {
		const start origin = {.origin = "broad search", .p = kept[i].o.p};
		list[*count] = kept[i];
		list[(*count)++].start = climb_begin(r, &origin).start;
	}
	search_grid_free(&g);
	free(kept);
	return ok;
}
