#include "tools/ssb-prep/passes.h"

#include <stdlib.h>
#include "tools/common/profile.h"

enum { CHUNK_BYTES = 4 << 20 };

static size_t chunk_bins(size_t pixels)
{
	const size_t bins = CHUNK_BYTES / (pixels * sizeof(float complex));
	return bins ? bins : 1;
}

size_t passes_least_memory(const size_t scan[2], size_t pixels)
{
	return transform_scratch(scan) + chunk_bins(pixels) * pixels * sizeof(float complex);
}

/* As many threads as leave half of the memory to G. */
static size_t usable_threads(size_t threads, size_t scratch, size_t memory)
{
	while (threads > 1 && threads * scratch > memory / 2)
		threads--;
	return threads;
}

/* Bins of a pass: all, or as many whole chunks as fit, at least one. */
static size_t bins_at_once(const passes *p, size_t memory, size_t reserve)
{
	const size_t row = p->pixels * sizeof *p->G;
	if (p->bins <= memory / row)
		return p->bins;
	const size_t chunks = memory > reserve ? (memory - reserve) / row / p->chunk_bins : 0;
	return (chunks ? chunks : 1) * p->chunk_bins;
}

bool passes_plan(passes *p, const region *r, const bf_pixels *bf, const uint64_t *sum, const int32_t (*q_index)[2], size_t bins,
                 size_t memory, size_t reserve, size_t threads, transform_progress *progress, ssb_error *err)
{
	const size_t scratch = transform_scratch(r->scan);
	*p = (passes){.q_index = q_index, .bins = bins, .pixels = bf->count, .chunk_bins = chunk_bins(bf->count), .progress = progress};
	threads = usable_threads(threads, scratch, memory);
	p->bins_at_once = bins_at_once(p, memory > threads * scratch ? memory - threads * scratch : 0, reserve);
	const size_t bytes = p->bins_at_once * p->pixels * sizeof *p->G;
	p->transform = transform_new(r, bf, sum, threads, err);
	p->G = malloc(bytes ? bytes : 1);
	if (p->transform && !p->G)
		ssb_fail(err, SSB_RUNTIME, "out of memory for %zu MB of the spectrum", bytes >> 20);
	return p->transform && p->G;
}

void passes_free(passes *p)
{
	transform_free(p->transform);
	free(p->G);
}

void passes_take(passes *p, size_t first)
{
	if (p->held && p->first == first)
		return;
	p->first = first;
	p->held = p->bins - first < p->bins_at_once ? p->bins - first : p->bins_at_once;
	profile_phase("transform");
	transform_bins(p->transform, p->q_index + first, p->held, p->G, p->progress);
}
