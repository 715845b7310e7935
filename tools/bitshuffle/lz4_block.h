/* LZ4 blocks of shuffled counts, which end in thousands of zero bytes: those cost nothing here. */
#ifndef BITSHUFFLE_LZ4_BLOCK_H
#define BITSHUFFLE_LZ4_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decode a block of `length` bytes to exactly `size` bytes at `out`, which are all zero before (so that runs of zeros need not be written).
 * False for whatever is not plainly such a block, also for some that LZ4 itself takes: ask that one then; `out` may hold anything in its
 * `size` bytes. What is accepted, LZ4_decompress_safe decodes to the same bytes (LZ4 Block Format Description, lz4.org). */
bool lz4_block_expand(const uint8_t *block, size_t length, uint8_t *out, size_t size);

#endif
