/* The bit transposition of one block, both ways: the only part of the codec whose speed depends on the machine. */
#ifndef BITSHUFFLE_TRANSPOSE_H
#define BITSHUFFLE_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

/* A shuffled block of `count` elements (a multiple of 8) is 8 × element_size rows of count / 8 bytes: bit i of byte k of row 8 j + b
 * is bit b of byte j of element 8 k + i. `scratch` has room for the block; the three buffers do not overlap. */
void block_unshuffle(const uint8_t *rows, uint8_t *elements, size_t count, size_t element_size, uint8_t *scratch);
void block_shuffle(const uint8_t *elements, uint8_t *rows, size_t count, size_t element_size, uint8_t *scratch);

/* Elements per block when the writer names no other number: 8 KiB, a multiple of 8, at least 128. */
size_t block_default_elements(size_t element_size);

#endif
