/* HDF5 filter chunks of the field, decoded and encoded outside HDF5: bitshuffle (32008) plain, with LZ4 or zstd, and LZ4 (32004).
 *
 * A chunk's own header describes it: 8-byte total and 4-byte block length, both big-endian, in bytes; then per block a 4-byte
 * big-endian length and the block. Elements after the last multiple of 8 follow as they are. Every length is checked before use;
 * the blocks must consume exactly the stored and produce exactly the declared bytes. */
#ifndef BITSHUFFLE_BITSHUFFLE_H
#define BITSHUFFLE_BITSHUFFLE_H

#include <stddef.h>
#include <stdint.h>
#include "formats/status.h"

enum bitshuffle_compressor { BITSHUFFLE_NONE = 0, BITSHUFFLE_LZ4 = 2, BITSHUFFLE_ZSTD = 3 }; /* the filter's fifth parameter */

/* Decoding state (scratch memory) of one thread; made once, reused for every chunk. */
typedef struct bitshuffle_decoder bitshuffle_decoder;
bitshuffle_decoder *bitshuffle_decoder_new(size_t element_size, enum bitshuffle_compressor compressor, size_t default_block_elements,
                                           ssb_error *err);
void bitshuffle_decoder_free(bitshuffle_decoder *decoder);

/* Elements first … first + count - 1 of a chunk, in the machine's byte order where the file has it: `width` bytes of each, 1 where no element
 * of the block has more, 0 where all are zero (`elements` then holds nothing), else the element size. Aligned for that width. */
typedef struct bitshuffle_block { size_t first, count, width; const void *elements; } bitshuffle_block;
typedef void bitshuffle_take(void *context, const bitshuffle_block *block);

/* Decode a 32008 chunk of `stored` bytes, raw_size bytes decoded, block by block: each that holds some of the elements [first, first + count)
 * is handed to take(context, block), in order, and gone after that; the others are checked for their lengths but not decompressed. Fewer than 8
 * elements at the chunk's end are not packed: they come last, in any case and in their own width. The error says what disagrees, with the numbers. */
bool bitshuffle_blocks(bitshuffle_decoder *decoder, const uint8_t *chunk, size_t stored, size_t raw_size, size_t first, size_t count,
                       bitshuffle_take *take, void *context, ssb_error *err);

/* Decode a 32008 chunk of `stored` bytes into `raw` (exactly raw_size bytes). Only the elements of [first, first + count) need be
 * written. */
bool bitshuffle_decode(bitshuffle_decoder *decoder, const uint8_t *chunk, size_t stored, uint8_t *raw, size_t raw_size,
                       size_t first, size_t count, ssb_error *err);

/* Decode a 32004 (LZ4) chunk. */
bool lz4_chunk_decode(const uint8_t *chunk, size_t stored, uint8_t *raw, size_t raw_size, ssb_error *err);

/* Upper bound of bitshuffle_encode's output for raw_size bytes. */
size_t bitshuffle_bound(size_t raw_size, size_t element_size);

/* Encode raw_size bytes (a whole number of elements) as the camera does (LZ4, 8192-byte blocks); returns the stored size. */
size_t bitshuffle_encode(const uint8_t *raw, size_t raw_size, size_t element_size, uint8_t *chunk);

#endif
