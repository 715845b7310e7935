/* L and its first and second derivatives on the CPU, exact, for any of the fit parameters; the formulas are derivative.h's.
 * The pixels of one q are taken in blocks whose arrays stay in the cache; each pair (i, j) is then a few dot products. */
#include "tools/transfer/cpu.h"

#include <stdlib.h>
#include <string.h>
#include "tools/transfer/host.h"

enum { BLOCK = 256, BINS_PER_TASK = 64 };

typedef double column[BLOCK];

/* One term of gamma and its derivatives over a block of pixels. */
typedef struct term_block {
	column a, psi, a_by[FRAME_DERIVATIVES], psi_by[FRAME_DERIVATIVES];
	column w[3], x[SPECIALS], x_thickness[SPECIALS], x_frame[3];
	column none;                 /* zeros */
	column A, e_re, e_im;        /* A = a w; e^{i psi} */
	column z_re, z_im;           /* s G e^{-i psi}, s = + for T_-, - for T_+ */
	column y_re, y_im;           /* s conj(gamma) e^{i psi} */
	column d[FIT_PARAMETERS], u[FIT_PARAMETERS];
	column along[FIT_PARAMETERS][2]; /* d2psi / d(coefficient) d(rotation, sampling) */
} term_block;

typedef struct worker {
	const evidence *e;
	const pixel_table *table;
	overlap o;
	term_block term[2];
	column g_re, g_im, chi_k_by[FRAME_DERIVATIVES], scratch[6];
	column basis_k[FIT_PARAMETERS], along_k[FIT_PARAMETERS][2]; /* p_i(k) and its slopes along the frame, by position in `parameter` */
	column gi_re[FIT_PARAMETERS], gi_im[FIT_PARAMETERS];
	derivative_sums sums;
} worker;

/* The part of the overlap that a block holds. */
typedef struct slice {
	const double *detector[2], *scan[2], *aperture, *chi_k, *G_re, *G_im;
	size_t count;
} slice;

static slice slice_of(const overlap *o, size_t first)
{
	const size_t left = o->count - first;
	return (slice){{o->detector[0] + first, o->detector[1] + first}, {o->scan[0] + first, o->scan[1] + first}, o->aperture + first,
	               o->chi_k + first, o->G_re + first, o->G_im + first, left < BLOCK ? left : BLOCK};
}

/* ---- the two terms ---- */

KERNEL static void fill_aperture(term_block *t, const slice *s, const double q[2], const double q1[2], int sign, const pixel_table *p)
{
	for (size_t i = 0; i < s->count; i++) {
		double by[FRAME_DERIVATIVES];
		t->a[i] = amplitude_derivatives(sign, s->detector[0][i], s->detector[1][i], q, q1, s->aperture[i], p->wavelength, p->semiangle,
		                                p->sampling, by);
		for (int j = 0; j < FRAME_DERIVATIVES; j++)
			t->a_by[j][i] = by[j];
	}
}

KERNEL static void fill_thickness(term_block *t, const slice *s, const double q[2], int sign, const pixel_table *p)
{
	const double q2 = q[0] * q[0] + q[1] * q[1], tilt_phase = 2 * M_PI * (q[0] * p->tilt[0] + q[1] * p->tilt[1]);
	for (size_t i = 0; i < s->count; i++) {
		thickness_path path;
		thickness_path_at(sign, s->scan[0][i], s->scan[1][i], q, q2, tilt_phase, p->wavelength, p->thickness, &path);
		for (int j = 0; j < 3; j++) {
			t->w[j][i] = path.w[j];
			t->x_frame[j][i] = path.x_frame[j];
		}
		for (int j = 0; j < SPECIALS; j++) {
			t->x[j][i] = path.x[j];
			t->x_thickness[j][i] = path.x_thickness[j];
		}
	}
}

/* The frame's derivatives of chi at k + d; k moves. */
KERNEL static void path_derivatives(const double *restrict r, const double *restrict c, const column f[6], size_t n,
                                    column by[FRAME_DERIVATIVES])
{
	for (size_t i = 0; i < n; i++) {
		const double g[2] = {f[1][i], f[2][i]}, H[3] = {f[3][i], f[4][i], f[5][i]}, turn[2] = {-c[i], r[i]}, grow[2] = {r[i], c[i]};
		double at[FRAME_DERIVATIVES];
		frame_derivatives(g, H, turn, grow, 1, at);
		for (int j = 0; j < FRAME_DERIVATIVES; j++)
			by[j][i] = at[j];
	}
}

