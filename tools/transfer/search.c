/* The exhaustive search on the CPU (physics.md section 5, search 2): with quadratic chi,
 *   S(q) = e^{i chi(q)} X_-(u) - e^{-i chi(q)} X_+(u),  X_-+(u) = sum_k G A A_-+ e^{-i u.k},  u = 2 pi lambda C q,
 * so one zero-padded transform over the detector per q serves every (C10, C12a, C12b) by a look-up, and W is closed form. A phase
 * factor that both X share (the detector's origin) drops out of |S|^2. */
#include "tools/transfer/cpu.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 4, BATCH = 8 };

/* The padded detector: the bounding box of the BF pixels at its corner. */
typedef struct frame {
	int32_t origin[2];
	size_t size[2];
	fftwf_plan plan;
} frame;

/* One q, ready for look-ups. */
typedef struct lookup {
	double index[3][2];  /* steps of u on the padded grid per A of C10, C12a, C12b */
	double chi[3];       /* chi(q) in rad per A of each */
	double W0;
	double complex W1;   /* W = W0 - Re[W1 e^{-2i chi(q)}] */
	double m;
	float complex *X[2];
} lookup;

/* The next length that has no prime factor above 5, even. */
static size_t transform_length(size_t at_least)
{
	for (size_t n = at_least + at_least % 2;; n += 2) {
		size_t rest = n;
		while (rest % 2 == 0)
			rest /= 2;
		while (rest % 3 == 0)
			rest /= 3;
		while (rest % 5 == 0)
			rest /= 5;
		if (rest == 1)
			return n;
	}
}

static frame frame_of(const evidence *e)
{
	frame f = {.origin = {e->pixel[0][0], e->pixel[0][1]}};
	int32_t last[2] = {e->pixel[0][0], e->pixel[0][1]};
	for (size_t b = 0; b < e->pixels; b++)
		for (int axis = 0; axis < 2; axis++) {
			f.origin[axis] = e->pixel[b][axis] < f.origin[axis] ? e->pixel[b][axis] : f.origin[axis];
			last[axis] = e->pixel[b][axis] > last[axis] ? e->pixel[b][axis] : last[axis];
		}
	for (int axis = 0; axis < 2; axis++)
		f.size[axis] = transform_length(PAD * (size_t)(last[axis] - f.origin[axis] + 1));
	return f;
}

/* What look-ups at this q need besides the transforms: u and chi per coefficient. */
static void set_scales(lookup *l, const pixel_table *t, const frame *f, const double q[2])
{
	const double lambda = t->wavelength;
	const double Cq[3][2] = {{q[0], q[1]}, {q[0], -q[1]}, {q[1], q[0]}}; /* C q for C10, C12a, C12b of 1 A */
	for (int i = 0; i < 3; i++) {
		double u[2];
		to_detector_frame(Cq[i], t->transposed, t->cosine, t->sine, u);
		for (int axis = 0; axis < 2; axis++)
			l->index[i][axis] = u[axis] * t->sampling[axis] * (double)f->size[axis];
	}
	l->chi[0] = M_PI * lambda * (q[0] * q[0] + q[1] * q[1]);
	l->chi[1] = M_PI * lambda * (q[0] * q[0] - q[1] * q[1]);
	l->chi[2] = M_PI * lambda * 2 * q[0] * q[1];
}

static double complex phase_factor(double phase)
{
	return CMPLX(cos(phase), sin(phase));
}

