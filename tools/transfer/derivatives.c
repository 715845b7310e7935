/* L and its first and second derivatives on the CPU (physics.md section 5), exact, for any of the fit parameters.
 *
 * gamma = T_- - T_+, T = a w e^{i psi}. With A = a w, d_i = dpsi/di, u_i = dA/di:
 *   dT/di   = (u_i + i A d_i) e^{i psi}
 *   d2T/didj = (A_ij - A d_i d_j + i (u_i d_j + u_j d_i + A psi_ij)) e^{i psi}
 * The pixels of one q are taken in blocks whose arrays stay in the cache; each pair (i, j) is then a few dot products. */
#include "tools/transfer/cpu.h"

#include <stdlib.h>
#include <string.h>
#include "tools/transfer/gamma.h"

enum { BLOCK = 256, BINS_PER_TASK = 64 };

typedef double column[BLOCK];

/* One term of gamma and its derivatives over a block of pixels. */
typedef struct term_block {
	column a[3], w[3], psi[3];   /* value, first and second derivative: a, psi by the rotation; w by x */
	column x[4];                 /* dx/d(tilt_r, tilt_c, thickness, rotation) */
	column x_thickness[4];       /* d2x / d(the same) d(thickness) */
	column x_rotation;           /* d2x / d(rotation)^2 */
	column A, e_re, e_im;        /* A = a w; e^{i psi} */
	column z_re, z_im;           /* s G e^{-i psi}, s = + for T_-, - for T_+ */
	column y_re, y_im;           /* s conj(gamma) e^{i psi} */
	column d[FIT_PARAMETERS], u[FIT_PARAMETERS];
	column along[ABERRATIONS];   /* d2psi / d(coefficient) d(rotation) */
} term_block;

/* What does not change from q to q. */
typedef struct model {
	const evidence *e;
	const pixel_table *table;
	const int *parameter;
	size_t n;
	bool rotation;                   /* is it fitted */
	bool thick;                      /* w is not 1 throughout */
	polynomial chi[6];               /* chi, d_r, d_c, d_rr, d_rc, d_cc */
	polynomial basis[ABERRATIONS][3]; /* p_i, d_r, d_c, by position in `parameter` */
} model;

/* Sums of one q. */
typedef struct q_sums {
	double complex S1[FIT_PARAMETERS], V[FIT_PARAMETERS];
	double complex S2[FIT_PARAMETERS][FIT_PARAMETERS]; /* i >= j */
	double X[FIT_PARAMETERS][FIT_PARAMETERS], gg[FIT_PARAMETERS][FIT_PARAMETERS];
} q_sums;

typedef struct worker {
	overlap o;
	term_block term[2];
	column g_re, g_im, chi1_k, chi2_k, scratch[6];
	column basis_k[ABERRATIONS], along_k[ABERRATIONS]; /* p_i(k) and its derivative along the rotation, by position in `parameter` */
	column gi_re[FIT_PARAMETERS], gi_im[FIT_PARAMETERS];
	q_sums sums;
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
		const double v[2] = {s->detector[0][i] + sign * q[0], s->detector[1][i] + sign * q[1]};
		const double v1[2] = {sign * q1[0], sign * q1[1]}, v2[2] = {-sign * q[0], -sign * q[1]};
		double value[3];
		aperture_path(v, v1, v2, p->wavelength, p->semiangle, p->sampling, value);
		for (int j = 0; j < 3; j++)
			t->a[j][i] = s->aperture[i] * value[j];
	}
}

KERNEL static void fill_thickness(term_block *t, const slice *s, const double q[2], int sign, const pixel_table *p)
{
	const double q2 = q[0] * q[0] + q[1] * q[1], tilt_phase = 2 * M_PI * (q[0] * p->tilt[0] + q[1] * p->tilt[1]);
	for (size_t i = 0; i < s->count; i++) {
		const double kq = s->scan[0][i] * q[0] + s->scan[1][i] * q[1];
		const double kq1 = s->scan[0][i] * q[1] - s->scan[1][i] * q[0];
		const double rate = thickness_rate(sign, p->wavelength, q2, kq, tilt_phase), rate1 = 2 * M_PI * p->wavelength * kq1;
		double w[3];
		sinc_path(rate * p->thickness / 2, w);
		for (int j = 0; j < 3; j++)
			t->w[j][i] = w[j];
		t->x[0][i] = -M_PI * q[0] * p->thickness;
		t->x[1][i] = -M_PI * q[1] * p->thickness;
		t->x[2][i] = rate / 2;
		t->x[3][i] = rate1 * p->thickness / 2;
		t->x_thickness[0][i] = -M_PI * q[0];
		t->x_thickness[1][i] = -M_PI * q[1];
		t->x_thickness[2][i] = 0;
		t->x_thickness[3][i] = rate1 / 2;
		t->x_rotation[i] = -M_PI * p->wavelength * kq * p->thickness;
	}
}

