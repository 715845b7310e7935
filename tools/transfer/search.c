/* The exhaustive search on the CPU; the formulas are lookup.h's. A phase factor that both transforms share (the detector's origin)
 * drops out of |S|^2. */
#include "tools/transfer/cpu.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>
#include "tools/transfer/host.h"
#include "tools/transfer/kernel.h"

enum { PAD = 4, BATCH = 8 };

/* One q with its transforms X_-, X_+. */
typedef struct transforms {
	lookup l;
	float complex *X[2];
	float complex *scratch; /* for G */
} transforms;

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

search_frame search_frame_make(const evidence *e)
{
	search_frame f = {.origin = {e->pixel[0][0], e->pixel[0][1]}};
	int32_t last[2] = {e->pixel[0][0], e->pixel[0][1]};
	for (size_t b = 0; b < e->pixels; b++)
		for (int axis = 0; axis < 2; axis++) {
			f.origin[axis] = e->pixel[b][axis] < f.origin[axis] ? e->pixel[b][axis] : f.origin[axis];
			last[axis] = e->pixel[b][axis] > last[axis] ? e->pixel[b][axis] : last[axis];
		}
	for (int axis = 0; axis < 2; axis++)
		f.size[axis] = transform_length(PAD * (size_t)(last[axis] - f.origin[axis] + 1));
	f.rows = (size_t)(last[0] - f.origin[0]) + 1;
	return f;
}

size_t search_frame_at(const search_frame *f, const int32_t pixel[2])
{
	return (size_t)(pixel[0] - f->origin[0]) * f->size[1] + (size_t)(pixel[1] - f->origin[1]);
}

optics_parameters search_held(const optics_parameters *p)
{
	optics_parameters held = *p;
	for (int i = C10; i <= C12b; i++)
		held.C_A[i] = 0;
	return held;
}

/* What look-ups at this q need besides the transforms: u and chi per coefficient. */
static void set_scales(lookup *l, const pixel_table *t, const search_frame *f, const double q[2])
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

lookup lookup_make(const evidence *e, const pixel_table *t, const search_frame *f, size_t bin, double m)
{
	double q[2];
	lookup l = {.m = m};
	evidence_q(e, bin, q);
	set_scales(&l, t, f, q);
	return l;
}

double search_floor(const evidence *e)
{
	return 1e-6 * 2 * (double)e->pixels; /* W is at most 4 per pixel */
}

/* A transform of the whole frame, in place: along its rows, of which all but the first are 0, then along its columns. */
typedef struct frame_plans { fftwf_plan rows, columns; } frame_plans;

static bool frame_plans_make(frame_plans *plans, const search_frame *f, float complex *memory)
{
	const int rows = (int)f->size[0], columns = (int)f->size[1];
	const unsigned how = FFTW_ESTIMATE | FFTW_UNALIGNED;
	plans->rows = fftwf_plan_many_dft(1, &columns, (int)f->rows, memory, NULL, 1, columns, memory, NULL, 1, columns, FFTW_FORWARD, how);
	plans->columns = fftwf_plan_many_dft(1, &rows, columns, memory, NULL, columns, 1, memory, NULL, columns, 1, FFTW_FORWARD, how);
	return plans->rows && plans->columns;
}

static void frame_plans_free(frame_plans *plans)
{
	fftwf_destroy_plan(plans->rows);
	fftwf_destroy_plan(plans->columns);
}

static void prepare(transforms *x, const evidence *e, const pixel_table *t, const search_frame *f, const frame_plans *plans, size_t bin, double m)
{
	double q[2], qd[2];
	evidence_q(e, bin, q);
	to_detector_frame(q, t->transposed, t->cosine, t->sine, qd);
	x->l = lookup_make(e, t, f, bin, m);
	for (int i = 0; i < 2; i++)
		memset(x->X[i], 0, f->size[0] * f->size[1] * sizeof *x->X[i]);
	const float complex *G = evidence_G(e, bin, 0, e->pixels, x->scratch);
	for (size_t b = 0; b < e->pixels; b++) {
		const size_t at = search_frame_at(f, e->pixel[b]);
		double element[2][2];
		if (lookup_element(t, b, q, qd, crealf(G[b]), cimagf(G[b]), element, x->l.W))
			for (int i = 0; i < 2; i++)
				x->X[i][at] = CMPLXF((float)element[i][0], (float)element[i][1]);
	}
	for (int i = 0; i < 2; i++) {
		fftwf_execute_dft(plans->rows, x->X[i], x->X[i]);
		fftwf_execute_dft(plans->columns, x->X[i], x->X[i]);
	}
}

enum { CANDIDATES_PER_TASK = 512 };

/* One q's look-ups for a run of candidates, which stays in the cache while the batch's other q follow. */
KERNEL static void add_scores(const transforms *x, const search_frame *f, const candidate *c, size_t count, double floor, double *score)
{
	const float *minus = (const float *)x->X[0], *plus = (const float *)x->X[1];
	for (size_t j = 0; j < count; j++)
		score[j] += lookup_score(&x->l, f->size, minus, plus, c[j].C_A, floor);
}

/* Batches of q: transforms in parallel, then the candidates in parallel with the q of the batch in order. */
static void scan(const evidence *e, const pixel_table *t, const search_frame *f, const frame_plans *plans, transforms *batch, const size_t *bin,
                 const double *m, size_t bins, const candidate *c, size_t count, double *score)
{
	const double floor = search_floor(e);
	for (size_t first = 0; first < bins; first += BATCH) {
		const size_t n = bins - first < BATCH ? bins - first : BATCH;
#pragma omp parallel for schedule(dynamic)
		for (size_t i = 0; i < n; i++)
			prepare(&batch[i], e, t, f, plans, bin[first + i], m[first + i]);
#pragma omp parallel for schedule(dynamic)
		for (size_t j = 0; j < count; j += CANDIDATES_PER_TASK)
			for (size_t i = 0; i < n; i++)
				add_scores(&batch[i], f, c + j, count - j < CANDIDATES_PER_TASK ? count - j : CANDIDATES_PER_TASK, floor, score + j);
	}
}

bool cpu_search(const evidence *e, const optics_parameters *p, const size_t *bin, const double *m, size_t bins, const candidate *c,
                size_t count, double *score, ssb_error *err)
{
	const search_frame f = search_frame_make(e);
	const size_t size = f.size[0] * f.size[1];
	const optics_parameters held = search_held(p);
	pixel_table table = {0};
	transforms batch[BATCH];
	frame_plans plans = {NULL, NULL};
	float complex *memory = fftwf_malloc(BATCH * (2 * size + e->pixels) * sizeof *memory);
	bool ok = memory && pixel_table_make(&table, e, &held);
	if (ok) {
		for (size_t i = 0; i < BATCH; i++) {
			for (size_t j = 0; j < 2; j++)
				batch[i].X[j] = memory + (2 * i + j) * size;
			batch[i].scratch = memory + 2 * BATCH * size + i * e->pixels;
		}
		ok = frame_plans_make(&plans, &f, memory);
	}
	memset(score, 0, count * sizeof *score);
	if (ok)
		scan(e, &table, &f, &plans, batch, bin, m, bins, c, count, score);
	frame_plans_free(&plans);
	pixel_table_free(&table);
	fftwf_free(memory);
	return ok ? evidence_is_sound(e, err) : ssb_fail(err, SSB_RUNTIME, "out of memory");
}
