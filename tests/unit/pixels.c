/* Counts between the file and the region: block by block as frame by frame, at every width and where rows are cut by blocks. */
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"
#include "tools/ssb-decode/pixels.h"

enum { ROWS = 13, COLUMNS = 29, PIXELS = ROWS * COLUMNS };

static uint64_t seed = 1;

static unsigned next_random(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33);
}

static void set(void *elements, size_t i, size_t size, uint32_t value)
{
	memcpy((uint8_t *)elements + i * size, &value, size); /* little-endian, as everything here */
}

static uint32_t get(const void *elements, size_t i, size_t size)
{
	uint32_t value = 0;
	memcpy(&value, (const uint8_t *)elements + i * size, size);
	return value;
}

/* The largest value in elements first … first + count - 1. */
static uint32_t most(const void *elements, size_t first, size_t count, size_t size)
{
	uint32_t value = 0;
	for (size_t i = first; i < first + count; i++)
		value = get(elements, i, size) > value ? get(elements, i, size) : value;
	return value;
}

/* A frame of zeros, small counts or large ones, and its next block: of some 8 elements and more, in the width that its largest asks for. */
static void fill_frame(void *frame, size_t size, unsigned kind)
{
	for (size_t i = 0; i < PIXELS; i++) {
		const uint32_t large = (uint32_t)(pixel_sentinel(size) - next_random() % 3);
		set(frame, i, size, kind == 0 ? 0 : kind == 1 ? 255 - next_random() % 2 : next_random() % 40 ? next_random() % 9 : large);
	}
}

static bitshuffle_block next_block(const void *frame, size_t size, size_t first, void *elements)
{
	const size_t wish = 8 * (1 + next_random() % 12), count = PIXELS - first < wish ? PIXELS - first : wish;
	const uint32_t largest = most(frame, first, count, size);
	const size_t width = largest == 0 ? 0 : largest < 256 ? 1 : size;
	for (size_t i = 0; i < count; i++)
		set(elements, i, width, get(frame, first + i, size));
	return (bitshuffle_block){first, count, width, elements};
}

/* More frames than a sum of 16 bits holds, all of the largest 8-bit counts among them. */
static void tallies(size_t size)
{
	enum { FRAMES = 700 };
	static uint32_t frame[PIXELS], elements[PIXELS];
	pixel_sums expected, sums;
	pixel_tally tally;
	ssb_error err;
	bool ok = pixel_sums_new(&expected, PIXELS, &err) && pixel_sums_new(&sums, PIXELS, &err) && pixel_tally_new(&tally, &sums, size, &err);
	for (size_t f = 0; ok && f < FRAMES; f++) {
		fill_frame(frame, size, f < 600 ? 1 : (unsigned)f % 3);
		pixel_sums_add(&expected, frame, 1, size);
		pixel_tally_frame(&tally);
		for (size_t at = 0; at < PIXELS;) {
			const bitshuffle_block block = next_block(frame, size, at, elements);
			pixel_tally_add(&tally, &block);
			at += block.count;
		}
	}
	pixel_tally_flush(&tally);
	CHECK(ok && memcmp(sums.sum, expected.sum, sizeof *sums.sum * PIXELS) == 0 &&
	      memcmp(sums.largest, expected.largest, sizeof *sums.largest * PIXELS) == 0, "sums of blocks, counts of %zu bytes", size);
	pixel_tally_free(&tally);
	pixel_sums_free(&sums);
	pixel_sums_free(&expected);
}

static bool cut_is_right(const void *frame, size_t size, const box *region)
{
	static uint32_t elements[PIXELS], converted[PIXELS], out[PIXELS + 1];
	const size_t count = region->shape[0] * region->shape[1];
	size_t needed = 0;
	bool right = true;
	memset(out, 0xa5, sizeof out);
	for (size_t at = 0; at < PIXELS;) {
		bitshuffle_block block = next_block(frame, size, at, elements);
		const size_t width = pixel_cut_width(region, COLUMNS, &block);
		needed = width > needed ? width : needed;
		if (block.width && block.width < size) {
			elements_widen(block.elements, block.count, converted, size);
			block.elements = converted;
			block.width = size;
		}
		pixel_cut_block(region, COLUMNS, &block, out, size);
		at += block.count;
	}
	uint32_t largest = 0;
	for (size_t i = 0; i < count; i++) {
		const uint32_t value = get(frame, (region->origin[0] + i / region->shape[1]) * COLUMNS + region->origin[1] + i % region->shape[1], size);
		right = right && get(out, i, size) == value;
		largest = value > largest ? value : largest;
	}
	return right && ((uint8_t *)out)[count * size] == 0xa5 && (needed ? needed : 1) == (largest < 256 ? 1u : largest < 65536 ? 2u : 4u);
}

static void cuts(size_t size)
{
	static uint32_t frame[PIXELS];
	size_t wrong = 0;
	for (size_t n = 0; n < 3000; n++) {
		box region = {{next_random() % ROWS, next_random() % COLUMNS}, {0, 0}};
		region.shape[0] = 1 + next_random() % (ROWS - region.origin[0]);
		region.shape[1] = 1 + next_random() % (COLUMNS - region.origin[1]);
		fill_frame(frame, size, (unsigned)n % 3);
		wrong += !cut_is_right(frame, size, &region);
	}
	CHECK(wrong == 0, "regions from blocks that cut rows, counts of %zu bytes", size);
}

/* In place, at every length. */
static void widths(void)
{
	enum { MOST = 5000 };
	static uint32_t elements[MOST + 1], expected[MOST];
	size_t wrong = 0;
	for (size_t from = 1; from <= 4; from *= 2)
		for (size_t to = 1; to <= 4; to *= 2)
			for (size_t count = 0; count < MOST; count += 1 + count / 40) {
				const size_t narrower = from < to ? from : to;
				if (from == to || (from > 1 && to > from))
					continue;
				for (size_t i = 0; i < count; i++) {
					const uint32_t value = next_random() & (uint32_t)pixel_sentinel(narrower);
					set(elements, i, from, value);
					set(expected, i, to, value);
				}
				if (from < to)
					elements_widen((const uint8_t *)elements, count, elements, to);
				else
					elements_narrow(elements, count, from, to);
				wrong += memcmp(elements, expected, count * to) != 0;
			}
	CHECK(wrong == 0, "bytes widened and wider counts narrowed in place");
}

int main(void)
{
	for (size_t size = 1; size <= 4; size *= 2) {
		tallies(size);
		cuts(size);
	}
	widths();
	return test_end();
}
