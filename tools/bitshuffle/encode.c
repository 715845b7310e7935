#include "tools/bitshuffle/bitshuffle.h"

#include <lz4.h>
#include <string.h>
#include "tools/bitshuffle/transpose.h"

enum { HEADER_SIZE = 12, LENGTH_SIZE = 4, BLOCK_ROOM = 8192 }; /* of block_default_elements, for elements of up to 64 bytes */

static void write_big_endian(uint8_t *bytes, size_t count, uint64_t value)
{
	for (size_t i = count; i-- > 0; value >>= 8)
		bytes[i] = (uint8_t)value;
}

size_t bitshuffle_bound(size_t raw_size, size_t element_size)
{
	const size_t block = block_default_elements(element_size) * element_size;
	return HEADER_SIZE + (raw_size / block + 1) * (LENGTH_SIZE + (size_t)LZ4_COMPRESSBOUND(BLOCK_ROOM)) + 8 * element_size;
}

size_t bitshuffle_encode(const uint8_t *raw, size_t raw_size, size_t element_size, uint8_t *chunk)
{
	const size_t block = block_default_elements(element_size), shuffled = raw_size / element_size / 8 * 8;
	uint8_t rows[BLOCK_ROOM], scratch[BLOCK_ROOM];
	uint8_t *out = chunk + HEADER_SIZE;
	write_big_endian(chunk, 8, raw_size);
	write_big_endian(chunk + 8, 4, block * element_size);
	for (size_t at = 0; at < shuffled; at += block) {
		const size_t n = shuffled - at < block ? shuffled - at : block, bytes = n * element_size;
		block_shuffle(raw + at * element_size, rows, n, element_size, scratch);
		const int packed = LZ4_compress_default((const char *)rows, (char *)out + LENGTH_SIZE, (int)bytes, LZ4_compressBound((int)bytes));
		write_big_endian(out, LENGTH_SIZE, (uint64_t)packed);
		out += LENGTH_SIZE + (size_t)packed;
	}
	const size_t rest = raw_size - shuffled * element_size;
	memcpy(out, raw + shuffled * element_size, rest);
	return (size_t)(out - chunk) + rest;
}
