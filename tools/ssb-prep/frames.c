#include "tools/ssb-prep/frames.h"

#include <complex.h> /* before fftw3.h, which then uses C's complex type */
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include "tools/transfer/kernel.h"

enum { MOST_RUN = 4096 }; /* so that counts of one byte times their place add up within 32 bits */

/* BF pixels that lie together in a row of the detector. */
typedef struct run {
	uint32_t offset;    /* of the first in a frame */
	size_t first, pixels;
	int32_t row, column;
} run;

static size_t make_runs(const bf_pixels *bf, run *runs)
{
	size_t count = 0;
	for (size_t b = 0; b < bf->count; b++) {
		run *last = count ? &runs[count - 1] : NULL;
		if (last && last->row == bf->index[b][0] && last->offset + last->pixels == bf->offset[b] && last->pixels < MOST_RUN)
			last->pixels++;
		else
			runs[count++] = (run){bf->offset[b], b, 1, bf->index[b][0], bf->index[b][1]};
	}
	return count;
}

/* Of a run's counts n(i): their sum, the sum of i n(i), and each onto its pixel's. All exact. */
typedef struct run_sums { uint64_t counts, moment; } run_sums;

#define ADD_RUN(type, sum_type)                                                                                                            \
	static inline run_sums add_##type(const type *restrict n, size_t pixels, uint64_t *restrict sum)                                   \
	{                                                                                                                                  \
		sum_type counts = 0, moment = 0;                                                                                           \
		for (size_t i = 0; i < pixels; i++) {                                                                                      \
			counts += n[i];                                                                                                    \
			moment += n[i] * (sum_type)i;                                                                                      \
			sum[i] += n[i];                                                                                                    \
		}                                                                                                                          \
		return (run_sums){counts, moment};                                                                                         \
	}
ADD_RUN(uint8_t, uint32_t)
ADD_RUN(uint16_t, uint64_t)
ADD_RUN(uint32_t, uint64_t)

/* sum: of every BF pixel. centre_of_mass: in detector pixels. Returns the counts. */
KERNEL
static uint64_t add_frame(const void *frame, enum ssb_dtype type, const run *runs, size_t count, uint64_t *sum, double centre_of_mass[2])
{
	uint64_t total = 0, row = 0, column = 0;
	for (const run *r = runs; r < runs + count; r++) {
		const run_sums s = type == SSB_U1   ? add_uint8_t((const uint8_t *)frame + r->offset, r->pixels, sum + r->first)
		                   : type == SSB_U2 ? add_uint16_t((const uint16_t *)frame + r->offset, r->pixels, sum + r->first)
		                                    : add_uint32_t((const uint32_t *)frame + r->offset, r->pixels, sum + r->first);
		total += s.counts;
		row += s.counts * (uint64_t)r->row;
		column += s.counts * (uint64_t)r->column + s.moment;
	}
	centre_of_mass[0] = total ? (double)row / (double)total : NAN;
	centre_of_mass[1] = total ? (double)column / (double)total : NAN;
	return total;
}

static bool sum_frames(frame_sums *sums, const region *r, const run *runs, size_t count, size_t pixels)
{
	bool ok = true;
#pragma omp parallel
	{
		uint64_t *sum = calloc(pixels, sizeof *sum);
#pragma omp for schedule(static)
		for (size_t i = 0; i < r->counts.frames; i++) {
			enum ssb_dtype type;
			const void *frame = counts_frame(&r->counts, i, &type);
			if (sum && r->scan_valid[i])
				sums->position[i] = add_frame(frame, type, runs, count, sum, sums->centre_of_mass[i]);
		}
#pragma omp critical
		{
			ok = ok && sum;
			for (size_t b = 0; sum && b < pixels; b++)
				sums->pixel[b] += sum[b];
		}
		free(sum);
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
	run *runs = malloc(bf->count * sizeof *runs);
	const bool ok = runs && sum_frames(sums, r, runs, make_runs(bf, runs), bf->count);
	free(runs);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
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
