#include "tools/ssb-prep/transform.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "tools/ssb-prep/dft.h"
#include "tools/ssb-prep/pages.h"
#include "tools/transfer/half.h"
#include "tools/transfer/kernel.h"

enum { AHEAD = 8 };  /* frames that are fetched into the cache ahead of the one that is read */
enum { TASKS = 32 }; /* at most: each has a sum of every bin's power, so that no sum depends on the threads */

typedef struct entry { size_t row, bin; } entry;

struct transform {
	const region *region;
	const bf_pixels *bf;
	const uint64_t *sum;
	size_t rows, columns, half;        /* of the scan; columns of the half plane, up to the last with a bin */
	size_t column_points;              /* of `plane`, between its columns: no power of two, and room for a row beside the last odd one */
	entry *entry;                      /* the bins, by column, then by row */
	size_t *first_entry;               /* half + 1 */
	size_t bins;
	float half_unit;                   /* of G; 0: single precision */
	size_t threads;
	point *scratch;                    /* of each thread: `plane`, half x column_points; then two lines */
	dft *along_row, *along_column;
	size_t tasks;
	double *power;                     /* tasks x bins */
};

/* Pixels of a block that lie together in a frame. */
typedef struct run { uint32_t offset, lane, pixels; } run;

/* Neighbouring BF pixels, one per lane; unused lanes hold 0. */
typedef struct block {
	size_t first, pixels, runs;
	run run[LANES];
	double mean[LANES];
} block;

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t column_points(const size_t scan[2])
{
	return (scan[0] + 1) | 1;
}

static size_t line_points(const size_t scan[2])
{
	return scan[0] > scan[1] ? scan[0] : scan[1];
}

static size_t plane_points(const size_t scan[2])
{
	return (scan[1] / 2 + 1) * column_points(scan);
}

static size_t tasks_of(size_t pixels)
{
	return least((pixels + LANES - 1) / LANES, TASKS);
}

size_t transform_tables(size_t pixels, size_t bins)
{
	return bins * (sizeof(entry) + tasks_of(pixels) * sizeof(double));
}

size_t transform_scratch(const size_t scan[2])
{
	return (plane_points(scan) + 2 * line_points(scan)) * sizeof(point);
}

/* ---- making ---- */

/* A counting sort by column: the bins come by row. */
static bool sort_bins(transform *t, const int32_t (*q_index)[2], size_t bins)
{
	for (size_t i = 0; i < bins; i++)
		t->half = (size_t)q_index[i][1] < t->half ? t->half : (size_t)q_index[i][1] + 1;
	t->entry = malloc((bins + 1) * sizeof *t->entry);
	t->first_entry = calloc(t->half + 2, sizeof *t->first_entry);
	if (!t->entry || !t->first_entry)
		return false;
	for (size_t i = 0; i < bins; i++)
		t->first_entry[q_index[i][1] + 2]++;
	for (size_t c = 0; c < t->half; c++)
		t->first_entry[c + 2] += t->first_entry[c + 1];
	for (size_t i = 0; i < bins; i++)
		t->entry[t->first_entry[q_index[i][1] + 1]++] = (entry){(size_t)q_index[i][0], i};
	return true;
}

transform *transform_new(const region *r, const bf_pixels *bf, const uint64_t *sum, const int32_t (*q_index)[2], size_t bins,
                         double half_unit, size_t threads, ssb_error *err)
{
	transform *t = calloc(1, sizeof *t);
	if (t)
		*t = (transform){.region = r, .bf = bf, .sum = sum, .rows = r->scan[0], .columns = r->scan[1],
		                 .column_points = column_points(r->scan), .bins = bins, .half_unit = (float)half_unit, .threads = threads, .tasks = tasks_of(bf->count)};
	if (t && sort_bins(t, q_index, bins) && (t->scratch = pages_new(threads * transform_scratch(r->scan))) && (t->along_row = dft_new(t->columns)) &&
	    (t->along_column = dft_new(t->rows)) && (t->power = calloc(t->tasks * bins + 1, sizeof *t->power)))
		return t;
	transform_free(t);
	ssb_fail(err, SSB_RUNTIME, "out of memory");
	return NULL;
}

