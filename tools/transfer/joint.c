#include "tools/transfer/joint.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "tools/transfer/cpu.h"
#include "tools/transfer/plane.h"

enum { BLOCK = 256 }; /* pixels at a time: the columns of a few replicas stay in cache */

/* What all q share. */
typedef struct problem {
	const evidence *e;
	pixel_table t;
	const plane *grid;
	size_t factor, most[2];  /* replicas of one q on an axis, at most */
	double floor, scale;
	double complex *half;    /* of the image's transform */
} problem;

/* Where a replica may be on one axis: an index of the image's transform and its frequency, on the Nyquist index one of two. */
typedef struct place {
	size_t index;
	double q;
	bool nyquist;
} place;

typedef struct replica {
	size_t row, column;  /* of the image's transform */
	double q[2];
	double share;        /* of the value there: 1/2 on the Nyquist row and column, which are the mean of both signs */
} replica;

/* The least-squares problem of one q. Its columns hold one value for each pixel: gamma of the replicas, then G. */
typedef struct equations {
	overlap o;
	place *place[2];
	size_t replicas;
	replica *replica;
	double *re, *im;            /* [replicas + 1][BLOCK] */
	float complex scratch[BLOCK]; /* for G */
	double complex *gram;       /* [replicas][replicas + 1]: sum over k of conj(column i) column j, j >= i: A, and S in the last column */
	double complex *inverse;    /* [replicas][replicas]: of A + floor */
} equations;

static size_t most_on_axis(const evidence *e, int axis, size_t factor, double reach)
{
	const double within = floor(4 * reach * e->step_A[axis]) + 2; /* |q| <= 2 reach, 1/step apart, a Nyquist frequency twice */
	return within < (double)factor + 1 ? (size_t)within : factor + 1;
}

/* Bytes of equations_make, as a double, which does not overflow. */
static double equations_bytes(const size_t most[2])
{
	const double n = (double)most[0] * (double)most[1] + 1;
	return 2 * n * (BLOCK * sizeof(double) + n * sizeof(double complex)) + n * sizeof(replica);
}

static void equations_free(equations *s)
{
	overlap_free(&s->o);
	free(s->place[0]);
	free(s->place[1]);
	free(s->replica);
	free(s->re);
	free(s->gram);
}

static bool equations_make(equations *s, const size_t most[2])
{
	const size_t n = most[0] * most[1] + 1;
	*s = (equations){.place = {malloc(most[0] * sizeof(place)), malloc(most[1] * sizeof(place))}, .replica = malloc(n * sizeof(replica)),
	                 .re = aligned_alloc(64, 2 * n * BLOCK * sizeof(double)), .gram = malloc(2 * n * n * sizeof(double complex))};
	s->im = s->re ? s->re + n * BLOCK : NULL;
	s->inverse = s->gram ? s->gram + n * n : NULL;
	return overlap_make(&s->o, BLOCK) && s->place[0] && s->place[1] && s->replica && s->re && s->gram;
}

/* The places of native index i that lie within `reach`, both signs of a Nyquist frequency. */
static size_t list_places(const evidence *e, int axis, size_t i, size_t factor, double reach, place *out)
{
	const size_t native = e->scan[axis], size = factor * native;
	const double step = e->step_A[axis] * (double)native / (double)size;
	size_t count = 0;
	for (size_t index = i; index < size; index += native) {
		const double q = dft_frequency((long)index, (long)size, step);
		const bool nyquist = 2 * index == size;
		if (fabs(q) > reach)
			continue;
		out[count++] = (place){index, q, nyquist};
		if (nyquist)
			out[count++] = (place){index, -q, true};
	}
	return count;
}

/* The replicas of a bin that can have a transfer; where both axes are at Nyquist, those of like signs, as in plane.h. */
static void list_replicas(equations *s, const problem *p, size_t bin)
{
	size_t count[2];
	const double reach = 2 * p->t.reach;
	for (int axis = 0; axis < 2; axis++)
		count[axis] = list_places(p->e, axis, (size_t)p->e->q_index[bin][axis], p->factor, reach, s->place[axis]);
	s->replicas = 0;
	for (size_t i = 0; i < count[0]; i++)
		for (size_t j = 0; j < count[1]; j++) {
			const place r = s->place[0][i], c = s->place[1][j];
			if (hypot(r.q, c.q) <= reach && !(r.nyquist && c.nyquist && r.q * c.q < 0))
				s->replica[s->replicas++] = (replica){r.index, c.index, {r.q, c.q}, r.nyquist || c.nyquist ? 0.5 : 1};
		}
}

