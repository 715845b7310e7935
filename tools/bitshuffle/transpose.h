/* The bit transposition of one block, both ways: the only part of the codec whose speed depends on the machine. */
#ifndef BITSHUFFLE_TRANSPOSE_H
#define BITSHUFFLE_TRANSPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A shuffled block of `count` elements (a multiple of 8) is 8 × element_size rows of count / 8 bytes: bit i of byte k of row 8 j + b
 * is bit b of byte j of element 8 k + i. */

/* The work on eight rows of `stride` bytes each, for one kind of machine. */
typedef struct transpose {
	const char *name;
	/* Whether any bit of a row is set. */
	bool (*any)(const uint8_t *row, size_t stride);
	/* Columns `from` to `stride` - 1 of the rows to the bytes whose bits they hold, 8 × (stride - from) at bytes + 8 × from. Row b takes part
	 * when bit b of `rows_set` is set; the others are taken for zero. */
	void (*gather)(const uint8_t *rows, size_t stride, size_t from, uint8_t *bytes, unsigned rows_set);
} transpose;

/* What this machine can run: the plain one first, the fastest last. */
enum { MOST_TRANSPOSES = 3 };
size_t transposes(const transpose *list[MOST_TRANSPOSES]);
const transpose *transpose_fastest(void);
extern const transpose transpose_plain;

/* Which rows of a block have a bit that is set, bit p for row p; of elements above 4 bytes all are said to. */
uint32_t block_rows_set(const transpose *t, const uint8_t *rows, size_t count, size_t element_size);

/* The lowest `width` bytes of a block's elements (width = element_size: all of them), as elements of that width. `scratch` has room for
 * the block; the three buffers do not overlap. */
void block_unshuffle(const transpose *t, const uint8_t *rows, uint32_t rows_set, uint8_t *elements, size_t count, size_t width,
                     uint8_t *scratch);
void block_shuffle(const uint8_t *elements, uint8_t *rows, size_t count, size_t element_size, uint8_t *scratch);

/* Elements per block when the writer names no other number: 8 KiB, a multiple of 8, at least 128. */
size_t block_default_elements(size_t element_size);

#endif
