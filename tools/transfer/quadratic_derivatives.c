/* L and its derivatives by C10, C12a, C12b and the rotation where chi is quadratic (quadratic.h).
 *
 * Each parameter's d_i = dpsi/di is linear in k: l_i.k -+ chi_i, with l_i the L of its polynomial and chi_i its chi(q); of the rotation, whose
 * chi_i is 0, l = (L_c, -L_r) in the detector frame. With K_-+(x) = e^{+-i chi(q)} sum G a_-+ e^{-iL.k} x and s = + for T_-, - for T_+
 *   S_i = sum s (K'_i - i K(d_i))      S_ij = sum s (K''_ij - i K'_i(d_j) - i K'_j(d_i) - K(d_i d_j) - i K(l_ij.k))
 * where K' and K'' have the derivatives of a by the rotation for a, and l_ij.k = d2psi/didj is 0 but with the rotation. W is closed form:
 *   W = Q_- + Q_+ - 2 cos(2 chi) Q_x,   Q_-+ = sum a_-+^2, Q_x = sum a_- a_+
 * and of V_i = sum conj(gamma) gamma_i and X_ij = Re sum conj(gamma_i) gamma_j, which kappa needs, with beta = 2 chi(q), R(d) =
 * sum a_-' a_+ d_+ - a_+' a_- d_-:
 *   Re V_i = W_i / 2      Im V_i = Q_-(d_i) + Q_+(d_i) - 2 cos beta Q_x(l_i.k) - sin beta sum (a_- a_+i - a_+ a_-i)
 *   X_ij = Q_-(d_i d_j) + Q_+(d_i d_j) - 2 cos beta Q_x(l_i.k l_j.k - chi_i chi_j) + sin beta (R(d_j) if i, + R(d_i) if j, is the rotation)
 *          + sum a_-'^2 + a_+'^2 - 2 cos beta a_-' a_+' if both are.
 * All of this from moments of degree <= 2. */
#include <stdlib.h>
#include "tools/transfer/host.h"
#include "tools/transfer/quadratic_rows.h"

enum { ONE, R, C, RR, RC, CC, MOMENTS }; /* of 1, k_r, k_c and their products */
enum { MINUS, PLUS, PRODUCT };            /* a_-^2, a_+^2, a_- a_+ */
enum { MOST = 4 };                        /* parameters */

/* The moments of one q. */
typedef struct q_moments {
	double complex K[2][MOMENTS], K1[2][RR], K2[2]; /* as K, K', K'' above but for e^{+-i chi} */
	double Q[3][MOMENTS];
	double Q1[3], Q2[3];                       /* derivatives of Q by the rotation */
	double minus_by[RR], plus_by[RR];          /* a_-' a_+, a_+' a_- */
	double squares_by, product_by;             /* a_-'^2 + a_+'^2, a_-' a_+' */
} q_moments;

/* Sums along a row, by power of k_c. */
typedef struct row_moments {
	double complex K[2][3], K1[2][2], K2[2];
	double Q[3][3], minus_by[2], plus_by[2];
} row_moments;

typedef struct moment_lanes { floats with[2][3][2]; } moment_lanes; /* by term, power of k_c, cosine or sine */

/* Add pixels from … to - 1 of a row, each to the terms in whose hard part it lies. */
ALWAYS_INLINE void add_moments_run(const row_part *p, const float *G, float *const e_re[3], float *const e_im[3], size_t column, int32_t from,
                           int32_t to, moment_lanes *sum)
{
	ints at = (ints){0, 0, 1, 1, 2, 2, 3, 3} + from;
	for (int32_t j = from; j < to; j += PAIRS, at += PAIRS) {
		const size_t k = 2 * (column + (size_t)j);
		const ints g = (ints)LOAD_FLOATS(G + 2 * j);
		for (int term = 0; term < 2; term++) {
			const floats x = (floats)(g & (at >= p->b[term][HARD_FROM]) & (at < p->b[term][HARD_TO]));
			for (int n = 0; n < 3; n++) {
				sum->with[term][n][0] += x * LOAD_FLOATS(e_re[n] + k);
				sum->with[term][n][1] += x * LOAD_FLOATS(e_im[n] + k);
			}
		}
	}
}

