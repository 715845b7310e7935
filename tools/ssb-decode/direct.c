#include "tools/ssb-decode/direct.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/profile.h"
#include "tools/ssb-decode/frame_reader.h"

/* What one thread works with. Its chunk's elements are single bytes or as wide as the file's: widened when a block needs it, and narrowed in
 * the end to what all blocks needed, which is what the next chunk begins with. */
typedef struct worker {
	const region_plan *plan;
	const acquisition *a;
	frame_reader *reader;
	pixel_tally tally;
	uint64_t *frame;         /* those of the present chunk that are valid */
	size_t *position;        /* of each, in the chunk */
	size_t count;
	uint8_t *chunk;          /* NULL: frames are only summed */
	size_t width, needed;    /* bytes of its elements now, and the most that a block needed */
	uint8_t *cleared, *converted; /* room for a frame each: a block without bad pixels, and in the chunk's width */
	size_t frame_elements;   /* of the region */
	size_t chunk_elements;
	size_t present;          /* the position in the chunk that blocks go to */
} worker;

/* The first chunk that fails decides what is said, whatever the number of threads: set in the order of chunks, looked at any time. */
typedef struct outcome { bool failed; ssb_error *err; } outcome;

static bool has_failed(const outcome *out)
{
	bool failed;
#pragma omp atomic read
	failed = out->failed;
	return failed;
}

static void conclude(outcome *out, bool ok, const ssb_error *err)
{
	if (ok || has_failed(out))
		return;
	*out->err = *err;
#pragma omp atomic write
	out->failed = true;
}

static size_t worker_memory(const acquisition *a, const region_plan *plan, size_t chunk_frames)
{
	const size_t elements = plan->pixels.shape[0] * plan->pixels.shape[1];
	return frame_reader_memory(a) + pixel_tally_memory(a->rows * a->columns, a->element_size) +
	       2 * a->rows * a->columns * a->element_size + chunk_frames * (elements * a->element_size + sizeof(uint64_t) + sizeof(size_t));
}

/* As many threads as there are processors, and memory for; each takes `bytes`. */
static int thread_count(const region_plan *plan, size_t bytes)
{
	const size_t fitting = plan->memory / 2 / bytes, most = (size_t)omp_get_max_threads();
	return (int)(fitting < 1 ? 1 : fitting < most ? fitting : most);
}

static void worker_free(worker *w)
{
	frame_reader_free(w->reader);
	pixel_tally_free(&w->tally);
	free(w->frame);
	free(w->position);
	free(w->chunk);
	free(w->cleared);
	free(w->converted);
}

static bool worker_new(worker *w, const region_plan *plan, const acquisition *a, const frame_source *source, pixel_sums *sums, ssb_error *err)
{
	*w = (worker){.plan = plan, .a = a, .frame_elements = plan->pixels.shape[0] * plan->pixels.shape[1]};
	w->reader = frame_reader_new(a, source, err);
	return w->reader && pixel_tally_new(&w->tally, sums, a->element_size, err);
}

