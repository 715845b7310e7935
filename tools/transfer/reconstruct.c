#include "tools/transfer/reconstruct.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>
#include "tools/transfer/plane.h"

size_t reconstruct_auto_factor(const evidence *e)
{
	const double step = fmax(e->step_A[0], e->step_A[1]);
	const double factor = ceil(4 * e->geometry.semiangle_rad * step / e->geometry.wavelength_A - 1e-12);
	return factor > 1 ? (size_t)factor : 1;
}

/* Phi of one frequency. Both estimators divide by i I0. */
static double complex phi(const sums *s, enum estimator estimator, double pixels, double floor)
{
	if (estimator == ESTIMATOR_SSB)
		return -I * s->U / pixels;
	return s->W + floor > 0 ? -I * s->S / (s->W + floor) : 0;
}

static double largest_W(const sums *s, size_t count)
{
	double most = 0;
	for (size_t i = 0; i < count; i++)
		most = fmax(most, s[i].W);
	return most;
}

static void fill_spectrum(const plane *p, const sums *s, enum estimator estimator, const evidence *e, double epsilon, double complex *half)
{
	const double most = largest_W(s, p->frequencies);
	memset(half, 0, p->rows * (p->columns / 2 + 1) * sizeof *half);
	const double scale = 1 / (e->I0_counts * (double)(e->scan[0] * e->scan[1])); /* 1/N: the inverse transform's, native positions */
	for (size_t i = 0; i < p->points; i++) {
		const plane_point *point = &p->point[i];
		for (size_t j = point->first; j < point->first + point->count; j++)
			half[point->at] += scale / (double)point->count * phi(&s[j], estimator, (double)e->pixels, epsilon * most);
	}
}

/* s[sets][frequencies]. A row of G stays in cache while each set takes its sums from it; one set needs no blocks. */
static bool sum_sets(const backend *b, const evidence *e, const optics_parameters *p, size_t sets, const plane *grid, bool with_U, sums *s,
                     ssb_error *err)
{
	enum { BLOCK = 256 };
	const size_t all = grid->frequencies, block = sets == 1 ? all : BLOCK;
	for (size_t first = 0; first < all; first += block) {
		const size_t count = all - first < block ? all - first : block;
		for (size_t i = 0; i < sets; i++)
			if (!b->sums(e, &p[i], grid->frequency + first, count, with_U, s + i * all + first, err))
				return false;
	}
	return true;
}

static bool images_from_sums(const plane *grid, const sums *s, size_t sets, enum estimator estimator, const evidence *e, double epsilon,
                             double *image, ssb_error *err)
{
	double complex *half = fftw_malloc(grid->rows * (grid->columns / 2 + 1) * sizeof *half);
	bool ok = half != NULL;
	for (size_t i = 0; ok && i < sets; i++) {
		fill_spectrum(grid, s + i * grid->frequencies, estimator, e, epsilon, half);
		ok = plane_transform(grid, half, image + i * grid->rows * grid->columns);
	}
	fftw_free(half);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

bool reconstruct_sets(const backend *b, const evidence *e, const optics_parameters *p, size_t sets, enum estimator estimator, size_t factor,
                      double epsilon, double *image, ssb_error *err)
{
	const size_t size = factor * e->scan[0] * factor * e->scan[1];
	bool ok = true;
	if (estimator == ESTIMATOR_MEAN_PHASE) {
		for (size_t i = 0; ok && i < sets; i++)
			ok = b->mean_phase(e, &p[i], factor, image + i * size, NULL, err);
		return ok;
	}
	plane grid;
	if (!plane_make(&grid, e, factor, err))
		return false;
	sums *s = calloc(sets * grid.frequencies + 1, sizeof *s);
	if (!s)
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	ok = s && sum_sets(b, e, p, sets, &grid, estimator == ESTIMATOR_SSB, s, err) &&
	     images_from_sums(&grid, s, sets, estimator, e, epsilon, image, err);
	free(s);
	plane_free(&grid);
	return ok;
}

bool reconstruct(const backend *b, const evidence *e, const optics_parameters *p, enum estimator estimator, size_t factor, double epsilon,
                 double *image, ssb_error *err)
{
	return reconstruct_sets(b, e, p, 1, estimator, factor, epsilon, image, err);
}

bool reconstruct_from_sums(const evidence *e, const frequency *f, const sums *s, size_t count, double epsilon, double *image, ssb_error *err)
{
	const plane grid = {.rows = e->scan[0], .columns = e->scan[1]};
	const size_t half_columns = grid.columns / 2 + 1;
	const double scale = 1 / (e->I0_counts * (double)(grid.rows * grid.columns)), floor = epsilon * largest_W(s, count);
	double complex *half = fftw_malloc(grid.rows * half_columns * sizeof *half);
	if (half)
		memset(half, 0, grid.rows * half_columns * sizeof *half);
	for (size_t i = 0; half && i < count; i++) {
		const int32_t *q = e->q_index[f[i].bin];
		half[(size_t)q[0] * half_columns + (size_t)q[1]] = scale * phi(&s[i], ESTIMATOR_LS, (double)e->pixels, floor);
	}
	const bool ok = half && plane_transform(&grid, half, image);
	fftw_free(half);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double phase_polarity(const double *image, size_t count)
{
	double *sorted = malloc(count * sizeof *sorted);
	if (!sorted)
		return NAN;
	memcpy(sorted, image, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, compare_doubles);
	const double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
	free(sorted);
	double second = 0, third = 0;
	for (size_t i = 0; i < count; i++) {
		const double v = image[i] - median;
		second += v * v;
		third += v * v * v;
	}
	second /= (double)count;
	return second > 0 ? third / (double)count / pow(second, 1.5) : 0;
}
