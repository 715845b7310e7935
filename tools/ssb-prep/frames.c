#include "tools/ssb-prep/frames.h"

#include <complex.h> /* before fftw3.h, which then uses C's complex type */
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>

typedef struct scratch {
	uint32_t *counts; /* B, of one frame */
	uint64_t *sum;    /* B */
} scratch;

static bool scratch_make(scratch *s, size_t pixels)
{
	s->counts = malloc(pixels * sizeof *s->counts);
	s->sum = calloc(pixels, sizeof *s->sum);
	return s->counts && s->sum;
}

static void scratch_free(scratch *s)
{
	free(s->counts);
	free(s->sum);
}

static void add_frame(frame_sums *sums, size_t frame, const region *r, const bf_pixels *bf, scratch *s)
{
	uint64_t total = 0;
	double row = 0, column = 0;
	counts_gather(&r->counts, frame, bf->offset, bf->count, s->counts);
	for (size_t b = 0; b < bf->count; b++) {
		total += s->counts[b];
		s->sum[b] += s->counts[b];
		row += (double)s->counts[b] * bf->index[b][0];
		column += (double)s->counts[b] * bf->index[b][1];
	}
	sums->position[frame] = total;
	sums->centre_of_mass[frame][0] = total ? row / (double)total : NAN;
	sums->centre_of_mass[frame][1] = total ? column / (double)total : NAN;
}

static bool sum_frames(frame_sums *sums, const region *r, const bf_pixels *bf)
{
	bool ok = true;
#pragma omp parallel
	{
		scratch s;
		const bool ready = scratch_make(&s, bf->count);
#pragma omp for schedule(static)
		for (size_t i = 0; i < r->counts.frames; i++)
			if (ready && r->scan_valid[i])
				add_frame(sums, i, r, bf, &s);
#pragma omp critical
		{
			ok = ok && ready;
			for (size_t b = 0; ready && b < bf->count; b++)
				sums->pixel[b] += s.sum[b];
		}
		scratch_free(&s);
	}
	return ok;
}

bool frame_sums_make(frame_sums *sums, const region *r, const bf_pixels *bf, ssb_error *err)
{
	const size_t n = r->counts.frames;
	*sums = (frame_sums){.pixel = calloc(bf->count, sizeof *sums->pixel),
	                     .position = calloc(n, sizeof *sums->position),
	                     .centre_of_mass = malloc(n * sizeof *sums->centre_of_mass)};
	if (!sums->pixel || !sums->position || !sums->centre_of_mass)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; i < n; i++)
		sums->centre_of_mass[i][0] = sums->centre_of_mass[i][1] = NAN;
	return sum_frames(sums, r, bf) || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

void frame_sums_free(frame_sums *sums)
{
	free(sums->pixel);
	free(sums->position);
	free(sums->centre_of_mass);
}

/* ---- rotation ---- */

/* One component less its mean, times `scale`; 0 where it is unknown. */
static void component(const double (*v)[2], size_t n, int axis, double scale, double *out)
{
	double sum = 0, known = 0;
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i][axis])) {
			sum += v[i][axis];
			known++;
		}
	for (size_t i = 0; i < n; i++)
		out[i] = isfinite(v[i][axis]) ? (v[i][axis] - sum / known) * scale : 0;
}

/* Weighted powers of curl and divergence and their product, for the field (r, c). */
typedef struct field_powers { double curl, divergence, product; } field_powers;

static double frequency(size_t i, size_t n, double step)
{
	return ((double)i - (2 * i < n ? 0 : (double)n)) / ((double)n * step);
}

static field_powers measure_field(const fftw_complex *row, const fftw_complex *column, const size_t scan[2], const double step_A[2],
                                  double cutoff)
{
	field_powers sum = {0};
	const size_t columns = scan[1] / 2 + 1;
	for (size_t i = 0; i < scan[0] * columns; i++) {
		const size_t r = i / columns, c = i % columns;
		const double qr = frequency(r, scan[0], step_A[0]), qc = frequency(c, scan[1], step_A[1]), q2 = qr * qr + qc * qc;
		if (q2 == 0 || q2 >= cutoff * cutoff || 2 * r == scan[0] || 2 * c == scan[1])
			continue;
		const double weight = (c ? 2 : 1) / (q2 * q2);
		const fftw_complex curl = qr * column[i] - qc * row[i], divergence = qr * row[i] + qc * column[i];
		sum.curl += weight * creal(curl * conj(curl));
		sum.divergence += weight * creal(divergence * conj(divergence));
		sum.product += weight * creal(curl * conj(divergence));
	}
	return sum;
}

/* The curl of the field rotated by t is curl cos t + divergence sin t. */
static bool least_curl(const field_powers *p, double *rotation_deg, double *residual)
{
	const double sum = p->curl + p->divergence, difference = p->curl - p->divergence;
	if (!(sum > 0))
		return false;
	*rotation_deg = 0.5 * atan2(-2 * p->product, -difference) * 180 / M_PI;
	*residual = fmax(0, 0.5 - hypot(difference / 2, p->product) / sum);
	return true;
}

bool deflection_find(deflection *d, const double (*centre_of_mass)[2], const size_t scan[2], const double step_A[2], double cutoff,
                     const double sampling[2], ssb_error *err)
{
	const size_t n = scan[0] * scan[1], half = scan[0] * (scan[1] / 2 + 1);
	double *field = fftw_malloc(n * sizeof *field);
	fftw_complex *F[2] = {fftw_malloc(half * sizeof *F[0]), fftw_malloc(half * sizeof *F[1])};
	fftw_plan plan = field && F[0] && F[1] ? fftw_plan_dft_r2c_2d((int)scan[0], (int)scan[1], field, F[0], FFTW_ESTIMATE) : NULL;
	*d = (deflection){0};
	for (int axis = 0; axis < 2 && plan; axis++) {
		component(centre_of_mass, n, axis, sampling[axis] / sampling[0], field);
		fftw_execute_dft_r2c(plan, field, F[axis]);
	}
	if (plan) {
		const field_powers plain = measure_field(F[0], F[1], scan, step_A, cutoff);
		const field_powers transposed = measure_field(F[1], F[0], scan, step_A, cutoff);
		d->found = least_curl(&plain, &d->rotation_deg[0], &d->residual[0]) &&
		           least_curl(&transposed, &d->rotation_deg[1], &d->residual[1]);
	}
	const bool ok = plan || ssb_fail(err, SSB_RUNTIME, "out of memory");
	fftw_destroy_plan(plan);
	fftw_free(field);
	fftw_free(F[0]);
	fftw_free(F[1]);
	return ok;
}
