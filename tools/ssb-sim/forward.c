#include "tools/ssb-sim/forward.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>
#include "tools/ssb-sim/multislice.h"
#include "tools/transfer/kernel.h"
#include "tools/transfer/sincos.h"

struct forward {
	const acquisition *a;
	const transmission *t;
	multislice *thick;     /* NULL: thin */
	polynomial chi;
	double cosine, sine;   /* of the rotation */
	double inner, outer;   /* |v| in 1/A below which A = 1, from which A = 0 */
	size_t stride;         /* of a row of psi */
	fftwf_plan plan;       /* in place over the scan */
};

struct forward_scratch {
	multislice_scratch *thick; /* NULL: thin */
	float complex *psi;    /* scan[0] rows of `stride` */
	float complex *row;    /* one row of T_g P(k - g), or S(k, k - g) P(k - g) */
	double *chi, *aperture;
};

/* Rows a power of two apart would fall into one cache set: the transform of 512 x 512 takes ten times longer. */
static size_t row_stride(const acquisition *a)
{
	return a->scan[1] + 8;
}

forward *forward_new(const acquisition *a, const transmission *t, ssb_error *err)
{
	const size_t stride = row_stride(a);
	const int n[2] = {(int)a->scan[0], (int)a->scan[1]}, room[2] = {n[0], (int)stride};
	forward *f = calloc(1, sizeof *f);
	float complex *psi = fftwf_alloc_complex(a->scan[0] * stride);
	if (f && psi) {
		const optics_geometry *g = &a->geometry;
		const double soft = 0.5 * fmax(g->sampling_rad[0], g->sampling_rad[1]);
		*f = (forward){
			.a = a, .t = t,
			.chi = chi_from_coefficients(a->optics.C_A, g->wavelength_A),
			.cosine = cos(a->optics.rotation_rad), .sine = sin(a->optics.rotation_rad),
			.inner = fmax(0, g->semiangle_rad - soft) / g->wavelength_A, .outer = (g->semiangle_rad + soft) / g->wavelength_A,
			.stride = stride, .plan = fftwf_plan_many_dft(2, n, 1, psi, room, 1, 0, psi, room, 1, 0, FFTW_BACKWARD, FFTW_ESTIMATE),
		};
	}
	fftwf_free(psi);
	if (!f || !f->plan)
		ssb_fail(err, SSB_RUNTIME, "out of memory for the forward model");
	else if (t->slices == 1 || (f->thick = multislice_new(a, t, err)))
		return f;
	forward_free(f);
	return NULL;
}

void forward_free(forward *f)
{
	if (f && f->plan)
		fftwf_destroy_plan(f->plan);
	if (f)
		multislice_free(f->thick);
	free(f);
}

forward_scratch *forward_scratch_new(const forward *f)
{
	const size_t width = (size_t)(2 * f->t->half[1] + 1);
	forward_scratch *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->psi = fftwf_alloc_complex(f->a->scan[0] * f->stride);
	s->row = malloc(width * sizeof *s->row);
	s->chi = malloc(width * sizeof *s->chi);
	s->aperture = malloc(width * sizeof *s->aperture);
	s->thick = f->thick ? multislice_scratch_new(f->thick) : NULL;
	if (s->psi && s->row && s->chi && s->aperture && (s->thick || !f->thick))
		return s;
	forward_scratch_free(s);
	return NULL;
}

void forward_scratch_free(forward_scratch *s)
{
	if (!s)
		return;
	multislice_scratch_free(s->thick);
	fftwf_free(s->psi);
	free(s->row);
	free(s->chi);
	free(s->aperture);
	free(s);
}

size_t forward_scratch_bytes(const acquisition *a, const transmission *t)
{
	return a->scan[0] * row_stride(a) * sizeof(float complex) + (t->slices > 1 ? multislice_scratch_bytes(t) : 0);
}

/* chi at fixed v_r and v_c = first - i step: a polynomial in v_c alone. */
KERNEL static void chi_row(const polynomial *p, double v_r, double first, double step, size_t count, double *chi)
{
	double b[7] = {0};
	for (int j = 0; j < 7; j++)
		for (int i = 6; i >= 0; i--)
			b[j] = b[j] * v_r + p->b[i][j];
	for (size_t i = 0; i < count; i++) {
		const double c = first - (double)i * step;
		chi[i] = b[0] + c * (b[1] + c * (b[2] + c * (b[3] + c * (b[4] + c * (b[5] + c * b[6])))));
	}
}