static bool worker_make_chunk(worker *w, size_t frames, ssb_error *err)
{
	w->chunk_elements = frames * w->frame_elements;
	w->frame = malloc(frames * sizeof *w->frame);
	w->position = malloc(frames * sizeof *w->position);
	w->chunk = malloc(w->chunk_elements * w->a->element_size);
	w->cleared = malloc(w->a->rows * w->a->columns * w->a->element_size);
	w->converted = malloc(w->a->rows * w->a->columns * w->a->element_size);
	w->needed = 1;
	return (w->frame && w->position && w->chunk && w->cleared && w->converted) || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

/* ---- blocks ---- */

static void begin_frame(void *context, size_t i)
{
	worker *const w = context;
	pixel_tally_frame(&w->tally);
	w->present = w->chunk ? w->position[i] : 0;
}

static void widen_chunk(worker *w)
{
	elements_widen(w->chunk, w->chunk_elements, w->chunk, w->a->element_size);
	w->width = w->a->element_size;
}

static void convert_block(worker *w, bitshuffle_block *block)
{
	if (block->width < w->width) {
		elements_widen(block->elements, block->count, w->converted, w->width);
	} else {
		memcpy(w->converted, block->elements, block->count * block->width);
		elements_narrow(w->converted, block->count, block->width, w->width);
	}
	block->width = w->width;
	block->elements = w->converted;
}

static void take_block(void *context, const bitshuffle_block *block)
{
	worker *const w = context;
	const box *const region = &w->plan->pixels;
	const size_t columns = w->a->columns;
	bitshuffle_block part = *block;
	pixel_tally_add(&w->tally, block);
	if (!w->chunk || block->first >= (region->origin[0] + region->shape[0]) * columns || block->first + block->count <= region->origin[0] * columns)
		return;
	if (w->plan->policy == BAD_ZERO) {
		pixel_clear_bad(w->plan->flags, w->a->element_size, block, w->cleared);
		part.elements = w->cleared;
	}
	const size_t needed = pixel_cut_width(region, columns, &part);
	w->needed = needed > w->needed ? needed : w->needed;
	if (needed > w->width)
		widen_chunk(w);
	if (needed > 0 && block->width != w->width)
		convert_block(w, &part);
	part.width = needed ? w->width : 0;
	pixel_cut_block(region, columns, &part, w->chunk + w->present * w->frame_elements * w->width, w->width);
}

/* ---- chunks ---- */

/* Frames of positions first … first + count - 1 to the chunk; those without a frame are zeros. */
static bool fill_chunk(worker *w, size_t first, size_t count, ssb_error *err)
{
	const frame_sink sink = {begin_frame, take_block, w};
	w->count = 0;
	w->width = w->needed > 1 ? w->a->element_size : 1;
	w->needed = 1;
	for (size_t p = 0; p < count; p++)
		if (w->plan->valid[first + p]) {
			w->frame[w->count] = region_frame(w->plan, first + p);
			w->position[w->count++] = p;
		} else {
			memset(w->chunk + p * w->frame_elements * w->width, 0, w->frame_elements * w->width);
		}
	w->chunk_elements = count * w->frame_elements;
	if (!frame_reader_run(w->reader, w->frame, w->count, &sink, err))
		return false;
	if (w->needed < w->width)
		elements_narrow(w->chunk, w->chunk_elements, w->width, w->needed);
	w->width = w->needed;
	return true;
}

bool direct_write(const region_plan *plan, const acquisition *a, const frame_source *source, size_t chunk_frames, ssb_writer *writer,
                  pixel_sums *sums, ssb_error *err)
{
	const size_t all = region_positions(plan);
	outcome out = {false, err};
	profile_phase("decode"); /* writing goes on in it, too */
#pragma omp parallel num_threads(thread_count(plan, worker_memory(a, plan, chunk_frames)))
	{
		worker w;
		ssb_error own;
		const bool made = worker_new(&w, plan, a, source, sums, &own) && worker_make_chunk(&w, chunk_frames, &own);
#pragma omp for ordered schedule(dynamic, 1)
		for (size_t first = 0; first < all; first += chunk_frames) {
			const size_t count = all - first < chunk_frames ? all - first : chunk_frames;
			bool ok = made && !has_failed(&out) && fill_chunk(&w, first, count, &own);
#pragma omp ordered
			{
				if (!has_failed(&out)) {
					ok = ok && ssb_write_chunk(writer, w.chunk, w.width == 1 ? SSB_U1 : w.width == 2 ? SSB_U2 : SSB_U4, &own);
					conclude(&out, ok, &own);
				}
				message_progress("decoding", first + count, all);
			}
		}
		if (made)
			pixel_tally_flush(&w.tally);
		worker_free(&w);
	}
	message_progress("decoding", 0, 0);
	profile_phase("write");
	return !out.failed;
}

bool direct_sum(const region_plan *plan, const acquisition *a, const frame_source *source, const uint64_t *frames, size_t count,
                pixel_sums *sums, ssb_error *err)
{
	enum { TOGETHER = 64 };
	outcome out = {false, err};
#pragma omp parallel num_threads(thread_count(plan, worker_memory(a, plan, 0)))
	{
		worker w;
		ssb_error own;
		const bool made = worker_new(&w, plan, a, source, sums, &own);
		const frame_sink sink = {begin_frame, take_block, &w};
#pragma omp for ordered schedule(dynamic, 1)
		for (size_t i = 0; i < count; i += TOGETHER) {
			const bool ok = made && frame_reader_run(w.reader, frames + i, count - i < TOGETHER ? count - i : TOGETHER, &sink, &own);
#pragma omp ordered
			conclude(&out, ok, &own);
		}
		if (made)
			pixel_tally_flush(&w.tally);
		worker_free(&w);
	}
	return !out.failed;
}
