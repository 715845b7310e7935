/* The phase images of single BF pixels on the CPU: their mean and the published variance loss (physics.md sections 4 to 6). */
#include "tools/transfer/cpu.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>
#include "tools/transfer/host.h"
#include "tools/transfer/plane.h"

enum { MOST_PIXELS = 64 };
static const size_t BLOCK_BYTES = (size_t)256 << 20;

/* A block of pixels: their half-plane spectra, transformed in place to images (rows padded to twice the half plane's columns). */
typedef struct pixel_block {
	size_t first, count;
	size_t spectrum_size;   /* complex values of one pixel */
	double complex *spectrum;
} pixel_block;

/* -i G conj(gamma)/|gamma| of the block's pixels at one bin, the Hermitian part where that is wanted. */
static void fill_point(const pixel_block *b, const evidence *e, const pixel_table *t, overlap *o, const plane *p, const plane_point *point)
{
	for (size_t i = point->first; i < point->first + point->count; i++) {
		const frequency *f = &p->frequency[i];
		overlap_select(o, t, f->q, e->row[f->bin] + b->first, f->conjugate);
		overlap_gamma(o, t, f->q);
		for (size_t j = 0; j < o->count; j++) {
			double *bin = (double *)&b->spectrum[o->index[j] * b->spectrum_size + point->at];
			add_sideband(o->G_re[j], o->G_im[j], o->term[0].amplitude[j], o->term[0].phase[j], (double)point->count, &bin[0], &bin[1]);
		}
	}
}

static bool fill_block(const pixel_block *b, const evidence *e, const pixel_table *table, const plane *p)
{
	const pixel_table t = pixel_table_slice(table, b->first, b->count);
	bool ok = true;
	memset(b->spectrum, 0, b->count * b->spectrum_size * sizeof *b->spectrum);
#pragma omp parallel reduction(&& : ok)
	{
		overlap o;
		ok = overlap_make(&o, b->count);
#pragma omp for schedule(dynamic, 64)
		for (size_t i = 0; i < p->points; i++)
			if (ok)
				fill_point(b, e, &t, &o, p, &p->point[i]);
		overlap_free(&o);
	}
	return ok;
}

/* Transform each pixel and add phi and phi^2, pixel after pixel at each position. `dc` and the transforms are sums over N positions:
 * the arc tangent needs their ratio alone. */
static void add_phases(const pixel_block *b, fftw_plan to_image, const plane *p, double dc, double *sum, double *sum_squares)
{
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < b->count; i++) {
		double complex *s = b->spectrum + i * b->spectrum_size;
		fftw_execute_dft_c2r(to_image, s, (double *)s);
	}
	const size_t stride = 2 * (p->columns / 2 + 1);
#pragma omp parallel for
	for (size_t row = 0; row < p->rows; row++)
		for (size_t i = 0; i < b->count; i++) {
			const double *h = (const double *)(b->spectrum + i * b->spectrum_size) + row * stride;
			for (size_t column = 0; column < p->columns; column++) {
				const double phi = atan2(h[column], dc);
				sum[row * p->columns + column] += phi;
				sum_squares[row * p->columns + column] += phi * phi;
			}
		}
}

void mean_phase_finish(double *sum, const double *sum_squares, size_t positions, double pixels, double *variance)
{
	double total = 0;
	for (size_t i = 0; i < positions; i++) {
		sum[i] /= pixels;
		total += sum_squares[i] / pixels - sum[i] * sum[i];
	}
	if (variance)
		*variance = total / (double)positions;
}

double mean_counts(const evidence *e)
{
	double sum = 0;
	for (size_t b = 0; b < e->pixels; b++)
		sum += e->counts[b];
	const double positions = (double)(e->scan[0] * e->scan[1]);
	return sum / (double)e->pixels * positions / (positions - (double)e->filled);
}

bool cpu_mean_phase(const evidence *e, const optics_parameters *parameters, size_t factor, double *image, double *variance, ssb_error *err)
{
	plane p;
	pixel_table table = {0};
	if (!plane_make(&p, e, factor, err))
		return false;
	const size_t size = p.rows * (p.columns / 2 + 1), positions = p.rows * p.columns;
	size_t most = BLOCK_BYTES / (size * sizeof(double complex));
	most = most < 4 ? 4 : most > MOST_PIXELS ? MOST_PIXELS : most;
	pixel_block b = {.spectrum_size = size, .spectrum = fftw_malloc(most * size * sizeof *b.spectrum)};
	double *squares = calloc(positions, sizeof *squares);
	bool ok = b.spectrum && squares && pixel_table_make(&table, e, parameters);
	fftw_plan plan = NULL;
	if (ok) {
		/* The size of one pixel keeps only multiples of 16 bytes: a plan for any alignment */
		plan = fftw_plan_dft_c2r_2d((int)p.rows, (int)p.columns, b.spectrum, (double *)b.spectrum, FFTW_ESTIMATE | FFTW_UNALIGNED);
		ok = plan != NULL;
	}
	memset(image, 0, positions * sizeof *image);
	for (b.first = 0; ok && b.first < e->pixels; b.first += b.count) {
		b.count = e->pixels - b.first < most ? e->pixels - b.first : most;
		ok = fill_block(&b, e, &table, &p);
		if (ok)
			add_phases(&b, plan, &p, mean_counts(e), image, squares);
	}
	if (ok)
		mean_phase_finish(image, squares, positions, (double)e->pixels, variance);
	if (plan)
		fftw_destroy_plan(plan);
	fftw_free(b.spectrum);
	free(squares);
	pixel_table_free(&table);
	plane_free(&p);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}