/* sum G e^{-iL_c k_c} from the sums with its cosine and with its sine. */
ALWAYS_INLINE double complex of_lanes(const floats with[2])
{
	doubles c, s;
	floats_to_doubles(&with[0], &c);
	floats_to_doubles(&with[1], &s);
	return CMPLX((c[0] + c[2]) + (s[1] + s[3]), (c[1] + c[3]) - (s[0] + s[2]));
}

/* The hard pixels of a row. */
ALWAYS_INLINE void add_hard_moments(const quadratic_worker *w, const row_part *p, const float *G, size_t column, const double *const power[3], row_moments *m)
{
	const int32_t from[3] = {p->b[0][HARD_FROM], p->b[1][HARD_FROM], p->both_from}, to[3] = {p->b[0][HARD_TO], p->b[1][HARD_TO], p->both_to};
	moment_lanes sum = {{{{{0}}}}};
	int32_t run[2][2];
	const int runs = row_runs(p, run);
	for (int i = 0; i < runs; i++)
		add_moments_run(p, G, w->e_re, w->e_im, column, run[i][0], run[i][1], &sum);
	for (int term = 0; term < 2; term++)
		for (int n = 0; n < 3; n++)
			m->K[term][n] = of_lanes(sum.with[term][n]);
	for (int i = 0; i < 3; i++)
		for (int n = 0; n < 3; n++)
			m->Q[i][n] = power[n][column + (size_t)to[i]] - power[n][column + (size_t)from[i]];
}

/* A soft pixel of T_- (term 0) with the amplitude b of T_+ there, or one of T_+ where T_- is hard. */
ALWAYS_INLINE void add_product(int term, const double a[3], const double b[3], double c, row_moments *m, q_moments *q)
{
	const double both = a[0] * b[0], own = a[1] * b[0], others = a[0] * b[1];
	for (int n = 0; n < 3; n++)
		m->Q[PRODUCT][n] += both * (n == 0 ? 1 : n == 1 ? c : c * c);
	for (int n = 0; n < 2; n++) {
		m->minus_by[n] += (term == 0 ? own : others) * (n == 0 ? 1 : c);
		m->plus_by[n] += (term == 0 ? others : own) * (n == 0 ? 1 : c);
	}
	q->Q1[PRODUCT] += own + others;
	q->Q2[PRODUCT] += a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2];
	q->product_by += a[1] * b[1];
}

/* A term's soft pixels of a row. */
ALWAYS_INLINE void add_soft_moments(const quadratic_worker *w, const row_part *p, int term, const float *G, size_t column, row_moments *m, q_moments *q)
{
	const soft_list *soft = w->spans.soft;
	const int32_t *b = p->b[term];
	size_t at = p->soft[term];
	for (int side = 0; side < 2; side++)
		for (int32_t j = b[side ? HARD_TO : FROM]; j < b[side ? TO : HARD_FROM]; j++, at++) {
			const double re = w->e_re[0][2 * (column + (size_t)j)], im = w->e_im[0][2 * (column + (size_t)j)], c = w->rows->c[column + (size_t)j];
			const double a[3] = {soft[term].a[at], soft[term].a_r[at], soft[term].a_rr[at]}, squared = a[0] * a[0];
			const double complex x = CMPLX(G[2 * j] * re + G[2 * j + 1] * im, G[2 * j + 1] * re - G[2 * j] * im);
			m->K[term][0] += a[0] * x;
			m->K[term][1] += a[0] * c * x;
			m->K[term][2] += a[0] * c * c * x;
			m->K1[term][0] += a[1] * x;
			m->K1[term][1] += a[1] * c * x;
			m->K2[term] += a[2] * x;
			m->Q[term][0] += squared;
			m->Q[term][1] += squared * c;
			m->Q[term][2] += squared * c * c;
			q->Q1[term] += 2 * a[0] * a[1];
			q->Q2[term] += 2 * (a[1] * a[1] + a[0] * a[2]);
			q->squares_by += a[1] * a[1];
			const long other = row_soft_at(p, !term, j);
			if (other == HARD)
				add_product(term, a, (double[3]){1, 0, 0}, c, m, q);
			else if (other >= 0 && term == 0)
				add_product(0, a, (double[3]){soft[1].a[other], soft[1].a_r[other], soft[1].a_rr[other]}, c, m, q);
		}
}

