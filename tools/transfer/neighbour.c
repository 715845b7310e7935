/* The neighbour start (physics.md section 5, search 1): D_a(q) = sum_k G(q, k + d e_a) conj G(q,k) has the phase
 * 2π d (s_a / lambda) (M q)_a, M = lambda T R^T C, linear in q and free of noise bias (two different pixels). */
#include "tools/transfer/evidence.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DISTANCES = 16, MOST_STEPS = 40, LEAST_BINS = 12 };
static const double LEAST_RANGE_A = 20;

/* Pairs of BF pixels `distance` apart along `axis`. */
typedef struct pair_list {
	int axis, distance;
	size_t count;
	uint32_t (*pair)[2]; /* (k + e, k) */
} pair_list;

/* A bin and its weight in the fit. */
typedef struct weighed { size_t bin; double weight; } weighed;

/* The bins that are used and, per pair list, D: row-major [list][bin]. */
typedef struct correlations {
	size_t bins, lists;
	double (*q)[2];
	double complex *D;
} correlations;

static int compare_pixels(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;
	return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static bool find_pairs(pair_list *list, const evidence *e, int axis, int distance)
{
	*list = (pair_list){.axis = axis, .distance = distance, .pair = malloc(e->pixels * sizeof *list->pair)};
	if (!list->pair)
		return false;
	for (size_t b = 0; b < e->pixels; b++) {
		int32_t key[2] = {e->pixel[b][0], e->pixel[b][1]};
		key[axis] += distance;
		const int32_t(*found)[2] = bsearch(key, e->pixel, e->pixels, sizeof *e->pixel, compare_pixels);
		if (found) {
			list->pair[list->count][0] = (uint32_t)(found - e->pixel);
			list->pair[list->count++][1] = (uint32_t)b;
		}
	}
	return true;
}

/* Half the smaller extent of the disk, pixels. */
static double disk_radius(const evidence *e)
{
	int32_t low[2] = {INT32_MAX, INT32_MAX}, high[2] = {INT32_MIN, INT32_MIN};
	for (size_t b = 0; b < e->pixels; b++)
		for (int axis = 0; axis < 2; axis++) {
			low[axis] = e->pixel[b][axis] < low[axis] ? e->pixel[b][axis] : low[axis];
			high[axis] = e->pixel[b][axis] > high[axis] ? e->pixel[b][axis] : high[axis];
		}
	const int32_t rows = high[0] - low[0], columns = high[1] - low[1];
	return (rows < columns ? rows : columns) / 2.0;
}

/* A bin's weight: with the excess power p, its noise deviation v and sigma^2 = mean counts, sigma^2 max(p - v, 0) / (v^2 + 2 sigma^2 p):
 * Bragg spots stand out of empty bins. */
static double bin_weight(const evidence *e, size_t bin, double v2, double sigma2)
{
	const double p = evidence_excess(e, bin), above = p - sqrt(v2);
	return above > 0 ? evidence_multiplicity(e, bin) * sigma2 * above / (v2 + 2 * sigma2 * p) : 0;
}

static int heavier_first(const void *a, const void *b)
{
	const weighed *x = a, *y = b;
	return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight) : (x->bin > y->bin) - (x->bin < y->bin);
}

/* The bins below q_most that have a weight, the heaviest NEIGHBOUR_BINS of them: those far below add noise alone. Returns how many. */
static size_t weigh(const evidence *e, double q_most, weighed *list)
{
	double v2 = 0, sum = 0, q[2];
	size_t near = 0, count = 0;
	for (size_t b = 0; b < e->pixels; b++) {
		v2 += e->counts[b] * e->counts[b];
		sum += e->counts[b];
	}
	for (size_t i = 0; i < e->bins; i++) {
		evidence_q(e, i, q);
		if (evidence_multiplicity(e, i) > 0 && hypot(q[0], q[1]) < q_most)
			list[near++].bin = i;
	}
#pragma omp parallel for schedule(dynamic, 64)
	for (size_t i = 0; i < near; i++)
		list[i].weight = bin_weight(e, list[i].bin, v2, sum / (double)e->pixels);
	for (size_t i = 0; i < near; i++)
		if (list[i].weight > 0)
			list[count++] = list[i];
	qsort(list, count, sizeof *list, heavier_first);
	return count < NEIGHBOUR_BINS ? count : NEIGHBOUR_BINS;
}