/* First and second derivative along the rotation of a function whose gradient and Hessian are f[1 … 5], at k + d; k moves by k1. */
KERNEL static void path_derivatives(const double *restrict r, const double *restrict c, const double *restrict fr,
                                    const double *restrict fc, const double *restrict frr, const double *restrict frc,
                                    const double *restrict fcc, size_t n, double *restrict first, double *restrict second)
{
	for (size_t i = 0; i < n; i++) {
		const double k1r = -c[i], k1c = r[i];
		first[i] = fr[i] * k1r + fc[i] * k1c;
		second[i] = -fr[i] * r[i] - fc[i] * c[i] + frr[i] * k1r * k1r + 2 * frc[i] * k1r * k1c + fcc[i] * k1c * k1c;
	}
}

static void chi_path(const model *m, worker *w, const slice *s, double dr, double dc, double *first, double *second)
{
	for (int i = 1; i < 6; i++)
		polynomial_values(&m->chi[i], s->scan[0], s->scan[1], dr, dc, s->count, w->scratch[i]);
	path_derivatives(s->scan[0], s->scan[1], w->scratch[1], w->scratch[2], w->scratch[3], w->scratch[4], w->scratch[5], s->count, first,
	                 second);
}

KERNEL static void signed_difference(double *restrict at_v, const double *restrict at_k, double sign, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at_v[i] = sign * (at_v[i] - at_k[i]);
}

KERNEL static void gradient_along(const double *restrict r, const double *restrict c, const double *restrict fr,
                                  const double *restrict fc, size_t n, double *restrict out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = fc[i] * r[i] - fr[i] * c[i];
}

/* p_i at k + d, and its derivative along the rotation when that is fitted too */
static void basis_path(const model *m, worker *w, size_t i, const slice *s, double dr, double dc, double *value, double *along)
{
	polynomial_values(&m->basis[i][0], s->scan[0], s->scan[1], dr, dc, s->count, value);
	if (!m->rotation)
		return;
	for (int j = 1; j < 3; j++)
		polynomial_values(&m->basis[i][j], s->scan[0], s->scan[1], dr, dc, s->count, w->scratch[j]);
	gradient_along(s->scan[0], s->scan[1], w->scratch[1], w->scratch[2], s->count, along);
}

static void fill_basis(const model *m, worker *w, term_block *t, size_t i, const slice *s, const double q[2], int sign)
{
	basis_path(m, w, i, s, sign * q[0], sign * q[1], t->d[i], t->along[i]);
	signed_difference(t->d[i], w->basis_k[i], sign, s->count);
	if (m->rotation)
		signed_difference(t->along[i], w->along_k[i], sign, s->count);
}

KERNEL static void fill_exponential(term_block *t, const slice *s, int sign)
{
	for (size_t i = 0; i < s->count; i++) {
		double sine, cosine;
		sine_cosine(t->psi[0][i], &sine, &cosine);
		t->e_re[i] = cosine;
		t->e_im[i] = sine;
		t->A[i] = t->a[0][i] * t->w[0][i];
		t->z_re[i] = -sign * (s->G_re[i] * cosine + s->G_im[i] * sine);
		t->z_im[i] = -sign * (s->G_im[i] * cosine - s->G_re[i] * sine);
	}
}

/* u_i = dA/di for tilt, thickness and rotation; the aberrations' is 0 */
KERNEL static void fill_amplitude_derivative(term_block *t, size_t i, int parameter, size_t n)
{
	const double *x = t->x[parameter - TILT_R];
	const double rotates = parameter == ROTATION;
	for (size_t k = 0; k < n; k++)
		t->u[i][k] = t->a[0][k] * t->w[1][k] * x[k] + rotates * t->a[1][k] * t->w[0][k];
}

