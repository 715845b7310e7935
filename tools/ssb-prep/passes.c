#include "tools/ssb-prep/passes.h"

#include <stdlib.h>
#include <string.h>
#include "tools/common/profile.h"
#include "tools/ssb-prep/pages.h"
#include "tools/transfer/half.h"

static size_t chunk_bins(size_t pixels)
{
	const size_t bins = CHUNK_BYTES / (pixels * sizeof(float complex));
	return bins ? bins : 1;
}

/* What is kept of every bin beside G: tables of the transform, two places for its row, its excess. */
static size_t bookkeeping(size_t pixels, size_t bins)
{
	return transform_tables(pixels, bins) + bins * (2 * sizeof(void *) + sizeof(double));
}

size_t passes_least_memory(const size_t scan[2], size_t pixels, size_t bins)
{
	return transform_scratch(scan) + chunk_bins(pixels) * pixels * sizeof(float complex) + bookkeeping(pixels, bins);
}

/* Bins of a pass with so many bytes of G: all, or as many whole chunks as fit, at least one. */
static size_t bins_at_once(const passes *p, size_t bytes)
{
	const size_t bins = bytes / p->row_bytes, chunks = bins / p->chunk_bins;
	return bins >= p->bins ? p->bins : (chunks ? chunks : 1) * p->chunk_bins;
}

/* The number of threads for which passes take the least time: each needs scratch memory, which G then lacks. */
static size_t plan_threads(passes *p, passes_memory memory, size_t scratch, size_t most)
{
	double least = 0;
	size_t best = 1;
	for (size_t threads = most; threads > 0; threads--) {
		const size_t left = memory.most > threads * scratch ? memory.most - threads * scratch : 0;
		const size_t at_once = bins_at_once(p, left < memory.cache ? left : memory.cache);
		const size_t rounds = p->bins > at_once ? (p->bins - 1) / at_once + 1 : 1;
		const double time = (double)rounds / (double)threads;
		if (threads > 1 && left < p->chunk_bins * p->row_bytes)
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
                 passes_memory memory, double half_unit, size_t threads, transform_progress *progress, ssb_error *err)
{
	*p = (passes){.bins = bins, .pixels = bf->count, .chunk_bins = chunk_bins(bf->count), .progress = progress,
	              .half_unit = half_unit, .row_bytes = bf->count * (half_unit ? sizeof(float) : sizeof(float complex))};
	const size_t beside = bookkeeping(bf->count, bins) + memory.reserve;
	memory.most -= memory.most > beside ? beside : 0;
	threads = plan_threads(p, memory, transform_scratch(r->scan), threads);
	const size_t bytes = p->bins_at_once * p->row_bytes;
	p->transform = transform_new(r, bf, sum, q_index, bins, half_unit, threads, err);
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
		p->row[i] = i >= first && i - first < p->held ? p->G + (i - first) * p->row_bytes : NULL;
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
	pages_drop(p->G, p->dropped * p->row_bytes, (end - p->first) * p->row_bytes);
	p->dropped = end - p->first;
}

void passes_begin(passes *p, double *power)
{
	take(p, 0, power);
}

/* Bins that are not held come to where they belong in `rows`, as they are stored. */
static void transform_again(passes *p, const size_t *bin, size_t count, char *rows, void **to)
{
	bool all_held = true;
	for (size_t i = 0; i < count; i++)
		if (!p->row[bin[i]]) {
			to[bin[i]] = rows + i * p->row_bytes;
			all_held = false;
		}
	if (!all_held)
		transform_run(p->transform, to, NULL, p->progress);
}

bool passes_copy(passes *p, const size_t *bin, size_t count, float complex *out)
{
	void **to = calloc(p->bins + 1, sizeof *to);
	char *halves = p->half_unit ? malloc(count * p->row_bytes + 1) : NULL, *rows = halves ? halves : (char *)out;
	const bool ok = to && (halves || !p->half_unit);
	if (ok)
		transform_again(p, bin, count, rows, to);
	for (size_t i = 0; ok && i < count; i++) {
		const void *stored = p->row[bin[i]] ? p->row[bin[i]] : rows + i * p->row_bytes;
		if (p->half_unit)
			half_expand(stored, 2 * p->pixels, (float)p->half_unit, (float *)(out + i * p->pixels));
		else if (p->row[bin[i]])
			memcpy(out + i * p->pixels, stored, p->row_bytes);
	}
	free(halves);
	free(to);
	return ok;
}
