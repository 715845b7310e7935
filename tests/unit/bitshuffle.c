/* The chunk codec: round trips of every length, what blocks outside the wanted elements cost, and what damage is told apart.
 * That the chunks are those of the field's filter is shown against hdf5plugin in chunks.bats. */
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"
#include "tools/bitshuffle/bitshuffle.h"
#include "tools/bitshuffle/transpose.h"

enum { ROOM = 80000 };

static uint64_t seed = 1;

static unsigned next_random(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33);
}

/* Counts: small numbers, here and there a large one, so that most bit planes are empty and some are not. */
static void fill(uint8_t *raw, size_t bytes, size_t element_size)
{
	memset(raw, 0, bytes);
	for (size_t i = 0; i < bytes; i++)
		if (i % element_size == 0 || next_random() % 97 == 0)
			raw[i] = (uint8_t)(next_random() % (next_random() % 50 ? 12 : 256));
}

static bool same_after_round_trip(size_t elements, size_t element_size)
{
	const size_t bytes = elements * element_size;
	uint8_t *raw = malloc(bytes + 1), *back = malloc(bytes + 1), *chunk = malloc(bitshuffle_bound(bytes, element_size));
	ssb_error err;
	bitshuffle_decoder *decoder = bitshuffle_decoder_new(element_size, BITSHUFFLE_LZ4, 0, &err);
	fill(raw, bytes, element_size);
	memset(back, 0xa5, bytes + 1);
	const size_t stored = bitshuffle_encode(raw, bytes, element_size, chunk);
	const bool same = stored <= bitshuffle_bound(bytes, element_size) &&
	                  bitshuffle_decode(decoder, chunk, stored, back, bytes, 0, elements, &err) &&
	                  memcmp(raw, back, bytes) == 0 && back[bytes] == 0xa5;
	bitshuffle_decoder_free(decoder);
	free(raw);
	free(back);
	free(chunk);
	return same;
}

static void round_trips(void)
{
	for (size_t size = 1; size <= 16; size++) {
		size_t wrong = 0;
		for (size_t n = 0; n < 700; n++)
			wrong += !same_after_round_trip(n, size);
		for (size_t n = 8192 / size - 9; n < 8192 / size + 10; n++)
			wrong += !same_after_round_trip(n, size) + !same_after_round_trip(3 * n + 1, size);
		CHECK(wrong == 0, "round trip of every length, elements of %zu bytes", size);
	}
}

/* The definition, bit by bit. */
static void definition(void)
{
	enum { COUNT = 8 * 21, SIZE = 3 };
	uint8_t elements[COUNT * SIZE], rows[COUNT * SIZE], expected[COUNT * SIZE] = {0}, back[COUNT * SIZE], scratch[COUNT * SIZE];
	for (size_t i = 0; i < sizeof elements; i++)
		elements[i] = (uint8_t)next_random();
	for (size_t i = 0; i < COUNT; i++)
		for (size_t j = 0; j < SIZE; j++)
			for (size_t b = 0; b < 8; b++)
				expected[(8 * j + b) * (COUNT / 8) + i / 8] |= (uint8_t)((elements[i * SIZE + j] >> b & 1) << i % 8);
	block_shuffle(elements, rows, COUNT, SIZE, scratch);
	CHECK(memcmp(rows, expected, sizeof rows) == 0, "a shuffled block is what the format says");
	block_unshuffle(expected, back, COUNT, SIZE, scratch);
	CHECK(memcmp(elements, back, sizeof back) == 0, "and back");
}

