/* The index of a chunked set in HDF5's layouts 4 and 5: where each chunk is. Extensible arrays (sets that can grow), fixed arrays and single
 * chunks; others are refused. */
#ifndef DECODE_CHUNK_INDEX_H
#define DECODE_CHUNK_INDEX_H

#include "tools/ssb-decode/raw_block.h"

typedef struct stored_chunk { uint64_t address, size; uint32_t mask; } stored_chunk; /* size 0: never written */

typedef struct chunk_index {
	unsigned kind;          /* 1 single, 3 fixed array, 4 extensible array; 0: not described yet */
	unsigned page_bits;     /* of the arrays: elements per page of a data block, as a power of two */
	stored_chunk only;      /* of a single chunk */
	uint64_t address;       /* of the array's header */
	stored_chunk *chunk;    /* all chunks by number once loaded; the caller frees */
	uint64_t chunks;
	uint64_t chunk_bytes;   /* of a chunk without filters */
} chunk_index;

/* Take the index's description from the layout message, from the index type on. */
bool chunk_index_describe(chunk_index *index, byte_view *message, unsigned layout_flags, ssb_error *err);

/* Load the places of `chunks` chunks, each of `chunk_bytes` bytes when it is not filtered. */
bool chunk_index_load(chunk_index *index, const raw_file *file, uint64_t chunks, uint64_t chunk_bytes, ssb_error *err);

#endif