static void fill_term(const model *m, worker *w, term_block *t, const slice *s, const double q[2], int sign)
{
	const pixel_table *p = m->table;
	double qd[2], q1d[2];
	to_detector_frame(q, p->transposed, p->cosine, p->sine, qd);
	to_detector_frame(q, p->transposed, -p->sine, p->cosine, q1d); /* of rotation + pi/2 */
	fill_aperture(t, s, qd, q1d, sign, p);
	if (m->thick)
		fill_thickness(t, s, q, sign, p);
	polynomial_values(&m->chi[0], s->scan[0], s->scan[1], sign * q[0], sign * q[1], s->count, t->psi[0]);
	signed_difference(t->psi[0], s->chi_k, sign, s->count);
	if (m->rotation) {
		chi_path(m, w, s, sign * q[0], sign * q[1], t->psi[1], t->psi[2]);
		signed_difference(t->psi[1], w->chi1_k, sign, s->count);
		signed_difference(t->psi[2], w->chi2_k, sign, s->count);
	}
	fill_exponential(t, s, sign);
	for (size_t i = 0; i < m->n; i++) {
		if (m->parameter[i] < ABERRATIONS)
			fill_basis(m, w, t, i, s, q, sign);
		else if (m->parameter[i] == ROTATION)
			memcpy(t->d[i], t->psi[1], s->count * sizeof(double));
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
		const double s = j == 0 ? 1 : -1;
		for (size_t i = 0; i < n; i++) {
			t->y_re[i] = s * (w->g_re[i] * t->e_re[i] + w->g_im[i] * t->e_im[i]);
			t->y_im[i] = s * (w->g_re[i] * t->e_im[i] - w->g_im[i] * t->e_re[i]);
		}
	}
}

KERNEL static void fill_gradient(worker *w, size_t i, size_t n)
{
	const term_block *m = &w->term[0], *p = &w->term[1];
	for (size_t k = 0; k < n; k++) {
		const double vm = m->A[k] * m->d[i][k], vp = p->A[k] * p->d[i][k];
		w->gi_re[i][k] = m->u[i][k] * m->e_re[k] - vm * m->e_im[k] - p->u[i][k] * p->e_re[k] + vp * p->e_im[k];
		w->gi_im[i][k] = m->u[i][k] * m->e_im[k] + vm * m->e_re[k] - p->u[i][k] * p->e_im[k] - vp * p->e_re[k];
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

/* d2x/dadb, NULL where it is 0 */
static const double *second_x(const term_block *t, int a, int b)
{
	if (a == ROTATION && b == ROTATION)
		return t->x_rotation;
	return a == THICKNESS ? t->x_thickness[b - TILT_R] : b == THICKNESS ? t->x_thickness[a - TILT_R] : NULL;
}

/* Real and imaginary factor of d2T/didj e^{-i psi}. */
KERNEL static void pair_factors(const model *m, const term_block *t, size_t i, size_t j, size_t n, double *restrict re,
                                double *restrict im)
{
	for (size_t k = 0; k < n; k++) {
		re[k] = -t->A[k] * t->d[i][k] * t->d[j][k];
		im[k] = t->u[i][k] * t->d[j][k] + t->u[j][k] * t->d[i][k];
	}
	const int a = m->parameter[i], b = m->parameter[j];
	if (a < ABERRATIONS || b < ABERRATIONS) {
		const double *along = a == ROTATION ? t->along[j] : b == ROTATION ? t->along[i] : NULL;
		for (size_t k = 0; along && k < n; k++)
			im[k] += t->A[k] * along[k];
		return;
	}
	const double *xa = t->x[a - TILT_R], *xb = t->x[b - TILT_R], *xab = second_x(t, a, b);
	const double rotates_a = a == ROTATION, rotates_b = b == ROTATION, both = rotates_a * rotates_b;
	for (size_t k = 0; k < n; k++) {
		re[k] += t->a[0][k] * t->w[2][k] * xa[k] * xb[k] + t->a[1][k] * t->w[1][k] * (rotates_a * xb[k] + rotates_b * xa[k]);
		re[k] += both * t->a[2][k] * t->w[0][k];
		im[k] += both * t->A[k] * t->psi[2][k];
	}
	for (size_t k = 0; xab && k < n; k++)
		re[k] += t->a[0][k] * t->w[1][k] * xab[k];
}

KERNEL static void pair_dots(const double *restrict re, const double *restrict im, const term_block *t, size_t n, double out[3])
{
	double s_re = 0, s_im = 0, g = 0;
#pragma omp simd reduction(+ : s_re, s_im, g)
	for (size_t k = 0; k < n; k++) {
		s_re += re[k] * t->z_re[k] + im[k] * t->z_im[k];
		s_im += re[k] * t->z_im[k] - im[k] * t->z_re[k];
		g += re[k] * t->y_re[k] - im[k] * t->y_im[k];
	}
	out[0] = s_re, out[1] = s_im, out[2] = g;
}

static void add_block(const model *m, worker *w, const slice *s, const double q[2])
{
	q_sums *sum = &w->sums;
	if (m->rotation)
		chi_path(m, w, s, 0, 0, w->chi1_k, w->chi2_k);
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
				sum->gg[i][j] += out[2];
			}
		}
	}
}

