#include "tools/ssb-sim/multislice.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>
#include "tools/transfer/kernel.h"

struct multislice {
	const acquisition *a;
	const transmission *t;
	fftwf_plan forward, backward; /* in place over the grid */
};

struct multislice_scratch {
	float complex *wave;          /* t->n[0] x t->n[1] */
	float complex *factor[2];     /* of propagation, a function of the row's times one of the column's */
	float complex *scattered;     /* the result */
};

size_t multislice_slices(const acquisition *a)
{
	const double lambda = a->geometry.wavelength_A, alpha = a->geometry.semiangle_rad, t = a->optics.thickness_A;
	const double tilt = hypot(a->optics.tilt_rad[0], a->optics.tilt_rad[1]);
	const double slices = ceil(2 * t * (M_PI * alpha * alpha / lambda + 4 * M_PI * alpha / lambda * tilt));
	return t > 0 ? (size_t)fmax(4, slices) : 1;
}

multislice *multislice_new(const acquisition *a, const transmission *t, ssb_error *err)
{
	const int n[2] = {(int)t->n[0], (int)t->n[1]};
	multislice *m = calloc(1, sizeof *m);
	float complex *wave = fftwf_alloc_complex(t->n[0] * t->n[1]);
	if (m && wave)
		*m = (multislice){a, t, fftwf_plan_dft_2d(n[0], n[1], wave, wave, FFTW_FORWARD, FFTW_ESTIMATE),
		                  fftwf_plan_dft_2d(n[0], n[1], wave, wave, FFTW_BACKWARD, FFTW_ESTIMATE)};
	fftwf_free(wave);
	if (m && m->forward && m->backward)
		return m;
	multislice_free(m);
	ssb_fail(err, SSB_RUNTIME, "out of memory for a thick specimen");
	return NULL;
}

void multislice_free(multislice *m)
{
	if (m && m->forward)
		fftwf_destroy_plan(m->forward);
	if (m && m->backward)
		fftwf_destroy_plan(m->backward);
	free(m);
}

static size_t scattered_size(const transmission *t)
{
	return (size_t)(2 * t->half[0] + 1) * (size_t)(2 * t->half[1] + 1);
}

multislice_scratch *multislice_scratch_new(const multislice *m)
{
	const transmission *t = m->t;
	multislice_scratch *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->wave = fftwf_alloc_complex(t->n[0] * t->n[1]);
	s->scattered = malloc(scattered_size(t) * sizeof *s->scattered);
	for (int axis = 0; axis < 2; axis++)
		s->factor[axis] = malloc(t->n[axis] * sizeof *s->factor[axis]);
	if (s->wave && s->scattered && s->factor[0] && s->factor[1])
		return s;
	multislice_scratch_free(s);
	return NULL;
}

void multislice_scratch_free(multislice_scratch *s)
{
	if (!s)
		return;
	fftwf_free(s->wave);
	free(s->scattered);
	free(s->factor[0]);
	free(s->factor[1]);
	free(s);
}

size_t multislice_scratch_bytes(const transmission *t)
{
	return (t->n[0] * t->n[1] + scattered_size(t)) * sizeof(float complex);
}

/* The factors of propagation over dz, by DFT index. */
static void propagation(const multislice *m, const double k[2], double dz, float complex *const factor[2])
{
	for (int axis = 0; axis < 2; axis++) {
		const size_t n = m->t->n[axis];
		const double step = m->a->step_A[axis] * (double)m->a->scan[axis] / (double)n;
		for (size_t i = 0; i < n; i++) {
			const double g = dft_frequency((long)i, (long)n, step);
			const double rate = M_PI * m->a->geometry.wavelength_A * (g - 2 * k[axis]) * g + 2 * M_PI * g * m->a->optics.tilt_rad[axis];
			factor[axis][i] = (float complex)CMPLX(cos(dz * rate), -sin(dz * rate));
		}
	}
}

/* x *= scale y. By hand: C's own complex product looks for infinities. */
KERNEL static void multiply(float complex *product, const float complex *by, size_t n, float complex scale)
{
	float *restrict x = (float *)product;
	const float *restrict y = (const float *)by;
	const float re = crealf(scale), im = cimagf(scale);
	for (size_t i = 0; i < n; i++) {
		const float y_re = re * y[2 * i] - im * y[2 * i + 1], y_im = re * y[2 * i + 1] + im * y[2 * i];
		const float x_re = x[2 * i], x_im = x[2 * i + 1];
		x[2 * i] = x_re * y_re - x_im * y_im;
		x[2 * i + 1] = x_re * y_im + x_im * y_re;
	}
}

/* To frequencies, and on by the factors. */
static void propagate(const multislice *m, multislice_scratch *s)
{
	const size_t *n = m->t->n;
	const float scale = 1 / ((float)n[0] * (float)n[1]);
	fftwf_execute_dft(m->forward, s->wave, s->wave);
	for (size_t i = 0; i < n[0]; i++)
		multiply(s->wave + i * n[1], s->factor[1], n[1], scale * s->factor[0][i]);
}

static void crop(const transmission *t, const float complex *wave, float complex *scattered)
{
	for (long i = -t->half[0]; i <= t->half[0]; i++)
		for (long j = -t->half[1]; j <= t->half[1]; j++)
			*scattered++ = wave[(size_t)(i < 0 ? i + (long)t->n[0] : i) * t->n[1] + (size_t)(j < 0 ? j + (long)t->n[1] : j)];
}

const float complex *multislice_scatter(const multislice *m, multislice_scratch *s, const double k[2])
{
	const transmission *t = m->t;
	const size_t size = t->n[0] * t->n[1];
	const double dz = m->a->optics.thickness_A / (double)t->slices;
	memcpy(s->wave, t->slice, size * sizeof *s->wave);
	propagation(m, k, dz, s->factor);
	for (size_t i = 1; i < t->slices; i++) {
		propagate(m, s);
		fftwf_execute_dft(m->backward, s->wave, s->wave);
		multiply(s->wave, t->slice, size, 1);
	}
	propagation(m, k, -0.5 * (m->a->optics.thickness_A - dz), s->factor);
	propagate(m, s);
	crop(t, s->wave, s->scattered);
	return s->scattered;
}
