#include "tools/bitshuffle/transpose.h"

#include <string.h>

/* Eight words are a cube of bits with the axes word, byte in the word and bit in the byte, eight long each. */
typedef struct bit_cube { uint64_t word[8]; } bit_cube;

/* One step of a transposition of the word axis with the axis that `shift` strides in a word: words d apart exchange the bits that
 * differ in that digit of the index. */
static inline void exchange(bit_cube *cube, unsigned d, unsigned shift, uint64_t mask)
{
	for (unsigned i = 0; i < 8; i++) {
		if (i & d)
			continue;
		const uint64_t swap = ((cube->word[i] >> shift) ^ cube->word[i + d]) & mask;
		cube->word[i] ^= swap << shift;
		cube->word[i + d] ^= swap;
	}
}

static inline void swap_words_with_bits(bit_cube *cube)
{
	exchange(cube, 4, 4, 0x0f0f0f0f0f0f0f0f);
	exchange(cube, 2, 2, 0x3333333333333333);
	exchange(cube, 1, 1, 0x5555555555555555);
}

static inline void swap_words_with_bytes(bit_cube *cube)
{
	exchange(cube, 4, 32, 0x00000000ffffffff);
	exchange(cube, 2, 16, 0x0000ffff0000ffff);
	exchange(cube, 1, 8, 0x00ff00ff00ff00ff);
}

/* `width` (1 to 8) bytes from each of 8 rows, to the 8 × width bytes whose bits they hold. */
static inline void rows_to_bytes(const uint8_t *rows, size_t stride, uint8_t *bytes, size_t width)
{
	bit_cube cube = {{0}};
	uint64_t any = 0;
	for (unsigned b = 0; b < 8; b++) {
		memcpy(&cube.word[b], rows + b * stride, width);
		any |= cube.word[b];
	}
	if (any) { /* the high bits of counts are mostly zero */
		swap_words_with_bits(&cube);
		swap_words_with_bytes(&cube);
	}
	memcpy(bytes, cube.word, 8 * width);
}

static inline void bytes_to_rows(const uint8_t *bytes, uint8_t *rows, size_t stride, size_t width)
{
	bit_cube cube = {{0}};
	memcpy(cube.word, bytes, 8 * width);
	swap_words_with_bytes(&cube);
	swap_words_with_bits(&cube);
	for (unsigned b = 0; b < 8; b++)
		memcpy(rows + b * stride, &cube.word[b], width);
}

static bool any_plain(const uint8_t *row, size_t stride)
{
	uint8_t any = 0;
	for (size_t k = 0; k < stride; k++)
		any |= row[k];
	return any;
}

/* Rows that are not set hold zeros anyway. */
static void gather_plain(const uint8_t *rows, size_t stride, size_t from, uint8_t *bytes, unsigned rows_set)
{
	size_t k = from;
	if (rows_set == 0) {
		memset(bytes + 8 * from, 0, 8 * (stride - from));
		return;
	}
	for (; k + 8 <= stride; k += 8)
		rows_to_bytes(rows + k, stride, bytes + 8 * k, 8);
	if (k < stride)
		rows_to_bytes(rows + k, stride, bytes + 8 * k, stride - k);
}

const transpose transpose_plain = {"plain", any_plain, gather_plain};

static void plane_shuffle(const uint8_t *bytes, uint8_t *rows, size_t count)
{
	const size_t stride = count / 8;
	size_t k = 0;
	for (; k + 8 <= stride; k += 8)
		bytes_to_rows(bytes + 8 * k, rows + k, stride, 8);
	if (k < stride)
		bytes_to_rows(bytes + 8 * k, rows + k, stride, stride - k);
}

/* Byte planes (all first bytes, all second bytes, …) to elements. The loops of the common sizes compile to vector interleaves. */
static void interleave(const uint8_t *restrict plane, uint8_t *restrict elements, size_t count, size_t element_size)
{
	if (element_size == 2)
		for (size_t i = 0; i < count; i++) {
			elements[2 * i] = plane[i];
			elements[2 * i + 1] = plane[count + i];
		}
	else if (element_size == 4)
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < 4; j++)
				elements[4 * i + j] = plane[j * count + i];
	else
		for (size_t j = 0; j < element_size; j++)
			for (size_t i = 0; i < count; i++)
				elements[element_size * i + j] = plane[j * count + i];
}

const transpose *transpose_fastest(void)
{
	const transpose *list[MOST_TRANSPOSES] = {NULL};
	const size_t count = transposes(list);
	return list[count - 1];
}

uint32_t block_rows_set(const transpose *t, const uint8_t *rows, size_t count, size_t element_size)
{
	uint32_t set = 0;
	if (element_size > 4)
		return UINT32_MAX;
	for (size_t p = 0; p < 8 * element_size; p++)
		set |= (uint32_t)t->any(rows + p * (count / 8), count / 8) << p;
	return set;
}

void block_unshuffle(const transpose *t, const uint8_t *rows, uint32_t rows_set, uint8_t *elements, size_t count, size_t width, uint8_t *scratch)
{
	uint8_t *const planes = width == 1 ? elements : scratch;
	for (size_t j = 0; j < width; j++)
		t->gather(rows + j * count, count / 8, 0, planes + j * count, j < 4 ? rows_set >> 8 * j & 255 : rows_set & 255);
	if (width > 1)
		interleave(planes, elements, count, width);
}

void block_shuffle(const uint8_t *elements, uint8_t *rows, size_t count, size_t element_size, uint8_t *scratch)
{
	for (size_t j = 0; j < element_size; j++) {
		for (size_t i = 0; i < count; i++)
			scratch[i] = elements[element_size * i + j];
		plane_shuffle(scratch, rows + j * count, count);
	}
}

size_t block_default_elements(size_t element_size)
{
	const size_t elements = 8192 / element_size / 8 * 8;
	return elements < 128 ? 128 : elements;
}
