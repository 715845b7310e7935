#include "tools/ssb-prep/passes.h"

#include <stdlib.h>
#include "tools/common/profile.h"
#include "tools/ssb-prep/pages.h"

static size_t chunk_bins(size_t pixels)
{
	const size_t bins = CHUNK_BYTES / (pixels * sizeof(float complex));
	return bins ? bins : 1;
}

size_t passes_chunk_bytes(size_t pixels)
{
	return chunk_bins(pixels) * pixels * sizeof(float complex);
}

/* What is kept of every bin beside G: tables of the transform, two places for its row, its excess. */
static size_t bookkeeping(size_t pixels, size_t bins)
{
	return transform_tables(pixels, bins) + bins * (2 * sizeof(float complex *) + sizeof(double));
}

size_t passes_least_memory(const size_t scan[2], size_t pixels, size_t bins)
{
	return transform_scratch(scan) + passes_chunk_bytes(pixels) + bookkeeping(pixels, bins);
}

/* Bins of a pass with so many bytes of G: all, or as many whole chunks as fit, at least one. */
static size_t bins_at_once(const passes *p, size_t bytes, size_t reserve)
{
	const size_t row = p->pixels * sizeof *p->G;
	if (p->bins <= bytes / row)
		return p->bins;
	const size_t chunks = bytes > reserve ? (bytes - reserve) / row / p->chunk_bins : 0;
	return (chunks ? chunks : 1) * p->chunk_bins;
}

/* The number of threads for which passes take the least time: each needs scratch memory, which G then lacks. */
static size_t plan_threads(passes *p, passes_memory memory, size_t scratch, size_t most)
{
	double least = 0;
	size_t best = 1;
	for (size_t threads = most; threads > 0; threads--) {
		const size_t left = memory.most > threads * scratch ? memory.most - threads * scratch : 0;
		const size_t at_once = bins_at_once(p, left < memory.cache ? left : memory.cache, memory.reserve);
		const size_t rounds = p->bins > at_once ? (p->bins - 1) / at_once + 1 : 1;
		const double time = (double)rounds / (double)threads;
		if (threads > 1 && left == 0)
			continue;
		if (!least || time < least) {
			least = time;
			best = threads;
			p->bins_at_once = at_once;
		}
	}
	return best;
}

bool passes_plan(passes *p, const region *r, const bf_pixels *bf, const uint64_t *sum, const int32_t (*q_index)[2], size_t bins,
                 passes_memory memory, size_t threads, transform_progress *progress, ssb_error *err)
{
	*p = (passes){.bins = bins, .pixels = bf->count, .chunk_bins = chunk_bins(bf->count), .progress = progress};
	memory.most -= memory.most > bookkeeping(bf->count, bins) ? bookkeeping(bf->count, bins) : 0;
	threads = plan_threads(p, memory, transform_scratch(r->scan), threads);
	const size_t bytes = p->bins_at_once * p->pixels * sizeof *p->G;
	p->transform = transform_new(r, bf, sum, q_index, bins, threads, err);
	p->G = pages_new(bytes);
	p->row = malloc((bins + 1) * sizeof *p->row);
	if (p->transform && (!p->G || !p->row))
		ssb_fail(err, SSB_RUNTIME, "out of memory for %zu MB of the spectrum", bytes >> 20);
	return p->transform && p->G && p->row;
}

void passes_free(passes *p)
{
	transform_free(p->transform);
	free(p->G);
	free(p->row);
}

static void take(passes *p, size_t first, double *power)
{
	p->first = first;
	p->dropped = 0;
	p->held = p->bins - first < p->bins_at_once ? p->bins - first : p->bins_at_once;
	for (size_t i = 0; i < p->bins; i++)
		p->row[i] = i >= first && i - first < p->held ? p->G + (i - first) * p->pixels : NULL;
	profile_phase("transform");
	transform_run(p->transform, p->row, power, p->progress);
}

void passes_take(passes *p, size_t first)
{
	if (!p->held || p->first != first || p->dropped)
		take(p, first, NULL);
}

void passes_drop(passes *p, size_t end)
{
	const size_t row = p->pixels * sizeof *p->G;
	pages_drop(p->G, p->dropped * row, (end - p->first) * row);
	p->dropped = end - p->first;
}

void passes_begin(passes *p, double *power)
{
	take(p, 0, power);
}

bool passes_fetch(passes *p, const size_t *bin, size_t count, float complex *aside, const float complex **row)
{
	bool all_held = true;
	float complex **to = calloc(p->bins + 1, sizeof *to);
	for (size_t i = 0; to && i < count; i++) {
		const bool held = bin[i] >= p->first && bin[i] - p->first < p->held;
		row[i] = held ? p->G + (bin[i] - p->first) * p->pixels : aside + i * p->pixels;
		to[bin[i]] = held ? NULL : aside + i * p->pixels;
		all_held &= held;
	}
	if (to && !all_held)
		transform_run(p->transform, to, NULL, p->progress);
	free(to);
	return to;
}
