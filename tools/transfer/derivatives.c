/* L and its first and second derivatives on the CPU, exact, for any of the fit parameters.
 *
 * gamma = T_- - T_+, T = A e^{i psi}. An aberration i moves psi alone, by the polynomial d_i, so everything it takes part in is a sum over k
 * of a weight times d_i or d_i d_j, which moments.h turns into moments of the weight, taken along detector rows. With z = s G e^{-i psi},
 * turned so that S is real, y = s conj(gamma) e^{i psi} (s: + for T_-, - for T_+), B = A_- A_+ e^{i(psi_- - psi_+)}:
 *   S_i = sum A z (-i d_i)             S_ij = -sum A z d_i d_j
 *   V_i = sum i Y d_i - Im B s_i       X_ij = sum Y d_i d_j + Re B s_i s_j      X_ij + Y_ij = sum Re B s_i s_j
 * summed over both terms, Y = A^2 - Re B, s_i = d_i of T_+ less that of T_-. Specimen, rotation and sampling (the specials) change A too:
 * they and their pairs are summed pixel by pixel by the formulas of derivative.h, and against the aberrations by moments again. */
#include "tools/transfer/cpu.h"

#include <stdlib.h>
#include <string.h>
#include "tools/transfer/host.h"
#include "tools/transfer/moments.h"
#include "tools/transfer/quadratic.h"
#include "tools/transfer/rows.h"

enum { BLOCK = 4, BLOCKS = 3, MOST_MOMENT = 10 }; /* moments up to degree 10, eleven powers in three vectors */

typedef double lanes __attribute__((vector_size(BLOCK * sizeof(double))));
typedef double column[PIECE_ROOM];

/* sum w u_r^a u_c^b: element b of row a. */
typedef struct moment_sums { lanes m[MOST_MOMENT + 1][BLOCKS]; } moment_sums;

/* ---- what does not change from q to q ---- */

/* An aberration's d_i and s_i, and their derivatives by rotation and sampling: those of d_i have a part that is the same in both terms and
 * one that changes sign with the term. */
typedef struct aberration_model {
	size_t at; /* position among the parameters */
	bipolynomial d, s, d_by[2], d_by_signed[2], s_by[2];
} aberration_model;

/* Tables of pairs, of single aberrations with each special (PER_SPECIAL each), and with what moves the frame. */
enum { PAIR_HESSIAN, PAIR_J, PAIR_KAPPA, PAIR_S_J, PAIR_S_KAPPA, PAIR_TABLES };
enum { WITH_HESSIAN, WITH_J, WITH_KAPPA, PER_SPECIAL };
enum { FRAME_EVEN, FRAME_SIGNED, FRAME_S, FRAME_TABLES };

typedef struct model {
	size_t n, aberrations, specials;
	aberration_model *aberration;
	size_t special_at[SPECIALS];
	int special[SPECIALS]; /* which parameter */
	int degree;            /* of d_i in u */
	bool thick;            /* w is not 1 throughout */
	bool by[FRAME_DERIVATIVES]; /* which of the frame's derivatives count */
	moment_layout pair, single;
} model;

static void add_slopes(bipolynomial by[2], const moment_layout *l, const polynomial g[2], int odd, int first, double sense, double factor)
{
	const int r[4] = {first == 0, 0, first == 2, 0}, c[4] = {0, first == 0, 0, first == 2};
	bipolynomial_add(&by[BY_R], l, &g[0], odd, c, -sense * factor);
	bipolynomial_add(&by[BY_R], l, &g[1], odd, r, sense * factor);
	bipolynomial_add(&by[BY_S], l, &g[0], odd, r, factor);
	bipolynomial_add(&by[BY_S], l, &g[1], odd, c, factor);
}

static void add_aberration(model *m, const row_table *t, int parameter, size_t at)
{
	double unit[ABERRATIONS] = {0};
	const int as_is[4] = {0, 0, 0, 0};
	const double sense = t->pixels.transposed ? -1 : 1; /* the rotation's in the detector frame */
	aberration_model *a = &m->aberration[m->aberrations++];
	unit[parameter] = 1;
	const polynomial chi = chi_from_coefficients(unit, t->pixels.wavelength), p = row_polynomial(t, &chi);
	const polynomial g[2] = {polynomial_derivative(&p, 1, 0), polynomial_derivative(&p, 0, 1)};
	a->at = at;
	bipolynomial_add(&a->d, &m->single, &p, 1, as_is, 2);
	bipolynomial_add(&a->s, &m->single, &p, 0, as_is, 2);
	add_slopes(a->d_by, &m->single, g, 1, 0, sense, 2);
	add_slopes(a->d_by_signed, &m->single, g, 1, 2, sense, -2); /* k = u - s h */
	add_slopes(a->s_by, &m->single, g, 0, 0, sense, 2);
}