size_t neighbour_bins(const evidence *e, double q_most, size_t bin[NEIGHBOUR_BINS])
{
	weighed *list = malloc(e->bins * sizeof *list);
	const size_t count = list ? weigh(e, q_most, list) : 0;
	for (size_t i = 0; i < count; i++)
		bin[i] = list[i].bin;
	free(list);
	return count;
}

static double complex correlate(const float complex *G, const pair_list *list)
{
	double re = 0, im = 0;
	for (size_t i = 0; i < list->count; i++) {
		const double ar = crealf(G[list->pair[i][0]]), ai = cimagf(G[list->pair[i][0]]);
		const double br = crealf(G[list->pair[i][1]]), bi = cimagf(G[list->pair[i][1]]);
		re += ar * br + ai * bi;
		im += ai * br - ar * bi;
	}
	return CMPLX(re, im);
}

static bool correlate_all(correlations *c, const evidence *e, double q_most, const pair_list *list, size_t lists)
{
	weighed *bin = malloc(e->bins * sizeof *bin);
	*c = (correlations){.lists = lists, .q = malloc(NEIGHBOUR_BINS * sizeof *c->q), .D = calloc(lists * NEIGHBOUR_BINS + 1, sizeof *c->D)};
	bool ok = bin && c->q && c->D;
	c->bins = ok ? weigh(e, q_most, bin) : 0;
#pragma omp parallel reduction(&& : ok)
	{
		float complex *scratch = malloc(e->pixels * sizeof *scratch);
		ok = ok && scratch;
#pragma omp for schedule(dynamic, 16)
		for (size_t i = 0; i < c->bins; i++) {
			const float complex *G = ok ? evidence_G(e, bin[i].bin, 0, e->pixels, scratch) : NULL;
			evidence_q(e, bin[i].bin, c->q[i]);
			for (size_t j = 0; j < lists; j++)
				c->D[j * c->bins + i] = G ? bin[i].weight * correlate(G, &list[j]) : 0;
		}
		free(scratch);
	}
	free(bin);
	return ok;
}

/* f = sum Re[D e^{-i u.x}] with u = scale q; its gradient and the two curvatures: -f'' and its bound sum |D| u u. */
typedef struct climb_state { double f, g[2], H[3], B[3]; } climb_state;

static climb_state climb_at(const double complex *D, const double (*q)[2], size_t n, double scale, const double x[2])
{
	climb_state s = {0};
	for (size_t i = 0; i < n; i++) {
		const double ur = scale * q[i][0], uc = scale * q[i][1], angle = ur * x[0] + uc * x[1];
		const double complex z = D[i] * CMPLX(cos(angle), -sin(angle));
		const double modulus = cabs(z);
		s.f += creal(z);
		s.g[0] += ur * cimag(z), s.g[1] += uc * cimag(z);
		s.H[0] += creal(z) * ur * ur, s.H[1] += creal(z) * ur * uc, s.H[2] += creal(z) * uc * uc;
		s.B[0] += modulus * ur * ur, s.B[1] += modulus * ur * uc, s.B[2] += modulus * uc * uc;
	}
	return s;
}

/* The largest phase that a step makes: at most 1 rad, so that no step jumps to an alias. */
static double largest_phase(const double complex *D, const double (*q)[2], size_t n, double scale, const double step[2])
{
	double most = 0;
	for (size_t i = 0; i < n; i++)
		if (D[i] != 0)
			most = fmax(most, fabs(scale * (q[i][0] * step[0] + q[i][1] * step[1])));
	return most;
}

static void newton_step(const climb_state *s, double damping, double step[2])
{
	const bool concave = s->H[0] > 0 && s->H[0] * s->H[2] - s->H[1] * s->H[1] > 0;
	double A[3];
	for (int i = 0; i < 3; i++)
		A[i] = (concave ? s->H[i] : s->B[i]) + damping * s->B[i];
	const double det = A[0] * A[2] - A[1] * A[1];
	step[0] = (A[2] * s->g[0] - A[1] * s->g[1]) / det;
	step[1] = (A[0] * s->g[1] - A[1] * s->g[0]) / det;
}