/* out = T A exp(-i chi); returns the sum of |out|^2. */
KERNEL static double probe_row(const float complex *t, const double *chi, const double *aperture, size_t count, float complex *out)
{
	const float *restrict in = (const float *)t;
	float *restrict to = (float *)out;
	double power = 0;
	for (size_t i = 0; i < count; i++) {
		double s, c;
		sine_cosine(chi[i], &s, &c);
		const double re = aperture[i] * (in[2 * i] * c + in[2 * i + 1] * s), im = aperture[i] * (in[2 * i + 1] * c - in[2 * i] * s);
		to[2 * i] = (float)re;
		to[2 * i + 1] = (float)im;
		power += re * re + im * im;
	}
	return power;
}

/* A(k - g) along a row: only the soft edge is evaluated, in the detector frame. */
static void aperture_row(const forward *f, double v_r, double first, double step, size_t count, double *aperture)
{
	const optics_geometry *g = &f->a->geometry;
	const double inner2 = f->inner * f->inner;
	for (size_t i = 0; i < count; i++) {
		const double v[2] = {v_r, first - (double)i * step};
		double d[2];
		aperture[i] = 1;
		if (v[0] * v[0] + v[1] * v[1] < inner2)
			continue;
		to_detector_frame(v, f->a->optics.transposed, f->cosine, f->sine, d);
		aperture[i] = aperture_value(d[0], d[1], g->wavelength_A, g->semiangle_rad, g->sampling_rad);
	}
}

/* Add a row of g to its row of the DFT grid, its columns from index `first` folded. */
static void fold_row(const float complex *row, size_t count, long first, size_t columns, float complex *grid_row)
{
	size_t at = (size_t)((first % (long)columns + (long)columns) % (long)columns);
	while (count > 0) {
		const size_t run = count < columns - at ? count : columns - at;
		for (size_t i = 0; i < run; i++)
			grid_row[at + i] += row[i];
		row += run;
		count -= run;
		at = 0;
	}
}

static long clamp(double x, long half)
{
	return x < (double)-half ? -half : x > (double)half ? half : (long)x;
}

/* The spectrum of psi over the scan for the pixel of frequency k; returns the mean of |psi|^2 over the period. */
static double spectrum(const forward *f, forward_scratch *s, const double k[2])
{
	const transmission *t = f->t;
	const float complex *scattered = f->thick ? multislice_scatter(f->thick, s->thick, k) : t->at;
	const size_t *scan = f->a->scan, width = (size_t)(2 * t->half[1] + 1);
	const double step[2] = {1 / (f->a->step_A[0] * (double)scan[0]), 1 / (f->a->step_A[1] * (double)scan[1])};
	double power = 0;
	memset(s->psi, 0, scan[0] * f->stride * sizeof *s->psi);
	const long last = clamp(floor((k[0] + f->outer) / step[0]), t->half[0]);
	for (long i = clamp(ceil((k[0] - f->outer) / step[0]), t->half[0]); i <= last; i++) {
		const double v_r = k[0] - (double)i * step[0], chord2 = f->outer * f->outer - v_r * v_r;
		if (chord2 <= 0)
			continue;
		const double from = ceil((k[1] - sqrt(chord2)) / step[1]), to = floor((k[1] + sqrt(chord2)) / step[1]);
		if (to < (double)-t->half[1] || from > (double)t->half[1] || to < from)
			continue;
		const long j = clamp(from, t->half[1]);
		const size_t count = (size_t)(clamp(to, t->half[1]) - j + 1);
		const double first = k[1] - (double)j * step[1];
		chi_row(&f->chi, v_r, first, step[1], count, s->chi);
		aperture_row(f, v_r, first, step[1], count, s->aperture);
		power += probe_row(&scattered[(size_t)(i + t->half[0]) * width + (size_t)(j + t->half[1])], s->chi, s->aperture, count, s->row);
		const size_t grid_row = (size_t)((i % (long)scan[0] + (long)scan[0]) % (long)scan[0]);
		fold_row(s->row, count, j, scan[1], s->psi + grid_row * f->stride);
	}
	return power;
}

double forward_pixel(const forward *f, forward_scratch *s, size_t row, size_t column, double negligible, float *intensity)
{
	const optics_geometry *g = &f->a->geometry;
	const double detector[2] = {((double)row - g->centre_px[0]) * g->sampling_rad[0] / g->wavelength_A,
	                            ((double)column - g->centre_px[1]) * g->sampling_rad[1] / g->wavelength_A};
	double k[2];
	to_scan_frame(detector, f->a->optics.transposed, f->cosine, f->sine, k);
	const double mean = spectrum(f, s, k);
	if (mean <= negligible)
		return 0;
	fftwf_execute_dft(f->plan, s->psi, s->psi);
	for (size_t r = 0; r < f->a->scan[0]; r++) {
		const float complex *psi = s->psi + r * f->stride;
		for (size_t c = 0; c < f->a->scan[1]; c++)
			*intensity++ = crealf(psi[c]) * crealf(psi[c]) + cimagf(psi[c]) * cimagf(psi[c]);
	}
	return mean;
}