/* The columns for pixels first … first + count - 1. */
static void fill_columns(equations *s, const problem *p, size_t bin, size_t first, size_t count)
{
	const pixel_table t = pixel_table_slice(&p->t, first, count);
	const float complex *G = evidence_G(p->e, bin, first, count, s->scratch);
	double *re = s->re, *im = s->im;
	memset(re, 0, (s->replicas + 1) * BLOCK * sizeof *re);
	memset(im, 0, (s->replicas + 1) * BLOCK * sizeof *im);
	for (size_t i = 0; i < s->replicas; i++, re += BLOCK, im += BLOCK) {
		overlap_select(&s->o, &t, s->replica[i].q, G, false);
		overlap_gamma(&s->o, &t, s->replica[i].q);
		for (size_t j = 0; j < s->o.count; j++) {
			re[s->o.index[j]] = s->o.term[0].amplitude[j];
			im[s->o.index[j]] = s->o.term[0].phase[j];
		}
	}
	for (size_t b = 0; b < count; b++) {
		re[b] = crealf(G[b]);
		im[b] = cimagf(G[b]);
	}
}

KERNEL static void dot(const double *restrict a_re, const double *restrict a_im, const double *restrict b_re, const double *restrict b_im,
                       double out[2])
{
	double re = 0, im = 0;
#pragma omp simd reduction(+ : re, im)
	for (size_t i = 0; i < BLOCK; i++) {
		re += a_re[i] * b_re[i] + a_im[i] * b_im[i];
		im += a_re[i] * b_im[i] - a_im[i] * b_re[i];
	}
	out[0] = re, out[1] = im;
}

static void add_products(equations *s)
{
	const size_t columns = s->replicas + 1;
	for (size_t i = 0; i < s->replicas; i++)
		for (size_t j = i; j < columns; j++) {
			double product[2];
			dot(s->re + i * BLOCK, s->im + i * BLOCK, s->re + j * BLOCK, s->im + j * BLOCK, product);
			s->gram[i * columns + j] += CMPLX(product[0], product[1]);
		}
}

/* M^-1 over M, n x n, Hermitian and positive definite: no pivot is small, so none is sought. */
static void invert(double complex *M, size_t n)
{
	for (size_t p = 0; p < n; p++) {
		const double pivot = 1 / creal(M[p * n + p]);
		M[p * n + p] = 1;
		for (size_t j = 0; j < n; j++)
			M[p * n + j] *= pivot;
		for (size_t i = 0; i < n; i++) {
			const double complex t = M[i * n + p];
			if (i == p)
				continue;
			M[i * n + p] = 0;
			for (size_t j = 0; j < n; j++)
				M[i * n + j] -= t * M[p * n + j];
		}
	}
}

static void form_inverse(equations *s, double floor)
{
	const size_t n = s->replicas;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++) {
			s->inverse[i * n + j] = s->gram[i * (n + 1) + j] + (i == j ? floor : 0);
			s->inverse[j * n + i] = conj(s->inverse[i * n + j]);
		}
	invert(s->inverse, n);
}

static void put(const problem *p, size_t row, size_t column, double complex value)
{
	if (column <= p->grid->columns / 2)
		p->half[row * (p->grid->columns / 2 + 1) + column] += value;
}

/* Phi of the replicas, and of their mirrors unless those are replicas of the same bin. */
static void store(const equations *s, const problem *p, bool own_mirror)
{
	const size_t n = s->replicas, rows = p->grid->rows, columns = p->grid->columns;
	for (size_t i = 0; i < n; i++) {
		const replica *x = &s->replica[i];
		double complex phi = 0;
		for (size_t j = 0; j < n; j++)
			phi += s->inverse[i * n + j] * s->gram[j * (n + 1) + n];
		phi *= -I * p->scale * x->share;
		put(p, x->row, x->column, phi);
		if (!own_mirror)
			put(p, (rows - x->row) % rows, (columns - x->column) % columns, conj(phi));
	}
}

/* (A + floor)^-1 A (A + floor)^-1 at (i, j) of the replicas. */
static double covariance(const equations *s, size_t i, size_t j, double floor)
{
	const size_t n = s->replicas;
	double complex sum = 0;
	for (size_t l = 0; l < n; l++)
		sum += s->inverse[i * n + l] * s->inverse[l * n + j];
	return creal(s->inverse[i * n + j] - floor * sum);
}

/* Add the noise variance, over N / I0, of joint to noise[0], of ls to noise[1]. */
static void add_noise(const equations *s, double floor, double weight, double noise[2])
{
	const size_t n = s->replicas;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++) {
			const replica *a = &s->replica[i], *b = &s->replica[j];
			if (a->row != b->row || a->column != b->column)
				continue;
			const double share = weight * a->share * b->share * (i == j ? 1 : 2);
			const double W_i = creal(s->gram[i * (n + 1) + i]), W_j = creal(s->gram[j * (n + 1) + j]);
			noise[0] += share * covariance(s, i, j, floor);
			noise[1] += share * creal(s->gram[i * (n + 1) + j]) / ((W_i + floor) * (W_j + floor));
		}
}