#define ADD_MOMENTS(to, row, r, factor) \
	do { \
		(to)[ONE] += (factor) * (row)[0]; \
		(to)[R] += (factor) * (r) * (row)[0]; \
		(to)[C] += (factor) * (row)[1]; \
	} while (0)
#define ADD_SECOND_MOMENTS(to, row, r, factor) \
	do { \
		(to)[RR] += (factor) * (r) * (r) * (row)[0]; \
		(to)[RC] += (factor) * (r) * (row)[1]; \
		(to)[CC] += (factor) * (row)[2]; \
	} while (0)

/* From a row to q. */
ALWAYS_INLINE void add_row_moments(const row_moments *m, double r, double complex factor, q_moments *q)
{
	for (int term = 0; term < 2; term++) {
		ADD_MOMENTS(q->K[term], m->K[term], r, factor);
		ADD_SECOND_MOMENTS(q->K[term], m->K[term], r, factor);
		ADD_MOMENTS(q->K1[term], m->K1[term], r, factor);
		q->K2[term] += factor * m->K2[term];
	}
	for (int i = 0; i < 3; i++) {
		ADD_MOMENTS(q->Q[i], m->Q[i], r, 1);
		ADD_SECOND_MOMENTS(q->Q[i], m->Q[i], r, 1);
	}
	ADD_MOMENTS(q->minus_by, m->minus_by, r, 1);
	ADD_MOMENTS(q->plus_by, m->plus_by, r, 1);
}

/* power[n][j]: the sum of k_c^n over the columns before j. */
LANES_KERNEL static void add_moments_rows(const quadratic_worker *w, const double *const power[3], const float *G, q_moments *q)
{
	const row_table *t = w->rows;
	row_part p = {.soft_next = {0, 0}};
	for (size_t i = 0; i < t->rows; i++) {
		row_moments m;
		memset(&m, 0, sizeof m);
		row_prefetch(t, &w->spans, i + ROWS_AHEAD, G);
		if (!row_part_take(&p, &w->spans, i))
			continue;
		const float *g = row_G(t, i, G, w->tail);
		add_hard_moments(w, &p, g, t->row[i].column, power, &m);
		for (int term = 0; term < 2; term++)
			add_soft_moments(w, &p, term, g, t->row[i].column, &m, q);
		add_row_moments(&m, t->row[i].r, CMPLX(w->row_re[i], -w->row_im[i]), q);
	}
}

/* ---- from moments to the sums of one q ---- */

/* A parameter at one q. */
typedef struct slope {
	double l[2], chi; /* d_-+ = l.k -+ chi */
	bool turns;       /* the rotation */
} slope;

typedef struct quadratic_model {
	size_t n;
	bool turns[MOST];
	polynomial chi[MOST];
	double sense; /* of the rotation in the detector frame */
	double *memory;
	const double *power[3];
} quadratic_model;

/* Of 1 and k, or of the products of two linear forms in k. */
#define FIRST(m, l, constant) ((constant) * (m)[ONE] + (l)[0] * (m)[R] + (l)[1] * (m)[C])
#define SECOND(m, k, x, l, y) \
	((x) * (y) * (m)[ONE] + ((k)[0] * (y) + (l)[0] * (x)) * (m)[R] + ((k)[1] * (y) + (l)[1] * (x)) * (m)[C] + \
	 (k)[0] * (l)[0] * (m)[RR] + ((k)[0] * (l)[1] + (k)[1] * (l)[0]) * (m)[RC] + (k)[1] * (l)[1] * (m)[CC])

/* d2psi/didj = l.k */
static void second_slope(const quadratic_model *m, const slope *a, const slope *b, const double L[2], double l[2])
{
	const slope *other = a->turns ? b : a;
	l[0] = a->turns && b->turns ? -L[0] : a->turns || b->turns ? m->sense * other->l[1] : 0;
	l[1] = a->turns && b->turns ? -L[1] : a->turns || b->turns ? -m->sense * other->l[0] : 0;
}