static bool model_make(model *m, const row_table *t, const int *parameter, size_t n)
{
	*m = (model){.n = n, .thick = t->pixels.thickness != 0, .aberration = calloc(ABERRATIONS, sizeof *m->aberration)};
	for (size_t i = 0; i < n; i++)
		if (parameter[i] < ABERRATIONS && aberration_terms[parameter[i]].n > m->degree)
			m->degree = aberration_terms[parameter[i]].n;
	m->pair = moment_layout_make(2 * (m->degree + 1), 2, 2);
	m->single = moment_layout_make(m->degree + 1, 1, 1);
	for (size_t i = 0; m->aberration && i < n; i++) {
		if (parameter[i] < ABERRATIONS) {
			add_aberration(m, t, parameter[i], i);
			continue;
		}
		m->special_at[m->specials] = i;
		m->special[m->specials++] = parameter[i];
		m->by[BY_R] |= parameter[i] == ROTATION;
		m->by[BY_S] |= parameter[i] == SAMPLING;
		m->thick |= parameter[i] < ROTATION;
	}
	m->by[BY_RR] = m->by[BY_R];
	m->by[BY_RS] = m->by[BY_R] && m->by[BY_S];
	m->by[BY_SS] = m->by[BY_S];
	return m->aberration;
}

/* ---- the tables of a task ---- */

static size_t tables_size(const model *m)
{
	return PAIR_TABLES * m->pair.size + (FRAME_TABLES + PER_SPECIAL * m->specials) * m->single.size;
}

static double *frame_table(const model *m, double *tables, int which)
{
	return tables + PAIR_TABLES * m->pair.size + (size_t)which * m->single.size;
}

static double *special_table(const model *m, double *tables, size_t special, int which)
{
	return frame_table(m, tables, FRAME_TABLES) + (PER_SPECIAL * special + (size_t)which) * m->single.size;
}

/* ---- one q ---- */

/* One term over a piece: A, a and their derivatives are 0 outside its interval, where the rest may be anything. */
typedef struct term_piece {
	column a, A, e_re, e_im, z_re, z_im;
	column Az_re, Az_im, Y;                     /* the weights of moments */
	column H_re, H_im;                          /* what d2T e^{-i psi}, real and imaginary, weighs in the Hessian */
	column a_by[FRAME_DERIVATIVES], psi_by[FRAME_DERIVATIVES];
	column w[3], x[SPECIALS], x_thickness[SPECIALS], x_frame[3];
	column d[SPECIALS], u[SPECIALS];            /* of the specials */
	column none;                                /* zeros */
} term_piece;

/* What the pixels of a q need; S is turned to |S|. */
typedef struct q_model {
	row_frequency f;
	double q[2];                                /* scan frame, 1/A */
	polynomial psi_by[2][FRAME_DERIVATIVES];    /* of u, of each term */
	const float *G;
	double sign_G;
	double complex turn;                        /* conj(S)/|S| */
	double R_pair, W_pair, kappa_pair;          /* 2m|S|/W, 2m|S|^2/W^2, 2m/W */
} q_model;

typedef struct worker {
	const row_table *table;
	piece *list;
	lanes *power[3];                            /* of u_c of both terms and of k_c, BLOCKS a column */
	double *tables;                             /* of the task */
	double *single;                             /* room for one table */
	q_model q;
	term_piece term[2];
	column G_re, G_im, g_re, g_im, B_re, B_im, with_H, with_X;
	column gi_re[SPECIALS], gi_im[SPECIALS];
	moment_sums Az_re, Az_im[2], Y, B[2], H[SPECIALS], X[SPECIALS];
	derivative_sums sums;
	double pair_H[SPECIALS][SPECIALS];          /* d2T's share of the Hessian for specials i >= j */
	float complex *scratch;                     /* for G */
} worker;

/* ---- moments ---- */

KERNEL static void fill_powers(const double *c, double shift, size_t columns, lanes *power)
{
	for (size_t i = 0; i < columns; i++) {
		const double x = c[i] + shift, x2 = x * x, x4 = x2 * x2;
		power[BLOCKS * i] = (lanes){1, x, x2, x2 * x};
		power[BLOCKS * i + 1] = power[BLOCKS * i] * x4;
		power[BLOCKS * i + 2] = power[BLOCKS * i + 1] * x4;
	}
}

ALWAYS_INLINE void row_sums(const double *w, const lanes *power, size_t n, int blocks, lanes *sum)
{
	lanes s[4][BLOCKS] = {{{0}}};
	size_t j = 0;
	for (; j + 4 <= n; j += 4)
		for (int k = 0; k < 4; k++)
			for (int b = 0; b < blocks; b++)
				s[k][b] += w[j + (size_t)k] * power[BLOCKS * (j + (size_t)k) + (size_t)b];
	for (; j < n; j++)
		for (int b = 0; b < blocks; b++)
			s[0][b] += w[j] * power[BLOCKS * j + (size_t)b];
	for (int b = 0; b < blocks; b++)
		sum[b] = (s[0][b] + s[1][b]) + (s[2][b] + s[3][b]);
}

