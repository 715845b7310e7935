/* Raw chunks to elements, by all threads; the threads' state is made once and reused from chunk to chunk and file to file. */
#ifndef DECODE_CHUNK_DECODER_H
#define DECODE_CHUNK_DECODER_H

#include <stddef.h>
#include <stdint.h>
#include "tools/bitshuffle/bitshuffle.h"

typedef enum chunk_filter { CHUNK_PLAIN, CHUNK_BITSHUFFLE, CHUNK_LZ4 } chunk_filter;

/* How the chunks of one dataset are packed. */
typedef struct chunk_packing {
	chunk_filter filter;
	enum bitshuffle_compressor compressor;  /* of CHUNK_BITSHUFFLE, as are the next two */
	size_t element_size;
	size_t block_elements;                  /* 0: the default */
	size_t raw_size;                        /* bytes of a decoded chunk */
} chunk_packing;

/* One chunk to decode. */
typedef struct chunk_job {
	const uint8_t *stored;   /* as fetched */
	size_t stored_size;
	bool plain;              /* its own filter mask says that the filter was skipped */
	size_t first, count;     /* elements wanted */
	void *target;            /* raw_size bytes to decode into; NULL: the thread's own buffer */
	void *context;           /* for `deliver` */
} chunk_job;

/* Refuses a stored size that no chunk can have, 0 being one that was never written: asked before room is made for what a damaged file claims. */
bool chunk_check_size(const chunk_packing *packing, uint64_t bytes, ssb_error *err);

/* What one thread needs to unpack chunks; kept from chunk to chunk. */
typedef struct chunk_unpacker chunk_unpacker;
chunk_unpacker *chunk_unpacker_new(ssb_error *err);
void chunk_unpacker_free(chunk_unpacker *unpacker); /* NULL is allowed */

/* Unpack one chunk block by block (bitshuffle_blocks), or as one block where it is packed otherwise. Of the job, where it is stored counts. */
bool chunk_unpack(chunk_unpacker *unpacker, const chunk_packing *packing, const chunk_job *job, bitshuffle_take *take, void *context,
                  ssb_error *err);

typedef struct chunk_decoder chunk_decoder;

chunk_decoder *chunk_decoder_new(ssb_error *err);
void chunk_decoder_free(chunk_decoder *decoder); /* NULL is allowed */

/* At least `size` bytes to fetch chunks into; valid until the next call. NULL on failure. */
uint8_t *chunk_decoder_arena(chunk_decoder *decoder, size_t size, ssb_error *err);

/* Decode all jobs in parallel. deliver(job, raw) is called by the decoding thread once the job's chunk is in `raw`. On failure *failed is
 * the lowest job that failed, whatever the number of threads. */
bool chunk_decoder_run(chunk_decoder *decoder, const chunk_packing *packing, const chunk_job *jobs, size_t count,
                       void (*deliver)(const chunk_job *job, const uint8_t *raw), size_t *failed, ssb_error *err);

#endif