static double complex first_S(const q_moments *q, const double complex turn[2], const slope *a)
{
	double complex sum = 0;
	for (int term = 0; term < 2; term++)
		sum += turn[term] * ((a->turns ? q->K1[term][ONE] : 0) - I * FIRST(q->K[term], a->l, term == 0 ? -a->chi : a->chi));
	return sum;
}

static double complex second_S(const q_moments *q, const double complex turn[2], const slope *a, const slope *b, const double l[2])
{
	double complex sum = 0;
	for (int term = 0; term < 2; term++) {
		const double ca = term == 0 ? -a->chi : a->chi, cb = term == 0 ? -b->chi : b->chi;
		double complex x = -SECOND(q->K[term], a->l, ca, b->l, cb) - I * FIRST(q->K[term], l, 0);
		if (a->turns)
			x -= I * FIRST(q->K1[term], b->l, cb);
		if (b->turns)
			x -= I * FIRST(q->K1[term], a->l, ca);
		if (a->turns && b->turns)
			x += q->K2[term];
		sum += turn[term] * x;
	}
	return sum;
}

/* sum a_-' a_+ d_+ - a_+' a_- d_- */
static double with_turn(const q_moments *q, const slope *a)
{
	return FIRST(q->minus_by, a->l, a->chi) - FIRST(q->plus_by, a->l, -a->chi);
}

static double first_W(const q_moments *q, double complex beta, const slope *a)
{
	const double closed = 4 * cimag(beta) * a->chi * q->Q[PRODUCT][ONE];
	return a->turns ? closed + q->Q1[MINUS] + q->Q1[PLUS] - 2 * creal(beta) * q->Q1[PRODUCT] : closed;
}

static double second_W(const q_moments *q, double complex beta, const slope *a, const slope *b)
{
	double sum = 8 * creal(beta) * a->chi * b->chi * q->Q[PRODUCT][ONE];
	if (a->turns)
		sum += 4 * cimag(beta) * b->chi * q->Q1[PRODUCT];
	if (b->turns)
		sum += 4 * cimag(beta) * a->chi * q->Q1[PRODUCT];
	return a->turns && b->turns ? sum + q->Q2[MINUS] + q->Q2[PLUS] - 2 * creal(beta) * q->Q2[PRODUCT] : sum;
}

static double imaginary_V(const q_moments *q, double complex beta, const slope *a)
{
	const double sum = FIRST(q->Q[MINUS], a->l, -a->chi) + FIRST(q->Q[PLUS], a->l, a->chi) - 2 * creal(beta) * FIRST(q->Q[PRODUCT], a->l, 0);
	return a->turns ? sum - cimag(beta) * (q->plus_by[ONE] - q->minus_by[ONE]) : sum;
}

static double product_X(const q_moments *q, double complex beta, const slope *a, const slope *b)
{
	double sum = SECOND(q->Q[MINUS], a->l, -a->chi, b->l, -b->chi) + SECOND(q->Q[PLUS], a->l, a->chi, b->l, b->chi);
	sum -= 2 * creal(beta) * (SECOND(q->Q[PRODUCT], a->l, 0, b->l, 0) - a->chi * b->chi * q->Q[PRODUCT][ONE]);
	if (a->turns)
		sum += cimag(beta) * with_turn(q, b);
	if (b->turns)
		sum += cimag(beta) * with_turn(q, a);
	return a->turns && b->turns ? sum + q->squares_by - 2 * creal(beta) * q->product_by : sum;
}

static void fill_sums(const quadratic_model *m, const quadratic_frequency *f, const q_moments *q, derivative_sums *s)
{
	const double complex turn[2] = {f->turn, -conj(f->turn)}, beta = f->turn * f->turn;
	slope a[MOST];
	for (size_t i = 0; i < m->n; i++) {
		const polynomial psi = row_difference(&m->chi[i], f->at.h);
		a[i] = (slope){.l = {psi.b[1][0], psi.b[0][1]}, .turns = m->turns[i]};
		a[i].chi = a[i].l[0] * f->at.h[0] + a[i].l[1] * f->at.h[1];
		if (m->turns[i]) {
			a[i].l[0] = m->sense * f->L[1];
			a[i].l[1] = -m->sense * f->L[0];
		}
		s->S1[i] = first_S(q, turn, &a[i]);
		s->V[i] = CMPLX(first_W(q, beta, &a[i]) / 2, imaginary_V(q, beta, &a[i]));
		for (size_t j = 0; j <= i; j++) {
			double l[2];
			second_slope(m, &a[i], &a[j], f->L, l);
			s->S2[i][j] = second_S(q, turn, &a[i], &a[j], l);
			s->X[i][j] = product_X(q, beta, &a[i], &a[j]);
			s->Y[i][j] = second_W(q, beta, &a[i], &a[j]) / 2 - s->X[i][j];
		}
	}
}

