/* The phase images of single BF pixels on the CPU: their mean and the published variance loss (physics.md sections 4 to 6). */
#include "tools/transfer/cpu.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>
#include "tools/transfer/arctangent.h"
#include "tools/transfer/gamma.h"
#include "tools/transfer/host.h"
#include "tools/transfer/plane.h"

enum { MOST_PAIRS = 128 };
static const size_t BLOCK_BYTES = (size_t)256 << 20;

/* A block of pixels: two of them share a plane, h_a + i h_b, which one complex transform takes to both real images (twice as fast as
 * a transform to real values for each). In float as G is: what rounding adds to a phase is far below what one count does, and is
 * averaged over all of them. */
typedef struct pixel_block {
	size_t first, count;
	size_t plane_size;     /* complex values of one pair */
	float complex *plane;
} pixel_block;

/* An odd number of cache lines apart, lest one bin of all pixels falls into a few sets of the cache; aligned alike for the transform. */
static size_t padded_size(size_t values)
{
	const size_t line = 64 / sizeof(float complex);
	return ((values + line - 1) / line | 1) * line;
}

/* -i G conj(gamma)/|gamma| over G */
KERNEL static void sidebands(double *restrict G_re, double *restrict G_im, const double *restrict g_re, const double *restrict g_im,
                             double share, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double re = 0, im = 0;
		add_sideband(G_re[i], G_im[i], g_re[i], g_im[i], share, &re, &im);
		G_re[i] = re;
		G_im[i] = im;
	}
}

/* Whether a bin's mirror is in the half plane, too: the first and the Nyquist column. */
static bool mirror_listed(const plane *p, const plane_point *point)
{
	const size_t column = point->at % (p->columns / 2 + 1);
	return column == 0 || 2 * column == p->columns;
}

/* One bin of the block's pixels and its mirror, which makes the images real: the Hermitian part where both are listed, or both signs
 * of a Nyquist frequency. */
static void fill_point(const pixel_block *b, const evidence *e, const pixel_table *t, overlap *o, const plane *p, const plane_point *point,
                       float complex *scratch)
{
	const size_t row = point->at / (p->columns / 2 + 1), column = point->at % (p->columns / 2 + 1);
	const size_t at = row * p->columns + column;
	const size_t mirror = (p->rows - row) % p->rows * p->columns + (p->columns - column) % p->columns;
	const double share = (double)point->count * (mirror_listed(p, point) ? 2 : 1);
	for (size_t i = point->first; i < point->first + point->count; i++) {
		const frequency *f = &p->frequency[i];
		overlap_select(o, t, f->q, evidence_G(e, f->bin, b->first, b->count, scratch), f->conjugate);
		overlap_gamma(o, t, f->q);
		sidebands(o->G_re, o->G_im, o->term[0].amplitude, o->term[0].phase, share, o->count);
		for (size_t j = 0; j < o->count; j++) {
			float complex *pair = b->plane + o->index[j] / 2 * b->plane_size;
			const float complex h = CMPLXF((float)o->G_re[j], (float)o->G_im[j]);
			pair[at] += o->index[j] % 2 ? CMPLXF(-cimagf(h), crealf(h)) : h;
			pair[mirror] += o->index[j] % 2 ? CMPLXF(cimagf(h), crealf(h)) : conjf(h);
		}
	}
}

static bool fill_block(const pixel_block *b, const evidence *e, const pixel_table *table, const plane *p)
{
	const pixel_table t = pixel_table_slice(table, b->first, b->count);
	bool ok = true;
	memset(b->plane, 0, (b->count + 1) / 2 * b->plane_size * sizeof *b->plane);
#pragma omp parallel reduction(&& : ok)
	{
		overlap o;
		float complex *scratch = malloc(b->count * sizeof *scratch);
		ok = overlap_make(&o, b->count) && scratch;
#pragma omp for schedule(dynamic, 64)
		for (size_t i = 0; i < p->points; i++)
			if (ok && !mirror_listed(p, &p->point[i]))
				fill_point(b, e, &t, &o, p, &p->point[i], scratch);
#pragma omp single /* two bins write to one place: always in the same order */
		for (size_t i = 0; i < p->points; i++)
			if (ok && mirror_listed(p, &p->point[i]))
				fill_point(b, e, &t, &o, p, &p->point[i], scratch);
		overlap_free(&o);
		free(scratch);
	}
	return ok;
}

/* Add phi and phi^2 of one row of two pixels. */
KERNEL static void add_row(const float *restrict h, float dc, size_t columns, double *restrict sum, double *restrict squares)
{
	for (size_t i = 0; i < columns; i++) {
		const double phi[2] = {arc_tangent(h[2 * i], dc), arc_tangent(h[2 * i + 1], dc)};
		sum[i] += phi[0] + phi[1];
		squares[i] += phi[0] * phi[0] + phi[1] * phi[1];
	}
}

/* Transform each pair and add its phases, pair after pair at each position. `dc` and the transforms are sums over N positions: the arc
 * tangent needs their ratio alone. */
static void add_phases(const pixel_block *b, fftwf_plan to_images, const plane *p, double dc, double *sum, double *sum_squares)
{
	const size_t pairs = (b->count + 1) / 2;
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < pairs; i++)
		fftwf_execute_dft(to_images, b->plane + i * b->plane_size, b->plane + i * b->plane_size);
#pragma omp parallel for
	for (size_t row = 0; row < p->rows; row++)
		for (size_t i = 0; i < pairs; i++)
			add_row((const float *)(b->plane + i * b->plane_size + row * p->columns), (float)dc, p->columns, sum + row * p->columns,
			        sum_squares + row * p->columns);
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
	const size_t positions = p.rows * p.columns, size = padded_size(positions);
	size_t pairs = BLOCK_BYTES / (size * sizeof(float complex));
	pairs = pairs < 2 ? 2 : pairs > MOST_PAIRS ? MOST_PAIRS : pairs;
	pixel_block b = {.plane_size = size, .plane = fftwf_malloc(pairs * size * sizeof *b.plane)};
	double *squares = calloc(positions, sizeof *squares);
	bool ok = b.plane && squares && pixel_table_make(&table, e, parameters);
	fftwf_plan plan = ok ? fftwf_plan_dft_2d((int)p.rows, (int)p.columns, b.plane, b.plane, FFTW_BACKWARD, FFTW_ESTIMATE) : NULL;
	ok = plan != NULL;
	memset(image, 0, positions * sizeof *image);
	for (b.first = 0; ok && b.first < e->pixels; b.first += b.count) {
		b.count = e->pixels - b.first < 2 * pairs ? e->pixels - b.first : 2 * pairs;
		ok = fill_block(&b, e, &table, &p);
		if (ok)
			add_phases(&b, plan, &p, mean_counts(e), image, squares);
	}
	if (ok)
		mean_phase_finish(image, squares, positions, (double)e->pixels, variance);
	if (plan)
		fftwf_destroy_plan(plan);
	fftwf_free(b.plane);
	free(squares);
	pixel_table_free(&table);
	plane_free(&p);
	return ok ? evidence_is_sound(e, err) : ssb_fail(err, SSB_RUNTIME, "out of memory");
}
