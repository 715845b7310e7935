#include "tools/ssb-decode/chunk_decoder.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Made for a packing, made again when that changes. */
struct chunk_unpacker {
	chunk_packing packing;
	bitshuffle_decoder *bitshuffle;
	uint8_t *raw;
};

struct chunk_decoder {
	size_t threads;
	chunk_unpacker *thread;
	uint8_t *arena;
	size_t arena_size;
};

chunk_decoder *chunk_decoder_new(ssb_error *err)
{
	chunk_decoder *const decoder = calloc(1, sizeof *decoder);
	if (decoder) {
		decoder->threads = (size_t)omp_get_max_threads();
		decoder->thread = calloc(decoder->threads, sizeof *decoder->thread);
	}
	if (decoder && decoder->thread)
		return decoder;
	chunk_decoder_free(decoder);
	return ssb_fail(err, SSB_RUNTIME, "out of memory"), NULL;
}

static void thread_clear(chunk_unpacker *state)
{
	bitshuffle_decoder_free(state->bitshuffle);
	free(state->raw);
	state->bitshuffle = NULL;
	state->raw = NULL;
	state->packing = (chunk_packing){0};
}

void chunk_decoder_free(chunk_decoder *decoder)
{
	if (!decoder)
		return;
	for (size_t i = 0; decoder->thread && i < decoder->threads; i++)
		thread_clear(&decoder->thread[i]);
	free(decoder->thread);
	free(decoder->arena);
	free(decoder);
}

uint8_t *chunk_decoder_arena(chunk_decoder *decoder, size_t size, ssb_error *err)
{
	if (size <= decoder->arena_size)
		return decoder->arena;
	free(decoder->arena);
	decoder->arena_size = 0;
	decoder->arena = malloc(size);
	if (!decoder->arena)
		return ssb_fail_errno(err, "%zu bytes for chunks", size), NULL;
	decoder->arena_size = size;
	return decoder->arena;
}

static bool same_packing(const chunk_packing *a, const chunk_packing *b)
{
	return a->filter == b->filter && a->compressor == b->compressor && a->element_size == b->element_size &&
	       a->block_elements == b->block_elements && a->raw_size == b->raw_size;
}

static bool prepare(chunk_unpacker *state, const chunk_packing *packing, ssb_error *err)
{
	if (same_packing(&state->packing, packing))
		return true;
	thread_clear(state);
	if (packing->filter == CHUNK_BITSHUFFLE &&
	    !(state->bitshuffle = bitshuffle_decoder_new(packing->element_size, packing->compressor, packing->block_elements, err)))
		return false;
	state->packing = *packing;
	return true;
}

static bool reserve_raw(chunk_unpacker *state, ssb_error *err)
{
	if (!state->raw && !(state->raw = malloc(state->packing.raw_size)))
		return ssb_fail_errno(err, "chunk of %zu bytes", state->packing.raw_size);
	return true;
}

static bool decode(chunk_unpacker *state, const chunk_job *job, uint8_t *raw, ssb_error *err)
{
	const chunk_packing *const p = &state->packing;
	if (p->filter == CHUNK_BITSHUFFLE && !job->plain)
		return bitshuffle_decode(state->bitshuffle, job->stored, job->stored_size, raw, p->raw_size, job->first, job->count, err);
	if (p->filter == CHUNK_LZ4 && !job->plain)
		return lz4_chunk_decode(job->stored, job->stored_size, raw, p->raw_size, err);
	if (job->stored_size != p->raw_size)
		return ssb_fail(err, SSB_BAD_INPUT, "chunk holds %zu bytes, not %zu", job->stored_size, p->raw_size);
	memcpy(raw, job->stored, p->raw_size);
	return true;
}

chunk_unpacker *chunk_unpacker_new(ssb_error *err)
{
	chunk_unpacker *const unpacker = calloc(1, sizeof *unpacker);
	if (!unpacker)
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	return unpacker;
}

void chunk_unpacker_free(chunk_unpacker *unpacker)
{
	if (unpacker)
		thread_clear(unpacker);
	free(unpacker);
}

bool chunk_unpack(chunk_unpacker *unpacker, const chunk_packing *packing, const chunk_job *job, bitshuffle_take *take, void *context,
                  ssb_error *err)
{
	const size_t elements = packing->raw_size / packing->element_size;
	if (!prepare(unpacker, packing, err))
		return false;
	if (packing->filter == CHUNK_BITSHUFFLE && !job->plain)
		return bitshuffle_blocks(unpacker->bitshuffle, job->stored, job->stored_size, packing->raw_size, 0, elements, take, context, err);
	if (!reserve_raw(unpacker, err) || !decode(unpacker, job, unpacker->raw, err))
		return false;
	take(context, &(bitshuffle_block){0, elements, packing->element_size, unpacker->raw});
	return true;
}

/* LZ4 shrinks to no less than a 255th. */
bool chunk_check_size(const chunk_packing *packing, uint64_t bytes, ssb_error *err)
{
	const bool lz4 = packing->filter == CHUNK_LZ4 || (packing->filter == CHUNK_BITSHUFFLE && packing->compressor == BITSHUFFLE_LZ4);
	if (bytes == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "its chunk was never written");
	if (bytes > 2 * (uint64_t)packing->raw_size + 65536 || (lz4 && packing->raw_size / 255 > bytes))
		return ssb_fail(err, SSB_BAD_INPUT, "its chunk is said to take %llu bytes for %zu", (unsigned long long)bytes, packing->raw_size);
	return true;
}

static bool run_one(chunk_unpacker *state, const chunk_packing *packing, const chunk_job *job,
                    void (*deliver)(const chunk_job *job, const uint8_t *raw), ssb_error *err)
{
	if (!prepare(state, packing, err) || (!job->target && !reserve_raw(state, err)))
		return false;
	uint8_t *const raw = job->target ? job->target : state->raw;
	if (!decode(state, job, raw, err))
		return false;
	deliver(job, raw);
	return true;
}

bool chunk_decoder_run(chunk_decoder *decoder, const chunk_packing *packing, const chunk_job *jobs, size_t count,
                       void (*deliver)(const chunk_job *job, const uint8_t *raw), size_t *failed, ssb_error *err)
{
	*failed = count;
#pragma omp parallel for schedule(dynamic) num_threads((int)decoder->threads)
	for (size_t i = 0; i < count; i++) {
		ssb_error own;
		if (run_one(&decoder->thread[omp_get_thread_num()], packing, &jobs[i], deliver, &own))
			continue;
#pragma omp critical
		if (i < *failed) {
			*failed = i;
			*err = own;
		}
	}
	return *failed == count;
}