/* Of q and -q, which have one system, the bin that stands for both; own_mirror: they are one. */
static bool stands_for_both(const evidence *e, size_t bin, bool *own_mirror)
{
	const size_t r = (size_t)e->q_index[bin][0], c = (size_t)e->q_index[bin][1];
	const bool column = c == 0 || 2 * c == e->scan[1];
	*own_mirror = column && (r == 0 || 2 * r == e->scan[0]);
	return !column || 2 * r <= e->scan[0];
}

static void solve_bin(equations *s, const problem *p, size_t bin, double noise[2])
{
	bool own_mirror;
	if (bin == 0 || !stands_for_both(p->e, bin, &own_mirror))
		return;
	list_replicas(s, p, bin);
	memset(s->gram, 0, s->replicas * (s->replicas + 1) * sizeof *s->gram);
	for (size_t first = 0; first < p->e->pixels; first += BLOCK) {
		fill_columns(s, p, bin, first, p->e->pixels - first < BLOCK ? p->e->pixels - first : BLOCK);
		add_products(s);
	}
	form_inverse(s, p->floor);
	store(s, p, own_mirror);
	add_noise(s, p->floor, own_mirror ? 1 : 2, noise);
}

/* noise[bins][2] */
static bool solve_bins(const problem *p, double (*noise)[2])
{
	bool ok = true;
#pragma omp parallel reduction(&& : ok)
	{
		equations s;
		ok = equations_make(&s, p->most);
#pragma omp for schedule(dynamic, 16)
		for (size_t bin = 0; bin < p->e->bins; bin++)
			if (ok)
				solve_bin(&s, p, bin, noise[bin]);
		equations_free(&s);
	}
	return ok;
}

static double amplification(double (*noise)[2], size_t bins)
{
	double sum[2] = {0, 0};
	for (size_t i = 0; i < bins; i++) {
		sum[0] += noise[i][0];
		sum[1] += noise[i][1];
	}
	return sum[0] / sum[1];
}

static bool largest_transfer(const evidence *e, const optics_parameters *p, const plane *grid, double *most, ssb_error *err)
{
	sums *s = malloc((grid->frequencies + 1) * sizeof *s);
	*most = 0;
	if (!s)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	const bool ok = cpu_sums(e, p, grid->frequency, grid->frequencies, false, s, err);
	for (size_t i = 0; ok && i < grid->frequencies; i++)
		*most = fmax(*most, s[i].W);
	free(s);
	return ok && (*most > 0 || ssb_fail(err, SSB_BAD_INPUT, "no scan frequency has a transfer: no double overlap holds a pixel"));
}

static bool solve(problem *p, size_t memory, double (*noise)[2], ssb_error *err)
{
	const double threads = omp_get_max_threads();
	for (int axis = 0; axis < 2; axis++)
		p->most[axis] = most_on_axis(p->e, axis, p->factor, p->t.reach);
	if (threads * equations_bytes(p->most) > (double)memory)
		return ssb_fail(err, SSB_RUNTIME, "the equations of %zu x %zu aliases do not fit in --memory", p->most[0], p->most[1]);
	return solve_bins(p, noise) ? evidence_is_sound(p->e, err) : ssb_fail(err, SSB_RUNTIME, "out of memory");
}

static bool compute(problem *p, const optics_parameters *parameters, size_t memory, double *image, double *noise_amplification, ssb_error *err)
{
	double(*noise)[2] = calloc(p->e->bins, sizeof *noise);
	p->half = calloc(p->grid->rows * (p->grid->columns / 2 + 1), sizeof *p->half);
	bool ok = false;
	if (!noise || !p->half || !pixel_table_make(&p->t, p->e, parameters))
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	else if (solve(p, memory, noise, err)) {
		*noise_amplification = amplification(noise, p->e->bins);
		ok = plane_transform(p->grid, p->half, image) || ssb_fail(err, SSB_RUNTIME, "out of memory");
	}
	pixel_table_free(&p->t);
	free(p->half);
	free(noise);
	return ok;
}

bool reconstruct_joint(const evidence *e, const optics_parameters *parameters, size_t factor, double epsilon, size_t memory, double *image,
                       double *noise_amplification, ssb_error *err)
{
	plane grid;
	double most;
	if (!plane_make(&grid, e, factor, err))
		return false;
	bool ok = largest_transfer(e, parameters, &grid, &most, err);
	if (ok) {
		problem p = {.e = e, .grid = &grid, .factor = factor, .floor = epsilon * most,
		             .scale = 1 / (e->I0_counts * (double)(e->scan[0] * e->scan[1]))};
		ok = compute(&p, parameters, memory, image, noise_amplification, err);
	}
	plane_free(&grid);
	return ok;
}