static void prepare(lookup *l, const evidence *e, const pixel_table *t, const frame *f, size_t bin, double m)
{
	double q[2], qd[2];
	evidence_q(e, bin, q);
	to_detector_frame(q, t->transposed, t->cosine, t->sine, qd);
	set_scales(l, t, f, q);
	l->m = m;
	l->W0 = l->W1 = 0;
	for (int i = 0; i < 2; i++)
		memset(l->X[i], 0, f->size[0] * f->size[1] * sizeof *l->X[i]);
	for (size_t b = 0; b < e->pixels; b++) {
		const double kr = t->detector[0][b], kc = t->detector[1][b], A = t->aperture[b];
		const double minus = A * aperture_value(kr - qd[0], kc - qd[1], t->wavelength, t->semiangle, t->sampling);
		const double plus = A * aperture_value(kr + qd[0], kc + qd[1], t->wavelength, t->semiangle, t->sampling);
		if (minus == 0 && plus == 0)
			continue;
		const double h = t->chi_k[b];
		const double complex Gm = e->row[bin][b] * phase_factor(polynomial_value(&t->chi, t->scan[0][b] - q[0], t->scan[1][b] - q[1]) - h);
		const double complex Gp = e->row[bin][b] * phase_factor(h - polynomial_value(&t->chi, t->scan[0][b] + q[0], t->scan[1][b] + q[1]));
		const size_t at = (size_t)(e->pixel[b][0] - f->origin[0]) * f->size[1] + (size_t)(e->pixel[b][1] - f->origin[1]);
		l->X[0][at] = (float complex)(minus * Gm);
		l->X[1][at] = (float complex)(plus * Gp);
		l->W0 += minus * minus + plus * plus;
		if (minus * plus > 0)
			l->W1 += 2 * minus * plus * phase_factor(2 * h - polynomial_value(&t->chi, t->scan[0][b] - q[0], t->scan[1][b] - q[1])
			                                         - polynomial_value(&t->chi, t->scan[0][b] + q[0], t->scan[1][b] + q[1]));
	}
	for (int i = 0; i < 2; i++)
		fftwf_execute_dft(f->plan, l->X[i], l->X[i]);
}

static size_t wrap(double index, size_t size)
{
	const long i = lrint(index) % (long)size;
	return (size_t)(i < 0 ? i + (long)size : i);
}

static double look_up(const lookup *l, const frame *f, const double C[3], double floor)
{
	const size_t r = wrap(l->index[0][0] * C[0] + l->index[1][0] * C[1] + l->index[2][0] * C[2], f->size[0]);
	const size_t c = wrap(l->index[0][1] * C[0] + l->index[1][1] * C[1] + l->index[2][1] * C[2], f->size[1]);
	const double chi = l->chi[0] * C[0] + l->chi[1] * C[1] + l->chi[2] * C[2];
	const double complex e = phase_factor(chi);
	const double complex S = e * l->X[0][r * f->size[1] + c] - conj(e) * l->X[1][r * f->size[1] + c];
	const double W = l->W0 - creal(l->W1 * conj(e * e));
	return l->m * (creal(S) * creal(S) + cimag(S) * cimag(S)) / (W > floor ? W : floor);
}

/* Batches of q: transforms in parallel, then the candidates in parallel with the q of the batch in order. */
static void scan(const evidence *e, const pixel_table *t, const frame *f, lookup *batch, const size_t *bin, const double *m, size_t bins,
                 const candidate *c, size_t count, double *score)
{
	const double floor = 1e-6 * 2 * (double)e->pixels; /* W is at most 4 per pixel */
	for (size_t first = 0; first < bins; first += BATCH) {
		const size_t n = bins - first < BATCH ? bins - first : BATCH;
#pragma omp parallel for schedule(dynamic)
		for (size_t i = 0; i < n; i++)
			prepare(&batch[i], e, t, f, bin[first + i], m[first + i]);
#pragma omp parallel for schedule(static)
		for (size_t j = 0; j < count; j++)
			for (size_t i = 0; i < n; i++)
				score[j] += look_up(&batch[i], f, c[j].C_A, floor);
	}
}

bool cpu_search(const evidence *e, const optics_parameters *p, const size_t *bin, const double *m, size_t bins, const candidate *c,
                size_t count, double *score, ssb_error *err)
{
	frame f = frame_of(e);
	const size_t size = f.size[0] * f.size[1];
	optics_parameters higher = *p;
	for (int i = C10; i <= C12b; i++)
		higher.C_A[i] = 0;
	pixel_table table = {0};
	lookup batch[BATCH];
	float complex *memory = fftwf_malloc(2 * BATCH * size * sizeof *memory);
	bool ok = memory && pixel_table_make(&table, e, &higher);
	if (ok) {
		for (size_t i = 0; i < BATCH; i++)
			for (size_t j = 0; j < 2; j++)
				batch[i].X[j] = memory + (2 * i + j) * size;
		f.plan = fftwf_plan_dft_2d((int)f.size[0], (int)f.size[1], memory, memory, FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED);
		ok = f.plan != NULL;
	}
	memset(score, 0, count * sizeof *score);
	if (ok) {
		scan(e, &table, &f, batch, bin, m, bins, c, count, score);
		fftwf_destroy_plan(f.plan);
	}
	pixel_table_free(&table);
	fftwf_free(memory);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}
