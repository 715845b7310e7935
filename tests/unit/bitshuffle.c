/* The chunk codec: round trips of every length, what blocks outside the wanted elements cost, and what damage is told apart.
 * That the chunks are those of the field's filter is shown against hdf5plugin in chunks.bats. */
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"
#include "tools/bitshuffle/bitshuffle.h"
#include "tools/bitshuffle/lz4_block.h"
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
	block_unshuffle(&transpose_plain, expected, UINT32_MAX, back, COUNT, SIZE, scratch);
	CHECK(memcmp(elements, back, sizeof back) == 0, "and back");
}

/* One block by one kind of machine's code: what it says of each row, and the bytes of the rows in `set`, equal to the plain code's. */
static bool as_plain(const transpose *t, const uint8_t *rows, size_t stride, unsigned set)
{
	enum { GUARD = 64 };
	static uint8_t bytes[ROOM + GUARD], expected[ROOM + GUARD];
	bool same = true;
	memset(bytes, 0xa5, 8 * stride + GUARD);
	memset(expected, 0xa5, 8 * stride + GUARD);
	for (size_t b = 0; b < 8; b++)
		same = same && t->any(rows + b * stride, stride) == transpose_plain.any(rows + b * stride, stride) &&
		       transpose_plain.any(rows + b * stride, stride) == (set >> b & 1);
	t->gather(rows, stride, 0, bytes, set);
	transpose_plain.gather(rows, stride, 0, expected, set);
	return same && memcmp(bytes, expected, 8 * stride + GUARD) == 0;
}

/* Every set of rows that hold bits, at every length: one bit, anywhere, or random bytes. */
static void variants(void)
{
	const transpose *list[MOST_TRANSPOSES];
	const size_t count = transposes(list);
	uint8_t *const rows = calloc(8 * 700, 1);
	for (size_t v = 1; v < count; v++) {
		size_t wrong = 0;
		for (size_t stride = 1; stride <= 700; stride++)
			for (unsigned set = stride % 3; set < 256; set += stride < 70 ? 1 : 3) {
				memset(rows, 0, 8 * stride);
				for (size_t b = 0; b < 8; b++)
					if (set >> b & 1) {
						rows[b * stride + next_random() % stride] = (uint8_t)(1u << next_random() % 8);
						for (size_t k = 0; k < stride && set % 2; k++)
							rows[b * stride + k] |= (uint8_t)next_random();
					}
				wrong += !as_plain(list[v], rows, stride, set);
			}
		CHECK(wrong == 0, "%s: as the plain code, every length and set of rows", list[v]->name);
	}
	free(rows);
}

/* Blocks of runs, of repeats at short distances and of noise. */
static void fill_runs(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size;) {
		const size_t kind = next_random() % 4, run = 1 + next_random() % (next_random() % 5 ? 40 : 3000), distance = 1 + next_random() % 20;
		for (size_t end = i + run < size ? i + run : size; i < end; i++)
			bytes[i] = kind == 0 ? 0 : kind == 1 && i >= distance ? bytes[i - distance] : kind == 2 ? 7 : (uint8_t)next_random();
	}
}

/* Whatever is expanded, LZ4 decodes to the same; and all that LZ4 packs is expanded. */
static bool expands(const uint8_t *block, size_t length, size_t size, bool *same)
{
	uint8_t *const out = calloc(size + 1, 1), *const expected = malloc(size + 1), *const exact = malloc(length + 1);
	memcpy(exact, block, length);
	out[size] = 0xa5;
	const bool expanded = lz4_block_expand(exact, length, out, size);
	*same = out[size] == 0xa5;
	if (expanded)
		*same = *same && LZ4_decompress_safe((const char *)block, (char *)expected, (int)length, (int)size) == (int)size &&
		        memcmp(out, expected, size) == 0;
	free(exact);
	free(expected);
	free(out);
	return expanded;
}

static void expansion(void)
{
	static uint8_t raw[9000], packed[LZ4_COMPRESSBOUND(9000)];
	size_t refused = 0, wrong = 0, damaged_taken = 0;
	bool same;
	for (size_t i = 0; i < 3000; i++) {
		const size_t size = 1 + next_random() % (i % 2 ? 9000 : 100);
		fill_runs(raw, size);
		if (i % 3 == 0)
			memset(raw + size / 4, 0, size - size / 4);
		const size_t length = (size_t)LZ4_compress_default((const char *)raw, (char *)packed, (int)size, (int)sizeof packed);
		refused += !expands(packed, length, size, &same);
		wrong += !same;
		for (size_t k = 0; k < 20; k++) {
			const size_t at = next_random() % length;
			const uint8_t before = packed[at];
			packed[at] = (uint8_t)next_random();
			damaged_taken += expands(packed, length - next_random() % 2, size - (k == 7 && size > 1), &same);
			wrong += !same;
			packed[at] = before;
		}
	}
	CHECK(refused == 0 && wrong == 0, "LZ4 blocks: expanded to what LZ4 decodes, damaged ones (%zu still blocks) too", damaged_taken);
}

/* Blocks as they are handed over: their places, and the width that their largest element asks for. */
typedef struct widths { size_t next, seen[5]; } widths;

static void note_width(void *context, const bitshuffle_block *block)
{
	widths *const w = context;
	w->seen[block->width] += block->first == w->next ? block->count : 0;
	w->next = block->first + block->count;
}

static void block_widths(void)
{
	enum { BLOCK = 2048, SHORT = 64, ELEMENTS = 6 * BLOCK + SHORT + 5 };
	static uint32_t raw[ELEMENTS];
	static uint8_t chunk[ROOM];
	ssb_error err;
	widths w = {0};
	memset(raw, 0, sizeof raw);
	raw[BLOCK + 3] = 255;
	raw[2 * BLOCK + 7] = 256;
	const size_t stored = bitshuffle_encode((const uint8_t *)raw, sizeof raw, 4, chunk);
	bitshuffle_decoder *decoder = bitshuffle_decoder_new(4, BITSHUFFLE_LZ4, 0, &err);
	const bool ok = bitshuffle_blocks(decoder, chunk, stored, sizeof raw, 0, ELEMENTS, note_width, &w, &err);
	CHECK(ok && w.next == ELEMENTS && w.seen[0] == 4 * BLOCK + SHORT && w.seen[1] == BLOCK && w.seen[4] == BLOCK + 5,
	      "blocks of the narrowest width, of zeros one after another and a shorter one");
	bitshuffle_decoder_free(decoder);
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
	variants();
	expansion();
	round_trips();
	block_widths();
	part_of_a_chunk();
	damage();
	raw_blocks_of_lz4();
	return test_end();
}