static void chi_path(const derivative_model *m, worker *w, const slice *s, double dr, double dc, column by[FRAME_DERIVATIVES])
{
	for (int i = 1; i < 6; i++)
		polynomial_values(&m->chi[i], s->scan[0], s->scan[1], dr, dc, s->count, w->scratch[i]);
	path_derivatives(s->scan[0], s->scan[1], (const column *)w->scratch, s->count, by);
}

KERNEL static void signed_difference(double *restrict at_v, const double *restrict at_k, double sign, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at_v[i] = sign * (at_v[i] - at_k[i]);
}

KERNEL static void gradient_along(const double *restrict r, const double *restrict c, const double *restrict fr,
                                  const double *restrict fc, size_t n, column out[2])
{
	for (size_t i = 0; i < n; i++) {
		out[0][i] = fc[i] * r[i] - fr[i] * c[i];
		out[1][i] = fr[i] * r[i] + fc[i] * c[i];
	}
}

/* p_i at k + d, and its slopes along the frame where that moves */
static void basis_path(const derivative_model *m, worker *w, size_t i, const slice *s, double dr, double dc, double *value, column along[2])
{
	polynomial_values(&m->basis[i][0], s->scan[0], s->scan[1], dr, dc, s->count, value);
	if (!m->moves)
		return;
	for (int j = 1; j < 3; j++)
		polynomial_values(&m->basis[i][j], s->scan[0], s->scan[1], dr, dc, s->count, w->scratch[j]);
	gradient_along(s->scan[0], s->scan[1], w->scratch[1], w->scratch[2], s->count, along);
}

static void fill_basis(const derivative_model *m, worker *w, term_block *t, size_t i, const slice *s, const double q[2], int sign)
{
	basis_path(m, w, i, s, sign * q[0], sign * q[1], t->d[i], t->along[i]);
	signed_difference(t->d[i], w->basis_k[i], sign, s->count);
	for (int j = 0; m->moves && j < 2; j++)
		signed_difference(t->along[i][j], w->along_k[i][j], sign, s->count);
}

KERNEL static void fill_exponential(term_block *t, const slice *s, int sign)
{
	for (size_t i = 0; i < s->count; i++) {
		double sine, cosine;
		sine_cosine(t->psi[i], &sine, &cosine);
		t->e_re[i] = cosine;
		t->e_im[i] = sine;
		t->A[i] = t->a[i] * t->w[0][i];
		evidence_in_phase(sign, s->G_re[i], s->G_im[i], cosine, sine, &t->z_re[i], &t->z_im[i]);
	}
}

/* da/di of a special */
static const double *amplitude_by(const term_block *t, int parameter)
{
	return parameter < ROTATION ? t->none : t->a_by[parameter - ROTATION];
}

/* u_i = dA/di of a special; the aberrations' is 0 */
KERNEL static void fill_amplitude_derivative(term_block *t, size_t i, int parameter, size_t n)
{
	const double *x = t->x[parameter - TILT_R], *a1 = amplitude_by(t, parameter);
	for (size_t k = 0; k < n; k++)
		t->u[i][k] = amplitude_slope(t->a[k], a1[k], t->w[0][k], t->w[1][k], x[k]);
}

static void fill_term(const derivative_model *m, worker *w, term_block *t, const slice *s, const double q[2], int sign)
{
	const pixel_table *p = w->table;
	double qd[2], q1d[2];
	to_detector_frame(q, p->transposed, p->cosine, p->sine, qd);
	to_detector_frame(q, p->transposed, -p->sine, p->cosine, q1d); /* of rotation + pi/2 */
	fill_aperture(t, s, qd, q1d, sign, p);
	if (m->thick)
		fill_thickness(t, s, q, sign, p);
	polynomial_values(&m->chi[0], s->scan[0], s->scan[1], sign * q[0], sign * q[1], s->count, t->psi);
	signed_difference(t->psi, s->chi_k, sign, s->count);
	if (m->moves)
		chi_path(m, w, s, sign * q[0], sign * q[1], t->psi_by);
	for (int i = 0; m->moves && i < FRAME_DERIVATIVES; i++)
		signed_difference(t->psi_by[i], w->chi_k_by[i], sign, s->count);
	fill_exponential(t, s, sign);
	for (size_t i = 0; i < m->n; i++) {
		if (m->parameter[i] < ABERRATIONS)
			fill_basis(m, w, t, i, s, q, sign);
		else if (m->parameter[i] >= ROTATION)
			memcpy(t->d[i], t->psi_by[m->parameter[i] - ROTATION], s->count * sizeof(double));
		else
			memset(t->d[i], 0, s->count * sizeof(double));
		if (m->parameter[i] >= ABERRATIONS)
			fill_amplitude_derivative(t, i, m->parameter[i], s->count);
		else
			memset(t->u[i], 0, s->count * sizeof(double));
	}
}