static void part_of_a_chunk(void)
{
	enum { ELEMENTS = 20001, SIZE = 2 };
	static uint16_t raw[ELEMENTS], back[ELEMENTS];
	static uint8_t chunk[ROOM];
	ssb_error err;
	fill((uint8_t *)raw, sizeof raw, SIZE);
	const size_t stored = bitshuffle_encode((const uint8_t *)raw, sizeof raw, SIZE, chunk);
	bitshuffle_decoder *decoder = bitshuffle_decoder_new(SIZE, BITSHUFFLE_LZ4, 0, &err);
	memset(back, 0xff, sizeof back);
	const bool ok = bitshuffle_decode(decoder, chunk, stored, (uint8_t *)back, sizeof back, 5000, 4000, &err);
	CHECK(ok && memcmp(raw + 5000, back + 5000, 4000 * SIZE) == 0, "elements 5000 to 8999 of 20001");
	CHECK(back[0] == 0xffff && back[4095] == 0xffff && back[12288] == 0xffff, "blocks that are not wanted are not decoded");
	uint8_t *const second_length = chunk + 12 + 4 + ((size_t)chunk[14] << 8 | chunk[15]);
	second_length[0] = 0x7f;
	CHECK(!bitshuffle_decode(decoder, chunk, stored, (uint8_t *)back, sizeof back, 0, 10, &err) && strstr(err.text, "block 1"),
	      "but their lengths are checked: %s", err.text);
	bitshuffle_decoder_free(decoder);
}

/* Decode after `value` was put at `offset` and `stored` changed by `more`; the error must hold `words`. */
static void damaged(size_t offset, uint8_t value, int more, const char *words)
{
	enum { ELEMENTS = 9000, SIZE = 2 };
	static uint8_t raw[ELEMENTS * SIZE], chunk[ROOM];
	ssb_error err = {SSB_OK, ""};
	fill(raw, sizeof raw, SIZE);
	const size_t stored = bitshuffle_encode(raw, sizeof raw, SIZE, chunk) + (size_t)more;
	bitshuffle_decoder *decoder = bitshuffle_decoder_new(SIZE, BITSHUFFLE_LZ4, 0, &err);
	chunk[offset] = value;
	uint8_t *exact = malloc(stored); /* so that a sanitizer sees any read beyond it */
	memcpy(exact, chunk, stored);
	CHECK(!bitshuffle_decode(decoder, exact, stored, raw, sizeof raw, 0, ELEMENTS, &err) && strstr(err.text, words) &&
	      err.status == SSB_BAD_INPUT, "byte %zu = %u, size %+d: %s", offset, value, more, err.text);
	bitshuffle_decoder_free(decoder);
	free(exact);
}

static void damage(void)
{
	damaged(7, 0x51, 0, "header says 18001 bytes, the chunk has 18000");
	damaged(0, 0x01, 0, "chunk header says");
	damaged(10, 0, 0, "blocks of 0 bytes");
	damaged(11, 3, 0, "no multiple of 8 elements");
	damaged(12, 0xff, 0, "block 0 says");
	damaged(15, 0, 0, "block 0");
	damaged(0, 0, 12, "12 stray bytes");
	damaged(0, 0, -1, "block 2 says");
	damaged(0, 0, -3000, "left in the chunk");
}

static void raw_blocks_of_lz4(void)
{
	const uint8_t chunk[] = {0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 3, 5, 6, 7};
	const uint8_t expected[] = {1, 2, 3, 4, 5, 6, 7};
	uint8_t raw[7];
	ssb_error err = {SSB_OK, ""};
	CHECK(lz4_chunk_decode(chunk, sizeof chunk, raw, 7, &err) && memcmp(raw, expected, 7) == 0, "32004: blocks stored as they are");
	CHECK(!lz4_chunk_decode(chunk, sizeof chunk, raw, 6, &err) && strstr(err.text, "says 7 bytes, the chunk has 6"), "%s", err.text);
	CHECK(!lz4_chunk_decode(chunk, sizeof chunk - 1, raw, 7, &err) && strstr(err.text, "block 1 says 3 bytes, 2 are left"), "%s", err.text);
}

int main(void)
{
	definition();
	round_trips();
	part_of_a_chunk();
	damage();
	raw_blocks_of_lz4();
	return test_end();
}