void transform_free(transform *t)
{
	if (!t)
		return;
	free(t->scratch);
	free(t->entry);
	free(t->first_entry);
	free(t->power);
	dft_free(t->along_row);
	dft_free(t->along_column);
	free(t);
}

static void set_block(block *k, const transform *t, size_t first, size_t pixels)
{
	const uint32_t *offset = t->bf->offset + first;
	*k = (block){.first = first, .pixels = pixels};
	for (uint32_t i = 0; i < k->pixels; i++) {
		run *last = k->runs ? &k->run[k->runs - 1] : NULL;
		k->mean[i] = (double)t->sum[first + i] / (double)t->region->valid_positions;
		if (last && offset[i] == last->offset + last->pixels)
			last->pixels++;
		else
			k->run[k->runs++] = (run){offset[i], i, 1};
	}
}

/* ---- from frames to the plane: along the rows of the scan ---- */

typedef union lane_counts {
	char byte[LANES * sizeof(uint32_t)];
	uint8_t u1[LANES];
	uint16_t u2[LANES];
	uint32_t u4[LANES];
} lane_counts;

static void collect(const block *k, const char *frame, size_t ahead, size_t width, lane_counts *counts)
{
	for (size_t i = 0; i < k->runs; i++) {
		const char *from = frame + k->run[i].offset * width;
		__builtin_prefetch(from + ahead);
		__builtin_prefetch(from + ahead + (k->run[i].pixels * width - 1));
		memcpy(counts->byte + k->run[i].lane * width, from, k->run[i].pixels * width);
	}
}

/* Counts less their means, rounded once. */
KERNEL
static void subtract_mean(const block *k, const lane_counts *counts, enum ssb_dtype type, float *restrict out)
{
	if (type == SSB_U1)
		for (size_t i = 0; i < LANES; i++)
			out[i] = (float)(counts->u1[i] - k->mean[i]);
	else if (type == SSB_U2)
		for (size_t i = 0; i < LANES; i++)
			out[i] = (float)(counts->u2[i] - k->mean[i]);
	else
		for (size_t i = 0; i < LANES; i++)
			out[i] = (float)(counts->u4[i] - k->mean[i]);
}

/* Fluctuations of a row of the scan, 0 where there is no frame, to the real parts of `line`, or from line->im on to the imaginary ones. */
static void take_row(const transform *t, const block *k, size_t row, float *part)
{
	enum { STEP = sizeof(point) / sizeof(float) };
	const frame_counts *c = &t->region->counts;
	for (size_t i = 0; i < t->columns;) {
		enum ssb_dtype type;
		lane_counts counts = {{0}};
		const size_t frame = row * t->columns + i, end = least(t->columns, i + c->block_frames - frame % c->block_frames);
		const char *from = counts_frame(c, frame, &type);
		const size_t width = ssb_dtype_size(type), stride = c->frame_elements * width;
		for (; i < end; i++, from += stride) {
			collect(k, from, AHEAD * stride, width, &counts);
			if (t->region->scan_valid[row * t->columns + i])
				subtract_mean(k, &counts, type, part + i * STEP);
			else
				memset(part + i * STEP, 0, LANES * sizeof(float));
		}
	}
}

/* From Z, the transform of x + i y along a row, those of x and y up to column `half`: X(q) = (Z(q) + Z*(-q)) / 2, Y(q) = (Z(q) - Z*(-q)) / 2i. */
KERNEL
static void part_rows(const point *restrict Z, size_t n, size_t half, point *restrict plane, size_t stride)
{
	for (size_t q = 0; q < half; q++) {
		const point *a = Z + q, *b = Z + (q ? n - q : 0);
		point *X = plane + q * stride, *Y = X + 1;
		for (int k = 0; k < LANES; k++) {
			X->re[k] = 0.5f * (a->re[k] + b->re[k]);
			X->im[k] = 0.5f * (a->im[k] - b->im[k]);
			Y->re[k] = 0.5f * (a->im[k] + b->im[k]);
			Y->im[k] = 0.5f * (b->re[k] - a->re[k]);
		}
	}
}