/* ---- gamma, its gradient, and the sums ---- */

KERNEL static void fill_gamma(worker *w, size_t n)
{
	const term_block *m = &w->term[0], *p = &w->term[1];
	for (size_t i = 0; i < n; i++) {
		w->g_re[i] = m->A[i] * m->e_re[i] - p->A[i] * p->e_re[i];
		w->g_im[i] = m->A[i] * m->e_im[i] - p->A[i] * p->e_im[i];
	}
	for (int j = 0; j < 2; j++) {
		term_block *t = &w->term[j];
		const int sign = j == 0 ? -1 : 1;
		for (size_t i = 0; i < n; i++)
			gamma_in_phase(sign, w->g_re[i], w->g_im[i], t->e_re[i], t->e_im[i], &t->y_re[i], &t->y_im[i]);
	}
}

KERNEL static void fill_gradient(worker *w, size_t i, size_t n)
{
	const term_block *m = &w->term[0], *p = &w->term[1];
	for (size_t k = 0; k < n; k++) {
		const double vm = m->A[k] * m->d[i][k], vp = p->A[k] * p->d[i][k];
		gamma_slope(m->u[i][k], vm, m->e_re[k], m->e_im[k], p->u[i][k], vp, p->e_re[k], p->e_im[k], &w->gi_re[i][k], &w->gi_im[i][k]);
	}
}

/* sum conj(a) b */
KERNEL static double complex dot(const double *restrict a_re, const double *restrict a_im, const double *restrict b_re,
                                 const double *restrict b_im, size_t n)
{
	double re = 0, im = 0;
#pragma omp simd reduction(+ : re, im)
	for (size_t i = 0; i < n; i++) {
		re += a_re[i] * b_re[i] + a_im[i] * b_im[i];
		im += a_re[i] * b_im[i] - a_im[i] * b_re[i];
	}
	return CMPLX(re, im);
}

/* Index of the frame's second derivative by two of rotation, sampling. */
static int second_by(int a, int b)
{
	return BY_RR + (a == SAMPLING) + (b == SAMPLING);
}

/* d2x/dadb */
static const double *second_x(const term_block *t, int a, int b)
{
	if (a >= ROTATION && b >= ROTATION)
		return t->x_frame[second_by(a, b) - BY_RR];
	return a == THICKNESS ? t->x_thickness[b - TILT_R] : b == THICKNESS ? t->x_thickness[a - TILT_R] : t->none;
}

/* Real and imaginary factor of d2T/didj e^{-i psi}. */
KERNEL static void pair_factors(const derivative_model *m, const term_block *t, size_t i, size_t j, size_t n, double *restrict re,
                                double *restrict im)
{
	const int a = m->parameter[i], b = m->parameter[j];
	const bool move = a >= ROTATION && b >= ROTATION;
	const double *psi2 = move ? t->psi_by[second_by(a, b)] : t->none;
	if (a < ABERRATIONS && b >= ROTATION)
		psi2 = t->along[i][b - ROTATION];
	if (b < ABERRATIONS && a >= ROTATION)
		psi2 = t->along[j][a - ROTATION];
	for (size_t k = 0; k < n; k++) {
		pair_factor(t->A[k], t->d[i][k], t->d[j][k], t->u[i][k], t->u[j][k], &re[k], &im[k]);
		im[k] += t->A[k] * psi2[k];
	}
	if (a < ABERRATIONS || b < ABERRATIONS)
		return;
	const double *xa = t->x[a - TILT_R], *xb = t->x[b - TILT_R], *xab = second_x(t, a, b);
	const double *a1 = amplitude_by(t, a), *a2 = amplitude_by(t, b), *a12 = move ? t->a_by[second_by(a, b)] : t->none;
	for (size_t k = 0; k < n; k++) {
		const double w[3] = {t->w[0][k], t->w[1][k], t->w[2][k]};
		re[k] += amplitude_curvature(t->a[k], a1[k], a2[k], a12[k], w, xa[k], xb[k], xab[k]);
	}
}

KERNEL static void pair_dots(const double *restrict re, const double *restrict im, const term_block *t, size_t n, double out[3])
{
	double s_re = 0, s_im = 0, g = 0;
#pragma omp simd reduction(+ : s_re, s_im, g)
	for (size_t k = 0; k < n; k++)
		add_second(re[k], im[k], t->z_re[k], t->z_im[k], t->y_re[k], t->y_im[k], &s_re, &s_im, &g);
	out[0] = s_re, out[1] = s_im, out[2] = g;
}

