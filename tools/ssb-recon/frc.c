#include "tools/ssb-recon/frc.h"

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include "tools/transfer/optics.h"

static const double FIXED_THRESHOLD = 0.143;

static bool transform(const double *image, size_t rows, size_t columns, double complex *half)
{
	double *copy = fftw_malloc(rows * columns * sizeof *copy); /* a plan may overwrite its input */
	fftw_plan plan = copy ? fftw_plan_dft_r2c_2d((int)rows, (int)columns, copy, half, FFTW_ESTIMATE) : NULL;
	for (size_t i = 0; plan && i < rows * columns; i++)
		copy[i] = image[i];
	if (plan)
		fftw_execute(plan);
	fftw_destroy_plan(plan);
	fftw_free(copy);
	return plan != NULL;
}

/* The sums of each ring, over the half plane; `power` [2][rings]. */
static void add_rings(ring_correlation *frc, const double complex *a, const double complex *b, size_t rows, size_t columns,
                      const double sampling_A[2], double *power)
{
	const size_t half = columns / 2 + 1;
	for (size_t i = 0; i < rows * half; i++) {
		const size_t r = i / half, c = i % half;
		const double q_r = dft_frequency((long)r, (long)rows, sampling_A[0]), q_c = dft_frequency((long)c, (long)columns, sampling_A[1]);
		const double multiplicity = c == 0 || 2 * c == columns ? 1 : 2, ring = floor(hypot(q_r, q_c) / frc->width_per_A + 0.5);
		if (ring < 1 || ring > (double)frc->rings)
			continue;
		const size_t at = (size_t)ring - 1;
		frc->pixels[at] += multiplicity;
		frc->correlation[at] += multiplicity * creal(a[i] * conj(b[i]));
		power[at] += multiplicity * creal(a[i] * conj(a[i]));
		power[frc->rings + at] += multiplicity * creal(b[i] * conj(b[i]));
	}
}

static size_t whole_rings(double width_per_A, double limit_per_A)
{
	const double rings = floor(limit_per_A / width_per_A - 0.5 + 1e-9);
	return rings > 0 ? (size_t)rings : 0;
}

bool frc_make(ring_correlation *frc, const double *images, size_t rows, size_t columns, const double sampling_A[2], double limit_per_A,
              ssb_error *err)
{
	const double width = fmax(1 / ((double)rows * sampling_A[0]), 1 / ((double)columns * sampling_A[1]));
	const size_t half = rows * (columns / 2 + 1), rings = whole_rings(width, limit_per_A);
	double complex *spectrum = fftw_malloc(2 * half * sizeof *spectrum);
	double *power = calloc(2 * rings + 1, sizeof *power);
	*frc = (ring_correlation){.width_per_A = width, .rings = rings};
	frc->correlation = calloc(rings + 1, sizeof *frc->correlation);
	frc->pixels = calloc(rings + 1, sizeof *frc->pixels);
	const bool ok = spectrum && power && frc->correlation && frc->pixels && transform(images, rows, columns, spectrum) &&
	                transform(images + rows * columns, rows, columns, spectrum + half);
	if (ok)
		add_rings(frc, spectrum, spectrum + half, rows, columns, sampling_A, power);
	for (size_t i = 0; ok && i < rings; i++)
		frc->correlation[i] /= sqrt(power[i] * power[rings + i]);
	fftw_free(spectrum);
	free(power);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

void frc_free(ring_correlation *frc)
{
	free(frc->correlation);
	free(frc->pixels);
	*frc = (ring_correlation){0};
}

double frc_half_bit(double pixels)
{
	return (0.2071 + 1.9102 / sqrt(pixels)) / (1.2071 + 0.9102 / sqrt(pixels));
}

ring_crossing frc_crossing(const ring_correlation *frc, const double *threshold)
{
	ring_crossing found = {false};
	double before = 0; /* height of the ring before above the threshold */
	for (size_t i = 0; i < frc->rings && !found.crosses; i++) {
		const double height = frc->correlation[i] - (threshold ? threshold[i] : FIXED_THRESHOLD);
		if (!found.above && height > 0)
			found = (ring_crossing){.above = true, .from_per_A = (double)(i + 1) * frc->width_per_A};
		else if (found.above && !(height > 0)) {
			found.crosses = true;
			found.at_per_A = ((double)i + (isfinite(height) ? before / (before - height) : 0)) * frc->width_per_A;
		}
		before = height;
	}
	return found;
}

static json_t *list(const double *values, size_t count)
{
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, isfinite(values[i]) ? json_real(values[i]) : json_null());
	return array;
}

static json_t *crossing_to_json(ring_crossing c, const char *limit)
{
	json_t *object = json_object();
	json_object_set_new(object, "result", c.crosses ? json_string("crosses") : c.above ? json_sprintf("does not cross below %s", limit)
	                                                                                   : json_string("below it in every ring"));
	if (c.above)
		json_object_set_new(object, "above_from_per_A", json_real(c.from_per_A));
	if (c.crosses) {
		json_object_set_new(object, "frequency_per_A", json_real(c.at_per_A));
		json_object_set_new(object, "resolution_A", json_real(1 / c.at_per_A));
	}
	return object;
}

json_t *frc_to_json(const ring_correlation *frc, double limit_per_A, const char *limit, ssb_error *err)
{
	double *rows = malloc((2 * frc->rings + 1) * sizeof *rows);
	if (!rows) {
		ssb_fail(err, SSB_RUNTIME, "out of memory");
		return NULL;
	}
	double *const frequency = rows, *const half_bit = rows + frc->rings;
	for (size_t i = 0; i < frc->rings; i++) {
		frequency[i] = (double)(i + 1) * frc->width_per_A;
		half_bit[i] = frc_half_bit(frc->pixels[i]);
	}
	json_t *object = json_pack("{s:f, s:f, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "ring_per_A", frc->width_per_A, "limit_per_A", limit_per_A,
	                           "limit_is", limit, "half_bit", crossing_to_json(frc_crossing(frc, half_bit), limit), "fixed_0143",
	                           crossing_to_json(frc_crossing(frc, NULL), limit), "frequency_per_A", list(frequency, frc->rings), "correlation",
	                           list(frc->correlation, frc->rings), "half_bit_threshold", list(half_bit, frc->rings), "pixels",
	                           list(frc->pixels, frc->rings));
	free(rows);
	return object;
}
