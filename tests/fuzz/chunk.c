/* Fuzz target of the chunk codec. The first four bytes of an input choose filter, element size, decoded size and block length; the rest is the
 * chunk. Whatever is decoded must not depend on which elements are asked for, and what we encode must come back. */
#include <lz4.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tools/bitshuffle/bitshuffle.h"
#include "tools/bitshuffle/lz4_block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum bitshuffle_compressor compressors[] = {BITSHUFFLE_NONE, BITSHUFFLE_LZ4, BITSHUFFLE_ZSTD};

/* A part of what decoded as a whole must decode to the same bytes. */
static void check_part(bitshuffle_decoder *decoder, const uint8_t *chunk, size_t stored, const uint8_t *whole, size_t raw_size, size_t element_size)
{
	const size_t elements = raw_size / element_size, first = elements / 3, count = elements / 3;
	ssb_error err;
	uint8_t *part = calloc(raw_size + 1, 1);
	if (!bitshuffle_decode(decoder, chunk, stored, part, raw_size, first, count, &err) ||
	    memcmp(part + first * element_size, whole + first * element_size, count * element_size) != 0)
		abort();
	free(part);
}

static void decode(unsigned filter, size_t element_size, size_t raw_size, size_t block, const uint8_t *chunk, size_t stored)
{
	ssb_error err;
	uint8_t *raw = malloc(raw_size + 1);
	if (filter == 3) {
		lz4_chunk_decode(chunk, stored, raw, raw_size, &err);
	} else {
		bitshuffle_decoder *decoder = bitshuffle_decoder_new(element_size, compressors[filter], block, &err);
		if (decoder && bitshuffle_decode(decoder, chunk, stored, raw, raw_size, 0, SIZE_MAX / 2, &err))
			check_part(decoder, chunk, stored, raw, raw_size, element_size);
		bitshuffle_decoder_free(decoder);
	}
	free(raw);
}

/* What is expanded here, LZ4 takes, too, and decodes to the same bytes. */
static void expand(const uint8_t *block, size_t length, size_t size)
{
	uint8_t *out = calloc(size + 1, 1), *expected = malloc(size + 1);
	if (lz4_block_expand(block, length, out, size) &&
	    (LZ4_decompress_safe((const char *)block, (char *)expected, (int)length, (int)size) != (int)size || memcmp(out, expected, size) != 0))
		abort();
	free(expected);
	free(out);
}

static void round_trip(size_t element_size, const uint8_t *raw, size_t size)
{
	ssb_error err;
	const size_t raw_size = size / element_size * element_size;
	uint8_t *chunk = malloc(bitshuffle_bound(raw_size, element_size)), *back = malloc(raw_size + 1);
	bitshuffle_decoder *decoder = bitshuffle_decoder_new(element_size, BITSHUFFLE_LZ4, 0, &err);
	const size_t stored = bitshuffle_encode(raw, raw_size, element_size, chunk);
	if (!decoder || !bitshuffle_decode(decoder, chunk, stored, back, raw_size, 0, raw_size / element_size, &err) ||
	    memcmp(raw, back, raw_size) != 0)
		abort();
	bitshuffle_decoder_free(decoder);
	free(back);
	free(chunk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { CHOICES = 4 };
	if (size < CHOICES)
		return 0;
	const size_t element_size = 1 + data[1] % 16;
	decode(data[0] % 4, element_size, data[2] * element_size + data[0] / 128, data[3] / 4 * 8, data + CHOICES, size - CHOICES);
	expand(data + CHOICES, size - CHOICES, data[2] * element_size);
	round_trip(element_size, data + CHOICES, size - CHOICES);
	return 0;
}