/* Add a row's sums of w u_r^a u_c^b, a + b <= degree. */
KERNEL static void add_moments(moment_sums *to, const double *w, const lanes *power, size_t n, double r, int degree)
{
	lanes sum[BLOCKS];
	double r_power = 1;
	if (degree < BLOCK)
		row_sums(w, power, n, 1, sum);
	else if (degree < 2 * BLOCK)
		row_sums(w, power, n, 2, sum);
	else
		row_sums(w, power, n, 3, sum);
	for (int a = 0; a <= degree; a++, r_power *= r)
		for (int b = 0; b <= (degree - a) / BLOCK; b++)
			to->m[a][b] += r_power * sum[b];
}

/* By monomial. */
static void graded(const moment_sums *s, int degree, double *out)
{
	for (int a = 0; a <= degree; a++)
		for (int b = 0; a + b <= degree; b++)
			out[monomial_at(a, b)] = s->m[a][b / BLOCK][b % BLOCK];
}

/* a + sign b */
static void combine(const moment_sums *a, const moment_sums *b, double sign, moment_sums *out)
{
	for (int i = 0; i <= MOST_MOMENT; i++)
		for (int j = 0; j < BLOCKS; j++)
			out->m[i][j] = a->m[i][j] + sign * b->m[i][j];
}

/* ---- the two terms ---- */

KERNEL static void fill_G(worker *w, const piece *p)
{
	const double re = creal(w->q.turn), im = cimag(w->q.turn);
	piece_G(p, w->q.G, w->q.sign_G, w->G_re, w->G_im);
	for (size_t j = 0; j < whole_lanes(p->count); j++) {
		const double before = w->G_re[j];
		w->G_re[j] = re * before - im * w->G_im[j];
		w->G_im[j] = re * w->G_im[j] + im * before;
	}
}

KERNEL static void fill_phase(const worker *w, const piece *p, int term, term_piece *t)
{
	piece_aperture(w->table, &w->q.f, p, term, t->a);
	piece_exponential(w->table, &w->q.f, p, term, t->e_re, t->e_im);
	for (size_t j = 0; j < whole_lanes(p->count); j++)
		evidence_in_phase(term == 0 ? -1 : 1, w->G_re[j], w->G_im[j], t->e_re[j], t->e_im[j], &t->z_re[j], &t->z_im[j]);
}

ALWAYS_INLINE void fill_ramp_run(const pixel_table *x, size_t first, size_t from, size_t to, int sign, const double qd[2],
                                 const double q1d[2], term_piece *t)
{
	for (size_t j = from; j < to; j++) {
		double by[FRAME_DERIVATIVES];
		amplitude_derivatives(sign, x->detector[0][first + j], x->detector[1][first + j], qd, q1d, x->aperture[first + j], x->wavelength,
		                      x->semiangle, x->sampling, by);
		for (int i = 0; i < FRAME_DERIVATIVES; i++)
			t->a_by[i][j] = by[i];
	}
}

/* da by the frame, which is 0 but on the ramp */
KERNEL static void fill_ramp(const pixel_table *x, const piece *p, int term, const double q[2], term_piece *t)
{
	const int sign = term == 0 ? -1 : 1;
	double qd[2], q1d[2];
	to_detector_frame(q, x->transposed, x->cosine, x->sine, qd);
	to_detector_frame(q, x->transposed, -x->sine, x->cosine, q1d); /* of rotation + pi/2 */
	for (int i = 0; i < FRAME_DERIVATIVES; i++)
		for (size_t j = 0; j < whole_lanes(p->count); j++)
			t->a_by[i][j] = 0;
	fill_ramp_run(x, p->first, p->from[term], p->inner_from[term], sign, qd, q1d, t);
	fill_ramp_run(x, p->first, p->inner_to[term], p->to[term], sign, qd, q1d, t);
}

KERNEL static void fill_thickness(const pixel_table *x, const row_frequency *f, const piece *p, int term, const double q[2], term_piece *t)
{
	for (size_t j = p->from[term]; j < p->to[term]; j++) {
		thickness_path path;
		thickness_path_at(term == 0 ? -1 : 1, x->scan[0][p->first + j], x->scan[1][p->first + j], q, f->q2, f->tilt_phase, x->wavelength,
		                  x->thickness, &path);
		for (int i = 0; i < 3; i++) {
			t->w[i][j] = path.w[i];
			t->x_frame[i][j] = path.x_frame[i];
		}
		for (int i = 0; i < SPECIALS; i++) {
			t->x[i][j] = path.x[i];
			t->x_thickness[i][j] = path.x_thickness[i];
		}
	}
}

/* psi by the frame */
KERNEL static void fill_phase_path(const model *m, const worker *w, const piece *p, int term, term_piece *t)
{
	const int sign = term == 0 ? -1 : 1;
	const double *c = w->table->c + p->column + p->from[term], shift = sign * w->q.f.h[1];
	for (int i = 0; i < FRAME_DERIVATIVES; i++) {
		double b[6], *psi = t->psi_by[i] + p->from[term];
		if (!m->by[i])
			continue;
		row_coefficients(&w->q.psi_by[term][i], p->r + sign * w->q.f.h[0], b);
		for (size_t j = 0; j < whole_lanes(p->to[term] - p->from[term]); j++)
			psi[j] = row_value(b, c[j] + shift);
	}
}