/* One q's share of L and its derivatives, by the quotient rule on m |S|^2 / W; lower triangles. */
static void add_bin(const model *m, const q_sums *q, double weight, const sums *known, likelihood *out)
{
	const double W = known->W, P = creal(known->S) * creal(known->S) + cimag(known->S) * cimag(known->S);
	out->L += weight * P / W;
	out->multiplicity += weight;
	for (size_t i = 0; i < m->n; i++) {
		const double Ri = 2 * creal(conj(known->S) * q->S1[i]), Wi = 2 * creal(q->V[i]);
		out->gradient[i] += weight * (Ri / W - P * Wi / (W * W));
		for (size_t j = 0; j <= i; j++) {
			const double Rj = 2 * creal(conj(known->S) * q->S1[j]), Wj = 2 * creal(q->V[j]);
			const double Rij = 2 * creal(conj(q->S1[i]) * q->S1[j] + conj(known->S) * q->S2[i][j]);
			const double Wij = 2 * (q->X[i][j] + q->gg[i][j]);
			const double kappa = q->X[i][j] / W - creal(conj(q->V[i]) * q->V[j]) / (W * W);
			const size_t at = i * m->n + j;
			out->hessian[at] += weight * (Rij / W - (Ri * Wj + Rj * Wi + P * Wij) / (W * W) + 2 * P * Wi * Wj / (W * W * W));
			out->gauss_newton[at] += 2 * weight * kappa * P / W;
			out->sum_kappa[at] += 2 * weight * kappa;
		}
	}
}

static void add_frequency(const model *m, worker *w, const frequency *f, double weight, const sums *known, likelihood *out)
{
	memset(&w->sums, 0, sizeof w->sums);
	overlap_select(&w->o, m->table, f->q, m->e->row[f->bin], f->conjugate);
	for (size_t first = 0; first < w->o.count; first += BLOCK) {
		const slice s = slice_of(&w->o, first);
		add_block(m, w, &s, f->q);
	}
	add_bin(m, &w->sums, weight, known, out);
}

static void add_likelihood(likelihood *to, const likelihood *from)
{
	double *t = (double *)to;
	const double *f = (const double *)from;
	for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
		t[i] += f[i];
}

static model model_make(const evidence *e, const pixel_table *table, const int *parameter, size_t n)
{
	model m = {.e = e, .table = table, .parameter = parameter, .n = n, .thick = table->thickness != 0};
	static const int order[6][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
	for (int i = 0; i < 6; i++)
		m.chi[i] = polynomial_derivative(&table->chi, order[i][0], order[i][1]);
	for (size_t i = 0; i < n; i++) {
		m.rotation |= parameter[i] == ROTATION;
		m.thick |= parameter[i] >= TILT_R && parameter[i] <= THICKNESS;
		if (parameter[i] >= ABERRATIONS)
			continue;
		double unit[ABERRATIONS] = {0};
		unit[parameter[i]] = 1;
		m.basis[i][0] = chi_from_coefficients(unit, table->wavelength);
		for (int j = 1; j < 3; j++)
			m.basis[i][j] = polynomial_derivative(&m.basis[i][0], order[j][0], order[j][1]);
	}
	return m;
}

static void mirror_triangles(likelihood *l, size_t n)
{
	double *matrices[3] = {l->hessian, l->gauss_newton, l->sum_kappa};
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < i; j++)
				matrices[k][j * n + i] = matrices[k][i * n + j];
}

static worker *worker_make(size_t pixels)
{
	worker *w = calloc(1, sizeof *w);
	if (!w || !overlap_make(&w->o, pixels)) {
		free(w);
		return NULL;
	}
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
static bool sum_tasks(const model *m, const frequency *f, size_t count, const double *weight, const sums *known, likelihood *part)
{
	bool ok = true;
	const size_t tasks = (count + BINS_PER_TASK - 1) / BINS_PER_TASK;
#pragma omp parallel reduction(&& : ok)
	{
		worker *w = worker_make(m->e->pixels);
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
		const model m = model_make(e, &table, parameter, n);
		ok = sum_tasks(&m, f, count, weight, known, part);
		for (size_t i = 0; i < tasks; i++)
			add_likelihood(out, &part[i]);
		mirror_triangles(out, n);
	}
	pixel_table_free(&table);
	free(part);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}