/* ---- all q ---- */

static bool quadratic_model_make(quadratic_model *m, const row_table *t, const int *parameter, size_t n)
{
	*m = (quadratic_model){.n = n, .sense = t->pixels.transposed ? -1 : 1, .memory = malloc(3 * (t->columns + 1) * sizeof(double))};
	for (size_t i = 0; i < n; i++) {
		double unit[ABERRATIONS] = {0};
		m->turns[i] = parameter[i] == ROTATION;
		if (!m->turns[i])
			unit[parameter[i]] = 1;
		const polynomial chi = chi_from_coefficients(unit, t->pixels.wavelength);
		m->chi[i] = row_polynomial(t, &chi);
	}
	for (size_t k = 0; m->memory && k < 3; k++) {
		double *power = m->memory + k * (t->columns + 1);
		m->power[k] = power;
		power[0] = 0;
		for (size_t j = 0; j < t->columns; j++)
			power[j + 1] = power[j] + (k == 0 ? 1 : k == 1 ? t->c[j] : t->c[j] * t->c[j]);
	}
	return m->memory;
}

static void add_frequency(const quadratic_model *m, quadratic_worker *w, const evidence *e, const frequency *f, double weight, const sums *known,
                          likelihood *out)
{
	quadratic_frequency at;
	q_moments q;
	derivative_sums s;
	memset(&q, 0, sizeof q);
	if (!quadratic_frequency_make(&at, w, f))
		return;
	spans_slopes(&w->spans, w->table, &at.at);
	add_moments_rows(w, m->power, (const float *)evidence_G(e, f->bin, 0, e->pixels, w->scratch), &q);
	for (int term = 0; at.sign < 0 && term < 2; term++) {
		for (int i = 0; i < MOMENTS; i++)
			q.K[term][i] = conj(q.K[term][i]);
		for (int i = 0; i < RR; i++)
			q.K1[term][i] = conj(q.K1[term][i]);
		q.K2[term] = conj(q.K2[term]);
	}
	fill_sums(m, &at, &q, &s);
	likelihood_add_bin(out, m->n, &s, weight, known);
}

bool quadratic_derivatives_suit(const row_table *t, const int *parameter, size_t n)
{
	bool ok = n <= MOST && quadratic_suits(t);
	for (size_t i = 0; i < n; i++)
		ok = ok && (parameter[i] == C10 || parameter[i] == C12a || parameter[i] == C12b || parameter[i] == ROTATION);
	return ok;
}

bool quadratic_derivatives(const evidence *e, const row_table *t, const int *parameter, size_t n, const frequency *f, size_t count,
                           const double *weight, const sums *known, likelihood *part)
{
	const size_t bins = bins_per_task(count), tasks = (count + bins - 1) / bins;
	span_table table = {0};
	quadratic_model m = {0};
	const bool made = span_table_make(&table, t) && quadratic_model_make(&m, t, parameter, n);
	bool ok = made;
#pragma omp parallel reduction(&& : ok)
	{
		quadratic_worker w = {0};
		ok = made && quadratic_worker_make(&w, &table, MOST_POWER);
#pragma omp for schedule(dynamic)
		for (size_t task = 0; task < tasks; task++)
			for (size_t i = task * bins; ok && i < count && i < (task + 1) * bins; i++)
				if (weight[i] > 0)
					add_frequency(&m, &w, e, &f[i], weight[i], &known[i], &part[task]);
		quadratic_worker_free(&w);
	}
	free(m.memory);
	span_table_free(&table);
	return ok;
}