/* da/di of a special */
static const double *amplitude_by(const term_piece *t, int parameter)
{
	return parameter < ROTATION ? t->none : t->a_by[parameter - ROTATION];
}

/* d_i and u_i of the specials */
KERNEL static void fill_specials(const model *m, size_t n, term_piece *t)
{
	for (size_t i = 0; i < m->specials; i++) {
		const int parameter = m->special[i];
		const double *x = t->x[parameter - TILT_R], *a1 = amplitude_by(t, parameter);
		for (size_t j = 0; j < n; j++)
			t->u[i][j] = m->thick ? amplitude_slope(t->a[j], a1[j], t->w[0][j], t->w[1][j], x[j]) : a1[j];
		for (size_t j = 0; parameter >= ROTATION && j < n; j++)
			t->d[i][j] = t->psi_by[parameter - ROTATION][j];
	}
}

/* gamma, B and the weights of the aberrations' moments. */
KERNEL static void fill_gamma(worker *w, size_t n)
{
	term_piece *m = &w->term[0], *p = &w->term[1];
	for (int term = 0; term < 2; term++) {
		term_piece *t = &w->term[term];
		for (size_t j = 0; j < n; j++) {
			t->A[j] = t->a[j] * t->w[0][j];
			t->Az_re[j] = t->A[j] * t->z_re[j];
			t->Az_im[j] = t->A[j] * t->z_im[j];
		}
	}
	for (size_t j = 0; j < n; j++) {
		const double both = m->A[j] * p->A[j];
		w->g_re[j] = m->A[j] * m->e_re[j] - p->A[j] * p->e_re[j];
		w->g_im[j] = m->A[j] * m->e_im[j] - p->A[j] * p->e_im[j];
		w->B_re[j] = both * (m->e_re[j] * p->e_re[j] + m->e_im[j] * p->e_im[j]);
		w->B_im[j] = both * (m->e_im[j] * p->e_re[j] - m->e_re[j] * p->e_im[j]);
		m->Y[j] = m->A[j] * m->A[j] - w->B_re[j];
		p->Y[j] = p->A[j] * p->A[j] - w->B_re[j];
	}
}

static void add_aberration_moments(const model *m, worker *w, const piece *p)
{
	const size_t from = p->from[0] > p->from[1] ? p->from[0] : p->from[1], to = p->to[0] < p->to[1] ? p->to[0] : p->to[1];
	for (int term = 0; term < 2; term++) {
		const term_piece *t = &w->term[term];
		const size_t first = p->from[term], n = p->to[term] - first;
		const lanes *power = w->power[term] + BLOCKS * (p->column + first);
		const double r = p->r + (term == 0 ? -1 : 1) * w->q.f.h[0];
		add_moments(&w->Az_re, t->Az_re + first, power, n, r, 2 * m->degree);
		add_moments(&w->Y, t->Y + first, power, n, r, 2 * m->degree);
		add_moments(&w->Az_im[term], t->Az_im + first, power, n, r, m->degree);
	}
	if (from < to) {
		const lanes *power = w->power[2] + BLOCKS * (p->column + from);
		add_moments(&w->B[0], w->B_re + from, power, to - from, p->r, 2 * m->degree);
		add_moments(&w->B[1], w->B_im + from, power, to - from, p->r, m->degree);
	}
}

/* ---- the specials, pixel by pixel ---- */

KERNEL static void fill_slopes(const model *m, worker *w, size_t n)
{
	const term_piece *a = &w->term[0], *b = &w->term[1];
	for (size_t i = 0; i < m->specials; i++)
		for (size_t j = 0; j < n; j++)
			gamma_slope(a->u[i][j], a->A[j] * a->d[i][j], a->e_re[j], a->e_im[j], b->u[i][j], b->A[j] * b->d[i][j], b->e_re[j], b->e_im[j],
			            &w->gi_re[i][j], &w->gi_im[i][j]);
	for (int term = 0; term < 2; term++) {
		term_piece *t = &w->term[term];
		for (size_t j = 0; j < n; j++) {
			double y_re, y_im;
			gamma_in_phase(term == 0 ? -1 : 1, w->g_re[j], w->g_im[j], t->e_re[j], t->e_im[j], &y_re, &y_im);
			t->H_re[j] = w->q.R_pair * t->z_re[j] - w->q.W_pair * y_re;
			t->H_im[j] = w->q.R_pair * t->z_im[j] + w->q.W_pair * y_im;
		}
	}
}

/* The weights of d_j in the Hessian's and in X's element (special i, aberration j). */
KERNEL static void fill_with(worker *w, const term_piece *t, int term, size_t i, size_t n)
{
	for (size_t j = 0; j < n; j++) {
		double re, im;
		gamma_in_phase(term == 0 ? -1 : 1, w->gi_re[i][j], w->gi_im[i][j], t->e_re[j], t->e_im[j], &re, &im);
		w->with_X[j] = -t->A[j] * im;
		w->with_H[j] = t->u[i][j] * t->H_im[j] - t->A[j] * t->d[i][j] * t->H_re[j] - w->q.W_pair * w->with_X[j];
	}
}

