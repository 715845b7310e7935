#include "tools/ssb-prep/transform.h"

#include <fftw3.h>
#include <omp.h>
#include <stdlib.h>

/* Pixels transformed together, so that a scatter writes runs of 256 bytes; frames gathered together, so that a tile stays in cache. */
enum { BLOCK = 32, TILE = 64 };

struct transform {
	const region *region;
	const bf_pixels *bf;
	const uint64_t *sum;
	size_t columns;                    /* of the half plane */
	size_t in_stride, out_stride;      /* elements between the pixels of a block: no power of two, same alignment */
	size_t threads;
	float *in;                         /* threads x BLOCK x in_stride */
	fftwf_complex *out;                /* threads x BLOCK x out_stride */
	fftwf_plan plan;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Up to a whole cache line, plus one line: streams a power of two apart fall into one cache set. */
static size_t pad(size_t elements, size_t per_line)
{
	return (elements + per_line - 1) / per_line * per_line + per_line;
}

static size_t in_stride(const size_t scan[2])
{
	return pad(scan[0] * scan[1], 16);
}

static size_t out_stride(const size_t scan[2])
{
	return pad(scan[0] * (scan[1] / 2 + 1), 8);
}

size_t transform_scratch(const size_t scan[2])
{
	return BLOCK * (in_stride(scan) * sizeof(float) + out_stride(scan) * sizeof(fftwf_complex));
}

transform *transform_new(const region *r, const bf_pixels *bf, const uint64_t *sum, size_t threads, ssb_error *err)
{
	transform *t = calloc(1, sizeof *t);
	if (t) {
		*t = (transform){.region = r, .bf = bf, .sum = sum, .columns = r->scan[1] / 2 + 1, .in_stride = in_stride(r->scan),
		                 .out_stride = out_stride(r->scan), .threads = threads};
		t->in = fftwf_malloc(threads * BLOCK * t->in_stride * sizeof *t->in);
		t->out = fftwf_malloc(threads * BLOCK * t->out_stride * sizeof *t->out);
		/* FFTW_ESTIMATE measures nothing: the same plan, and so the same rounding, in every run. */
		if (t->in && t->out)
			t->plan = fftwf_plan_dft_r2c_2d((int)r->scan[0], (int)r->scan[1], t->in, t->out, FFTW_ESTIMATE);
	}
	if (t && t->plan)
		return t;
	transform_free(t);
	ssb_fail(err, SSB_RUNTIME, "out of memory");
	return NULL;
}

void transform_free(transform *t)
{
	if (!t)
		return;
	fftwf_destroy_plan(t->plan);
	fftwf_free(t->in);
	fftwf_free(t->out);
	free(t);
}

/* Fluctuations of pixels first … first + pixels, pixel-major into `in`. */
static void gather(const transform *t, size_t first, size_t pixels, float *in)
{
	const region *r = t->region;
	const size_t frames = r->counts.frames;
	uint32_t tile[TILE][BLOCK];
	double mean[BLOCK];
	for (size_t p = 0; p < pixels; p++)
		mean[p] = (double)t->sum[first + p] / (double)r->valid_positions;
	for (size_t start = 0; start < frames; start += TILE) {
		const size_t tall = least(frames - start, TILE);
		for (size_t i = 0; i < tall; i++)
			counts_gather(&r->counts, start + i, t->bf->offset + first, pixels, tile[i]);
		for (size_t p = 0; p < pixels; p++)
			for (size_t i = 0; i < tall; i++)
				in[p * t->in_stride + start + i] = r->scan_valid[start + i] ? (float)(tile[i][p] - mean[p]) : 0;
	}
}

static void scatter(const transform *t, const fftwf_complex *out, const int32_t (*q_index)[2], size_t bins, size_t first, size_t pixels,
                    float complex *G)
{
	for (size_t i = 0; i < bins; i++) {
		const fftwf_complex *from = out + (size_t)q_index[i][0] * t->columns + (size_t)q_index[i][1];
		for (size_t p = 0; p < pixels; p++)
			G[i * t->bf->count + first + p] = from[p * t->out_stride];
	}
}

void transform_bins(const transform *t, const int32_t (*q_index)[2], size_t bins, float complex *G, transform_progress *progress)
{
	const size_t all = t->bf->count;
	size_t done = 0;
#pragma omp parallel for schedule(dynamic) num_threads((int)t->threads)
	for (size_t first = 0; first < all; first += BLOCK) {
		const size_t pixels = least(all - first, BLOCK), me = (size_t)omp_get_thread_num();
		float *in = t->in + me * BLOCK * t->in_stride;
		fftwf_complex *out = t->out + me * BLOCK * t->out_stride;
		gather(t, first, pixels, in);
		for (size_t p = 0; p < pixels; p++)
			fftwf_execute_dft_r2c(t->plan, in + p * t->in_stride, out + p * t->out_stride);
		scatter(t, out, q_index, bins, first, pixels, G);
		size_t so_far;
#pragma omp atomic capture
		so_far = done += pixels;
		if (progress)
			progress(so_far, all);
	}
	for (size_t i = 0; i < bins; i++)
		for (size_t b = 0; q_index[i][0] == 0 && q_index[i][1] == 0 && b < all; b++)
			G[i * all + b] = (float)t->sum[b];
}