/* The local maximum of f from x on, by damped Newton steps. False when the bins do not span two directions. */
static bool climb(const double complex *D, const double (*q)[2], size_t n, double scale, double x[2])
{
	climb_state s = climb_at(D, q, n, scale, x);
	double damping = 1e-3;
	if (!(s.B[0] * s.B[2] - s.B[1] * s.B[1] > 1e-12 * s.B[0] * s.B[2]))
		return false;
	for (int i = 0; i < MOST_STEPS; i++) {
		double step[2];
		newton_step(&s, damping, step);
		const double phase = largest_phase(D, q, n, scale, step), shrink = phase > 1 ? 1 / phase : 1;
		const double y[2] = {x[0] + step[0] * shrink, x[1] + step[1] * shrink};
		const climb_state next = climb_at(D, q, n, scale, y);
		if (next.f < s.f) {
			damping *= 10;
			continue;
		}
		x[0] = y[0], x[1] = y[1];
		s = next;
		damping /= 10;
		if (phase < 1e-10)
			break;
	}
	return true;
}

/* Each row of M from its nearest pairs outwards. */
static bool matrix_below(const evidence *e, double q_most, double M[2][2])
{
	pair_list list[2 * MOST_DISTANCES];
	size_t lists = 0;
	bool ok = true;
	const double radius = disk_radius(e);
	for (int axis = 0; axis < 2; axis++)
		for (int d = 1; ok && d <= fmax(1, radius / 2) && lists < 2 * MOST_DISTANCES; d *= 2)
			ok = find_pairs(&list[lists++], e, axis, d);
	correlations c = {0};
	ok = ok && correlate_all(&c, e, q_most, list, lists);
	memset(M, 0, 2 * sizeof M[0]);
	ok = ok && c.bins >= LEAST_BINS;
	for (size_t i = 0; ok && i < lists; i++) {
		const double scale = 2 * M_PI * list[i].distance * e->geometry.sampling_rad[list[i].axis] / e->geometry.wavelength_A;
		ok = climb(c.D + i * c.bins, (const double(*)[2])c.q, c.bins, scale, M[list[i].axis]);
	}
	for (size_t i = 0; i < lists; i++)
		free(list[i].pair);
	free(c.q);
	free(c.D);
	return ok;
}

bool neighbour_matrix(const evidence *e, double range_A, double M[2][2])
{
	const double widest = fmax(e->geometry.sampling_rad[0], e->geometry.sampling_rad[1]);
	while (!matrix_below(e, 1 / (2 * widest * range_A), M))
		if ((range_A /= 2) < LEAST_RANGE_A)
			return false;
	return true;
}

neighbour_estimate neighbour_from_matrix(const evidence *e, const double M[2][2], const double *rotation_rad, const bool *transposed)
{
	neighbour_estimate n = {.found = true};
	n.transposed = transposed ? *transposed : M[0][0] * M[1][1] - M[0][1] * M[1][0] < 0;
	const double *a = M[n.transposed ? 1 : 0], *b = M[n.transposed ? 0 : 1];
	n.rotation_rad = rotation_rad ? *rotation_rad : atan2(a[1] - b[0], a[0] + b[1]);
	const double c = cos(n.rotation_rad), s = sin(n.rotation_rad), lambda = e->geometry.wavelength_A;
	const double rr = (c * a[0] - s * b[0]) / lambda, rc = (c * a[1] - s * b[1]) / lambda;
	const double cr = (s * a[0] + c * b[0]) / lambda, cc = (s * a[1] + c * b[1]) / lambda;
	n.C_A[0] = (rr + cc) / 2;
	n.C_A[1] = (rr - cc) / 2;
	n.C_A[2] = (rc + cr) / 2;
	n.transposition_decided = fabs(n.C_A[0]) > hypot(n.C_A[1], n.C_A[2]);
	return n;
}

neighbour_estimate neighbour_start(const evidence *e, double range_A, const double *rotation_rad, const bool *transposed)
{
	double M[2][2];
	return neighbour_matrix(e, range_A, M) ? neighbour_from_matrix(e, (const double(*)[2])M, rotation_rad, transposed) : (neighbour_estimate){0};
}