static void add_special_moments(const model *m, worker *w, const piece *p)
{
	for (int term = 0; term < 2; term++) {
		const size_t first = p->from[term], n = p->to[term] - first;
		const lanes *power = w->power[term] + BLOCKS * (p->column + first);
		const double r = p->r + (term == 0 ? -1 : 1) * w->q.f.h[0];
		for (size_t i = 0; n > 0 && i < m->specials; i++) {
			fill_with(w, &w->term[term], term, i, whole_lanes(p->count));
			add_moments(&w->H[i], w->with_H + first, power, n, r, m->degree);
			add_moments(&w->X[i], w->with_X + first, power, n, r, m->degree);
		}
	}
}

/* Add to S_i and V_i of a special. */
KERNEL static void add_slope(const worker *w, size_t i, size_t n, double complex *S, double complex *V)
{
	double s_re = 0, s_im = 0, v_re = 0, v_im = 0;
#pragma omp simd reduction(+ : s_re, s_im, v_re, v_im)
	for (size_t j = 0; j < n; j++) {
		add_S(w->G_re[j], w->G_im[j], w->gi_re[i][j], w->gi_im[i][j], &s_re, &s_im);
		add_S(w->gi_re[i][j], w->gi_im[i][j], w->g_re[j], w->g_im[j], &v_re, &v_im);
	}
	*S += CMPLX(s_re, s_im);
	*V += CMPLX(v_re, v_im);
}

/* Re sum conj(gamma_i) gamma_k */
KERNEL static double slope_product(const worker *w, size_t i, size_t k, size_t n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (size_t j = 0; j < n; j++)
		sum += w->gi_re[i][j] * w->gi_re[k][j] + w->gi_im[i][j] * w->gi_im[k][j];
	return sum;
}

/* Index of the frame's second derivative by two of rotation, sampling. */
static int second_by(int a, int b)
{
	return BY_RR + (a == SAMPLING) + (b == SAMPLING);
}

/* d2x/dadb */
static const double *second_x(const term_piece *t, int a, int b)
{
	if (a >= ROTATION && b >= ROTATION)
		return t->x_frame[second_by(a, b) - BY_RR];
	return a == THICKNESS ? t->x_thickness[b - TILT_R] : b == THICKNESS ? t->x_thickness[a - TILT_R] : t->none;
}

ALWAYS_INLINE double pair_sum_of(const model *m, const term_piece *t, size_t i, size_t k, size_t n, bool thick)
{
	const int a = m->special[i], b = m->special[k];
	const bool move = a >= ROTATION && b >= ROTATION;
	const double *psi2 = move ? t->psi_by[second_by(a, b)] : t->none, *a12 = move ? t->a_by[second_by(a, b)] : t->none;
	const double *xa = t->x[a - TILT_R], *xb = t->x[b - TILT_R], *xab = second_x(t, a, b);
	const double *a1 = amplitude_by(t, a), *a2 = amplitude_by(t, b), *w0 = t->w[0], *w1 = t->w[1], *w2 = t->w[2];
	const double *di = t->d[i], *dk = t->d[k], *ui = t->u[i], *uk = t->u[k];
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (size_t j = 0; j < n; j++) {
		double re, im;
		pair_factor(t->A[j], di[j], dk[j], ui[j], uk[j], &re, &im);
		re += thick ? amplitude_curvature(t->a[j], a1[j], a2[j], a12[j], w0[j], w1[j], w2[j], xa[j], xb[j], xab[j]) : a12[j];
		im += t->A[j] * psi2[j];
		sum += re * t->H_re[j] + im * t->H_im[j];
	}
	return sum;
}

/* Sum of the Hessian's weight times d2T/didk e^{-i psi} of two specials. */
KERNEL static double pair_sum(const model *m, const term_piece *t, size_t i, size_t k, size_t n)
{
	return m->thick ? pair_sum_of(m, t, i, k, n, true) : pair_sum_of(m, t, i, k, n, false);
}

static void add_special_sums(const model *m, worker *w, size_t n)
{
	for (size_t i = 0; i < m->specials; i++) {
		const size_t a = m->special_at[i];
		add_slope(w, i, n, &w->sums.S1[a], &w->sums.V[a]);
		for (size_t k = 0; k <= i; k++) {
			const size_t b = m->special_at[k];
			w->sums.X[a > b ? a : b][a > b ? b : a] += slope_product(w, i, k, n);
			for (int term = 0; term < 2; term++)
				w->pair_H[i][k] += pair_sum(m, &w->term[term], i, k, n);
		}
	}
}

/* ---- from pixels to q, from q to tables ---- */

static void add_piece(const model *m, worker *w, const piece *p)
{
	const size_t n = whole_lanes(p->count);
	fill_G(w, p);
	for (int term = 0; term < 2; term++) {
		term_piece *t = &w->term[term];
		fill_phase(w, p, term, t);
		if (m->thick)
			fill_thickness(&w->table->pixels, &w->q.f, p, term, w->q.q, t);
		if (m->by[BY_R] || m->by[BY_S])
			fill_ramp(&w->table->pixels, p, term, w->q.q, t);
		fill_phase_path(m, w, p, term, t);
		fill_specials(m, n, t);
	}
	fill_gamma(w, n);
	if (m->aberrations > 0)
		add_aberration_moments(m, w, p);
	if (m->specials > 0) {
		fill_slopes(m, w, n);
		add_special_sums(m, w, n);
	}
	if (m->aberrations > 0)
		add_special_moments(m, w, p);
}