static void add_block(const derivative_model *m, worker *w, const slice *s, const double q[2])
{
	derivative_sums *sum = &w->sums;
	if (m->moves)
		chi_path(m, w, s, 0, 0, w->chi_k_by);
	for (size_t i = 0; i < m->n; i++)
		if (m->parameter[i] < ABERRATIONS)
			basis_path(m, w, i, s, 0, 0, w->basis_k[i], w->along_k[i]);
	fill_term(m, w, &w->term[0], s, q, -1);
	fill_term(m, w, &w->term[1], s, q, +1);
	fill_gamma(w, s->count);
	for (size_t i = 0; i < m->n; i++) {
		fill_gradient(w, i, s->count);
		sum->S1[i] += dot(w->gi_re[i], w->gi_im[i], s->G_re, s->G_im, s->count);
		sum->V[i] += dot(w->g_re, w->g_im, w->gi_re[i], w->gi_im[i], s->count);
		for (size_t j = 0; j <= i; j++) {
			sum->X[i][j] += creal(dot(w->gi_re[i], w->gi_im[i], w->gi_re[j], w->gi_im[j], s->count));
			for (int term = 0; term < 2; term++) {
				double out[3];
				pair_factors(m, &w->term[term], i, j, s->count, w->scratch[0], w->scratch[1]);
				pair_dots(w->scratch[0], w->scratch[1], &w->term[term], s->count, out);
				sum->S2[i][j] += CMPLX(out[0], out[1]);
				sum->Y[i][j] += out[2];
			}
		}
	}
}

static void add_frequency(const derivative_model *m, worker *w, const frequency *f, double weight, const sums *known, likelihood *out)
{
	memset(&w->sums, 0, sizeof w->sums);
	overlap_select(&w->o, w->table, f->q, w->e->row[f->bin], f->conjugate);
	for (size_t first = 0; first < w->o.count; first += BLOCK) {
		const slice s = slice_of(&w->o, first);
		add_block(m, w, &s, f->q);
	}
	likelihood_add_bin(out, m->n, &w->sums, weight, known);
}

static void add_likelihood(likelihood *to, const likelihood *from)
{
	double *t = (double *)to;
	const double *f = (const double *)from;
	for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
		t[i] += f[i];
}

static worker *worker_make(const evidence *e, const pixel_table *table)
{
	worker *w = calloc(1, sizeof *w);
	if (!w || !overlap_make(&w->o, e->pixels)) {
		free(w);
		return NULL;
	}
	w->e = e;
	w->table = table;
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < BLOCK; k++)
			w->term[i].w[0][k] = 1; /* of a thin specimen, whose derivatives by x stay 0 */
	return w;
}

static void worker_free(worker *w)
{
	if (w)
		overlap_free(&w->o);
	free(w);
}

/* Tasks of a fixed number of bins, each summed in order by one thread, then the tasks in order: the same for any thread count. */
static bool sum_tasks(const derivative_model *m, const evidence *e, const pixel_table *table, const frequency *f, size_t count,
                      const double *weight, const sums *known, likelihood *part)
{
	bool ok = true;
	const size_t tasks = (count + BINS_PER_TASK - 1) / BINS_PER_TASK;
#pragma omp parallel reduction(&& : ok)
	{
		worker *w = worker_make(e, table);
		ok = w != NULL;
#pragma omp for schedule(dynamic)
		for (size_t task = 0; task < tasks; task++)
			for (size_t i = task * BINS_PER_TASK; ok && i < count && i < (task + 1) * BINS_PER_TASK; i++)
				if (weight[i] > 0)
					add_frequency(m, w, &f[i], weight[i], &known[i], &part[task]);
		worker_free(w);
	}
	return ok;
}

bool cpu_derivatives(const evidence *e, const optics_parameters *p, const int *parameter, size_t n, const frequency *f, size_t count,
                     const double *weight, const sums *known, likelihood *out, ssb_error *err)
{
	memset(out, 0, sizeof *out);
	const size_t tasks = (count + BINS_PER_TASK - 1) / BINS_PER_TASK;
	likelihood *part = calloc(tasks ? tasks : 1, sizeof *part);
	pixel_table table = {0};
	bool ok = part && pixel_table_make(&table, e, p);
	if (ok) {
		const derivative_model m = derivative_model_make(&table, parameter, n);
		ok = sum_tasks(&m, e, &table, f, count, weight, known, part);
		for (size_t i = 0; i < tasks; i++)
			add_likelihood(out, &part[i]);
		likelihood_mirror(out, n);
	}
	pixel_table_free(&table);
	free(part);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}