static void fill_plane(const transform *t, const block *k, point *plane, point *line, point *work)
{
	for (size_t row = 0; row < t->rows; row += 2) {
		take_row(t, k, row, line->re);
		if (row + 1 < t->rows)
			take_row(t, k, row + 1, line->im);
		else
			for (size_t i = 0; i < t->columns; i++)
				memset(line[i].im, 0, sizeof line[i].im);
		part_rows(dft_run(t->along_row, line, work), t->columns, t->half, plane + row, t->column_points);
	}
}

/* ---- from the plane to rows of G: along its columns ---- */

KERNEL
static void interleave(const point *restrict from, size_t pixels, float *restrict to)
{
	if (pixels == LANES)
		for (size_t k = 0; k < LANES; k++)
			to[2 * k] = from->re[k], to[2 * k + 1] = from->im[k];
	else
		for (size_t k = 0; k < pixels; k++)
			to[2 * k] = from->re[k], to[2 * k + 1] = from->im[k];
}

/* Pixels first … of a row of G, as it is stored. */
static void put_values(const transform *t, const point *from, size_t first, size_t pixels, void *row)
{
	float values[2 * LANES];
	interleave(from, pixels, t->half_unit ? values : (float *)row + 2 * first);
	if (t->half_unit)
		half_round(values, 2 * pixels, 1 / t->half_unit, (uint16_t *)row + 2 * first);
}

KERNEL
static double power_of(const point *G)
{
	double part[8] = {0};
	for (size_t k = 0; k < LANES; k += 8)
		for (size_t i = 0; i < 8; i++) {
			const double re = G->re[k + i], im = G->im[k + i];
			part[i] += re * re + im * im;
		}
	return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/* power: NULL, or of each bin, to be added to. */
static void empty_plane(const transform *t, const block *k, point *plane, point *work, void *const *row, double *power)
{
	for (size_t c = 0; c < t->half; c++) {
		const entry *e = t->entry + t->first_entry[c], *end = t->entry + t->first_entry[c + 1];
		const point *G = e < end ? dft_run(t->along_column, plane + c * t->column_points, work) : NULL;
		for (; e < end; e++) {
			if (row[e->bin])
				put_values(t, G + e->row, k->first, k->pixels, row[e->bin]);
			if (power)
				power[e->bin] += power_of(G + e->row);
		}
	}
}

/* ---- together ---- */

static void set_zero_frequency(const transform *t, void *const *row, double *power)
{
	for (const entry *e = t->entry; e < t->entry + t->first_entry[1]; e++)
		for (size_t b = 0; e->row == 0 && b < t->bf->count; b++) {
			const point G = {.re = {(float)t->sum[b]}};
			if (row[e->bin])
				put_values(t, &G, b, 1, row[e->bin]);
			if (power)
				power[e->bin] = (b ? power[e->bin] : 0) + (double)G.re[0] * G.re[0];
		}
}

static void transform_block(const transform *t, size_t first, size_t pixels, void *const *row, double *power)
{
	point *plane = t->scratch + (size_t)omp_get_thread_num() * transform_scratch(t->region->scan) / sizeof(point), *line = plane + plane_points(t->region->scan);
	point *work = line + line_points(t->region->scan);
	block k;
	set_block(&k, t, first, pixels);
	fill_plane(t, &k, plane, line, work);
	empty_plane(t, &k, plane, work, row, power);
}

static void sum_power(const transform *t, double *power)
{
	for (size_t i = 0; i < t->bins; i++) {
		power[i] = 0;
		for (size_t task = 0; task < t->tasks; task++)
			power[i] += t->power[task * t->bins + i];
	}
}

/* Each task takes every t->tasks-th block. */
void transform_run(const transform *t, void *const *row, double *power, transform_progress *progress)
{
	const size_t all = t->bf->count;
	size_t done = 0;
	if (power)
		memset(t->power, 0, t->tasks * t->bins * sizeof *t->power);
#pragma omp parallel for schedule(dynamic) num_threads((int)t->threads)
	for (size_t task = 0; task < t->tasks; task++)
		for (size_t first = task * LANES; first < all; first += t->tasks * LANES) {
			const size_t pixels = least(all - first, LANES);
			transform_block(t, first, pixels, row, power ? t->power + task * t->bins : NULL);
			size_t so_far;
#pragma omp atomic capture
			so_far = done += pixels;
			if (progress)
				progress(so_far, all);
		}
	if (power)
		sum_power(t, power);
	set_zero_frequency(t, row, power);
}