static void clear_q(const model *m, worker *w)
{
	memset(&w->Az_re, 0, sizeof w->Az_re);
	memset(w->Az_im, 0, sizeof w->Az_im);
	memset(&w->Y, 0, sizeof w->Y);
	memset(w->B, 0, sizeof w->B);
	memset(w->H, 0, m->specials * sizeof *w->H);
	memset(w->X, 0, m->specials * sizeof *w->X);
	memset(w->pair_H, 0, sizeof w->pair_H);
	derivative_sums *s = &w->sums;
	for (size_t i = 0; i < m->n; i++) {
		s->S1[i] = s->V[i] = 0;
		for (size_t j = 0; j <= i; j++) {
			s->S2[i][j] = 0; /* S2 and Y come with pair_H and the tables */
			s->X[i][j] = s->Y[i][j] = 0;
		}
	}
}

/* This q's sum of weight b for each aberration. */
static const double *single_table(const model *m, worker *w, const double *y, const double *moment)
{
	memset(w->single, 0, m->single.size * sizeof *w->single);
	moment_table_add(&m->single, w->single, y, moment, 1);
	return w->single;
}

/* S_i and V_i of the aberrations, and this q's share of the tables. h, q: monomials. */
static void add_q(const model *m, worker *w, const double *h, const double *q)
{
	const q_model *x = &w->q;
	double moment[FORMS];
	moment_sums mixed;
	derivative_sums *s = &w->sums;
	graded(&w->Az_re, 2 * m->degree, moment);
	moment_table_add(&m->pair, w->tables + PAIR_HESSIAN * m->pair.size, h, moment, -x->R_pair);
	const double *table = single_table(m, w, h, moment);
	for (size_t i = 0; i < m->aberrations; i++)
		s->S1[m->aberration[i].at] = CMPLX(0, -moment_of(table, &m->aberration[i].d));
	graded(&w->Y, 2 * m->degree, moment);
	moment_table_add(&m->pair, w->tables + PAIR_J * m->pair.size, h, moment, x->W_pair);
	moment_table_add(&m->pair, w->tables + PAIR_KAPPA * m->pair.size, h, moment, x->kappa_pair);
	table = single_table(m, w, h, moment);
	for (size_t i = 0; i < m->aberrations; i++)
		s->V[m->aberration[i].at] = CMPLX(0, moment_of(table, &m->aberration[i].d));
	graded(&w->B[0], 2 * m->degree, moment);
	moment_table_add(&m->pair, w->tables + PAIR_S_J * m->pair.size, q, moment, x->W_pair);
	moment_table_add(&m->pair, w->tables + PAIR_S_KAPPA * m->pair.size, q, moment, x->kappa_pair);
	graded(&w->B[1], m->degree, moment);
	moment_table_add(&m->single, frame_table(m, w->tables, FRAME_S), q, moment, x->W_pair);
	table = single_table(m, w, q, moment);
	for (size_t i = 0; i < m->aberrations; i++)
		s->V[m->aberration[i].at] -= moment_of(table, &m->aberration[i].s);
	combine(&w->Az_im[1], &w->Az_im[0], 1, &mixed);
	graded(&mixed, m->degree, moment);
	moment_table_add(&m->single, frame_table(m, w->tables, FRAME_EVEN), h, moment, x->R_pair);
	table = single_table(m, w, h, moment);
	for (size_t i = 0; i < m->aberrations; i++)
		s->S1[m->aberration[i].at] += moment_of(table, &m->aberration[i].d);
	combine(&w->Az_im[1], &w->Az_im[0], -1, &mixed);
	graded(&mixed, m->degree, moment);
	moment_table_add(&m->single, frame_table(m, w->tables, FRAME_SIGNED), h, moment, x->R_pair);
	for (size_t i = 0; i < m->specials; i++) {
		graded(&w->H[i], m->degree, moment);
		moment_table_add(&m->single, special_table(m, w->tables, i, WITH_HESSIAN), h, moment, 1);
		graded(&w->X[i], m->degree, moment);
		moment_table_add(&m->single, special_table(m, w->tables, i, WITH_J), h, moment, x->W_pair);
		moment_table_add(&m->single, special_table(m, w->tables, i, WITH_KAPPA), h, moment, x->kappa_pair);
	}
}

/* dp by the rotation (i (u - offset) in the scan frame) or log_sampling (u - offset), which move k = u - offset. */
static polynomial frame_slope(const polynomial *p, const double offset[2], int by, double sense)
{
	const polynomial r = polynomial_derivative(p, 1, 0), c = polynomial_derivative(p, 0, 1);
	polynomial out = {.degree = p->degree};
	for (int i = 0; i < 6; i++)
		for (int j = 0; i + j < 6; j++) {
			const double times_r = by == BY_R ? sense * c.b[i][j] : r.b[i][j], times_c = by == BY_R ? -sense * r.b[i][j] : c.b[i][j];
			out.b[i + 1][j] += times_r;
			out.b[i][j + 1] += times_c;
			out.b[i][j] -= offset[0] * times_r + offset[1] * times_c;
		}
	return out;
}

static void fill_psi_by(const model *m, q_model *q, double sense)
{
	static const int from[FRAME_DERIVATIVES] = {-1, -1, BY_R, BY_R, BY_S}, by[FRAME_DERIVATIVES] = {BY_R, BY_S, BY_R, BY_S, BY_S};
	for (int term = 0; term < 2; term++) {
		const int sign = term == 0 ? -1 : 1;
		const double offset[2] = {sign * q->f.h[0], sign * q->f.h[1]};
		for (int i = 0; i < FRAME_DERIVATIVES; i++)
			if (m->by[i])
				q->psi_by[term][i] = frame_slope(from[i] < 0 ? &q->f.psi : &q->psi_by[term][from[i]], offset, by[i], sense);
	}
}

static void q_model_make(q_model *q, const model *m, const evidence *e, const row_table *t, const frequency *f, double weight,
                         const sums *known, float complex *scratch)
{
	const double W = known->W, S = cabs(known->S);
	q->f = row_frequency_make(t, f->q);
	q->q[0] = f->q[0], q->q[1] = f->q[1];
	fill_psi_by(m, q, t->pixels.transposed ? -1 : 1);
	q->G = (const float *)evidence_G(e, f->bin, 0, e->pixels, scratch);
	q->sign_G = f->conjugate ? -1 : 1;
	q->turn = S > 0 ? conj(known->S) / S : 1;
	q->R_pair = 2 * weight * S / W;
	q->W_pair = 2 * weight * S * S / (W * W);
	q->kappa_pair = 2 * weight / W;
}

static void add_frequency(const model *m, worker *w, double weight, const sums *known, likelihood *out)
{
	const row_table *t = w->table;
	const row_frequency *f = &w->q.f;
	const size_t pieces = row_pieces(t, f, w->list);
	double h_forms[FORMS], q_forms[FORMS];
	for (int i = 0; m->aberrations > 0 && i < 3; i++)
		fill_powers(t->c, i == 0 ? -f->h[1] : i == 1 ? f->h[1] : 0, t->columns, w->power[i]);
	clear_q(m, w);
	for (size_t i = 0; i < pieces; i++)
		add_piece(m, w, &w->list[i]);
	if (m->aberrations > 0) {
		monomials_fill(f->h, m->pair.degree, h_forms);
		monomials_fill(f->q, m->pair.degree, q_forms);
		add_q(m, w, h_forms, q_forms);
	}
	const sums turned = {.S = cabs(known->S), .W = known->W};
	likelihood_add_bin(out, m->n, &w->sums, weight, &turned);
	for (size_t i = 0; i < m->specials; i++)
		for (size_t k = 0; k <= i; k++) {
			const size_t a = m->special_at[i], b = m->special_at[k];
			out->hessian[(a > b ? a : b) * m->n + (a > b ? b : a)] += w->pair_H[i][k];
		}
}

/* ---- from tables to L ---- */

static void add_pairs(const model *m, const double *tables, double *single, likelihood *out)
{
	for (size_t j = 0; j < m->aberrations; j++) {
		const aberration_model *b = &m->aberration[j];
		double *with[PAIR_TABLES];
		for (size_t k = 0; k < PAIR_TABLES; k++) {
			with[k] = single + k * m->single.size;
			moment_table_times(&m->pair, tables + k * m->pair.size, k < PAIR_S_J ? &b->d : &b->s, &m->single, with[k]);
		}
		for (size_t i = 0; i < m->aberrations; i++) {
			const aberration_model *a = &m->aberration[i];
			const size_t at = a->at * m->n + b->at;
			if (b->at > a->at)
				continue;
			const double S_J = moment_of(with[PAIR_S_J], &a->s);
			out->hessian[at] += moment_of(with[PAIR_HESSIAN], &a->d) - S_J;
			out->gauss_newton[at] += moment_of(with[PAIR_J], &a->d) + S_J;
			out->sum_kappa[at] += moment_of(with[PAIR_KAPPA], &a->d) + moment_of(with[PAIR_S_KAPPA], &a->s);
		}
	}
}

static void add_mixed(const model *m, double *tables, likelihood *out)
{
	for (size_t i = 0; i < m->specials; i++)
		for (size_t j = 0; j < m->aberrations; j++) {
			const aberration_model *a = &m->aberration[j];
			const size_t row = m->special_at[i] > a->at ? m->special_at[i] : a->at, column_ = m->special_at[i] > a->at ? a->at : m->special_at[i];
			const size_t at = row * m->n + column_;
			out->hessian[at] += moment_of(special_table(m, tables, i, WITH_HESSIAN), &a->d);
			out->gauss_newton[at] += moment_of(special_table(m, tables, i, WITH_J), &a->d);
			out->sum_kappa[at] += moment_of(special_table(m, tables, i, WITH_KAPPA), &a->d);
			if (m->special[i] < ROTATION)
				continue;
			const int by = m->special[i] - ROTATION;
			out->hessian[at] += moment_of(frame_table(m, tables, FRAME_EVEN), &a->d_by[by]);
			out->hessian[at] += moment_of(frame_table(m, tables, FRAME_SIGNED), &a->d_by_signed[by]);
			out->hessian[at] += moment_of(frame_table(m, tables, FRAME_S), &a->s_by[by]);
		}
}

/* ---- the tasks ---- */

static void worker_free(worker *w)
{
	if (!w)
		return;
	free(w->list);
	free(w->scratch);
	free(w->power[0]);
	free(w->single);
	free(w);
}

static worker *worker_make(const model *m, const row_table *table)
{
	worker *w = aligned_alloc(sizeof(lanes), (sizeof *w + sizeof(lanes) - 1) / sizeof(lanes) * sizeof(lanes));
	if (!w)
		return NULL;
	memset(w, 0, sizeof *w);
	w->table = table;
	w->list = malloc(table->most_pieces * sizeof *w->list);
	w->scratch = malloc(table->pixels.pixels * sizeof *w->scratch);
	w->power[0] = aligned_alloc(sizeof(lanes), 3 * BLOCKS * table->columns * sizeof(lanes));
	w->single = malloc((m->single.size + 1) * sizeof *w->single);
	if (!w->list || !w->scratch || !w->power[0] || !w->single) {
		worker_free(w);
		return NULL;
	}
	for (size_t i = 1; i < 3; i++)
		w->power[i] = w->power[0] + i * BLOCKS * table->columns;
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < PIECE_ROOM; k++)
			w->term[i].w[0][k] = 1; /* of a thin specimen, whose derivatives by x stay 0 */
	return w;
}

static void add_doubles(double *to, const double *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += from[i];
}

/* Each task is summed in order by one thread, then the tasks in order: the same for any thread count. */
static bool sum_tasks(const model *m, const evidence *e, const row_table *table, const frequency *f, size_t count, const double *weight,
                      const sums *known, likelihood *part, double *tables)
{
	bool ok = true;
	const size_t bins = bins_per_task(count), tasks = (count + bins - 1) / bins;
#pragma omp parallel reduction(&& : ok)
	{
		worker *w = worker_make(m, table);
		ok = w != NULL;
#pragma omp for schedule(dynamic)
		for (size_t task = 0; task < tasks; task++)
			for (size_t i = task * bins; ok && i < count && i < (task + 1) * bins; i++)
				if (weight[i] > 0) {
					w->tables = tables + task * tables_size(m);
					q_model_make(&w->q, m, e, table, &f[i], weight[i], &known[i], w->scratch);
					add_frequency(m, w, weight[i], &known[i], &part[task]);
				}
		worker_free(w);
	}
	return ok;
}

/* Any parameters, in double precision. */
static bool general_derivatives(const evidence *e, const row_table *table, const int *parameter, size_t n, const frequency *f, size_t count,
                                const double *weight, const sums *known, size_t tasks, likelihood *part, likelihood *out)
{
	model m;
	bool ok = model_make(&m, table, parameter, n);
	double *tables = calloc((tasks + 1) * tables_size(&m) + PAIR_TABLES * m.single.size + 1, sizeof *tables);
	ok = ok && tables && sum_tasks(&m, e, table, f, count, weight, known, part, tables);
	if (ok) {
		double *all = tables + tasks * tables_size(&m);
		for (size_t i = 0; i < tasks; i++)
			add_doubles(all, tables + i * tables_size(&m), tables_size(&m));
		add_pairs(&m, all, all + tables_size(&m), out);
		add_mixed(&m, all, out);
	}
	free(tables);
	free(m.aberration);
	return ok;
}

bool cpu_derivatives(const evidence *e, const optics_parameters *p, const int *parameter, size_t n, const frequency *f, size_t count,
                     const double *weight, const sums *known, likelihood *out, ssb_error *err)
{
	memset(out, 0, sizeof *out);
	const size_t bins = bins_per_task(count), tasks = (count + bins - 1) / bins;
	row_table table = {0};
	likelihood *part = calloc(tasks + 1, sizeof *part);
	bool ok = part && row_table_make(&table, e, p);
	if (ok && quadratic_derivatives_suit(&table, parameter, n))
		ok = quadratic_derivatives(e, &table, parameter, n, f, count, weight, known, part);
	else if (ok)
		ok = general_derivatives(e, &table, parameter, n, f, count, weight, known, tasks, part, out);
	for (size_t i = 0; ok && i < tasks; i++)
		add_doubles((double *)out, (const double *)&part[i], sizeof *out / sizeof(double));
	likelihood_mirror(out, n);
	free(part);
	row_table_free(&table);
	return ok ? evidence_is_sound(e, err) : ssb_fail(err, SSB_RUNTIME, "out of memory");
}
