#include "tools/ssb-decode/pixels.h"

#include <stdlib.h>
#include <string.h>

/* Compiled for several instruction sets, the best one chosen at start-up. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(SSB_NO_CLONES)
#define VECTOR __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define VECTOR
#endif

enum { TILE = 1024 }; /* pixels whose running sums stay in the cache */

uint64_t pixel_sentinel(size_t element_size)
{
	return UINT64_MAX >> (64 - 8 * element_size);
}

static inline uint32_t element(const void *elements, size_t i, size_t element_size)
{
	return element_size == 1 ? ((const uint8_t *)elements)[i]
	     : element_size == 2 ? ((const uint16_t *)elements)[i] : ((const uint32_t *)elements)[i];
}

static inline void set_element(void *elements, size_t i, size_t element_size, uint32_t value)
{
	if (element_size == 1)
		((uint8_t *)elements)[i] = (uint8_t)value;
	else if (element_size == 2)
		((uint16_t *)elements)[i] = (uint16_t)value;
	else
		((uint32_t *)elements)[i] = value;
}

/* ---- sums ---- */

bool pixel_sums_new(pixel_sums *sums, size_t pixels, ssb_error *err)
{
	*sums = (pixel_sums){.pixels = pixels, .sum = calloc(pixels, sizeof *sums->sum), .largest = calloc(pixels, sizeof *sums->largest)};
	if (sums->sum && sums->largest)
		return true;
	pixel_sums_free(sums);
	return ssb_fail_errno(err, "sums of %zu pixels", pixels);
}

void pixel_sums_free(pixel_sums *sums)
{
	free(sums->sum);
	free(sums->largest);
	*sums = (pixel_sums){0};
}

/* One tile: `width` pixels of `count` frames that lie `stride` pixels apart. The 32-bit sums of 8- and 16-bit counts cannot overflow within
 * 65536 frames. */
#define ADD_TILE(name, type, sum_type) \
static void name(const type *frames, size_t count, size_t stride, size_t width, uint64_t *sum, uint64_t *largest) \
{ \
	sum_type total[TILE] = {0}; \
	type most[TILE] = {0}; \
	for (size_t f = 0; f < count; f++) \
		for (size_t i = 0; i < width; i++) { \
			const type value = frames[f * stride + i]; \
			total[i] += value; \
			most[i] = value > most[i] ? value : most[i]; \
		} \
	for (size_t i = 0; i < width; i++) { \
		sum[i] += total[i]; \
		largest[i] = most[i] > largest[i] ? most[i] : largest[i]; \
	} \
}
ADD_TILE(add_tile_1, uint8_t, uint32_t)
ADD_TILE(add_tile_2, uint16_t, uint32_t)
ADD_TILE(add_tile_4, uint32_t, uint64_t)

static void add_some(pixel_sums *sums, const uint8_t *frames, size_t count, size_t element_size)
{
#pragma omp parallel for schedule(static)
	for (size_t at = 0; at < sums->pixels; at += TILE) {
		const size_t width = sums->pixels - at < TILE ? sums->pixels - at : TILE;
		const void *const first = frames + at * element_size;
		if (element_size == 1)
			add_tile_1(first, count, sums->pixels, width, sums->sum + at, sums->largest + at);
		else if (element_size == 2)
			add_tile_2(first, count, sums->pixels, width, sums->sum + at, sums->largest + at);
		else
			add_tile_4(first, count, sums->pixels, width, sums->sum + at, sums->largest + at);
	}
}

void pixel_sums_add(pixel_sums *sums, const void *frames, size_t count, size_t element_size)
{
	enum { AT_ONCE = 65536 };
	for (size_t f = 0; f < count; f += AT_ONCE)
		add_some(sums, (const uint8_t *)frames + f * sums->pixels * element_size, count - f < AT_ONCE ? count - f : AT_ONCE, element_size);
}

/* ---- sums of blocks ---- */

bool pixel_tally_new(pixel_tally *tally, pixel_sums *sums, size_t element_size, ssb_error *err)
{
	*tally = (pixel_tally){.sums = sums, .element_size = element_size, .sum = calloc(sums->pixels, sizeof *tally->sum),
	                       .largest = calloc(sums->pixels, 1)};
	if (element_size > 1) {
		tally->wide_sum = calloc(sums->pixels, element_size == 2 ? sizeof(uint32_t) : sizeof(uint64_t));
		tally->wide_largest = calloc(sums->pixels, element_size);
	}
	if (tally->sum && tally->largest && (element_size == 1 || (tally->wide_sum && tally->wide_largest)))
		return true;
	pixel_tally_free(tally);
	return ssb_fail_errno(err, "sums of %zu pixels", sums->pixels);
}

void pixel_tally_free(pixel_tally *tally)
{
	free(tally->sum);
	free(tally->largest);
	free(tally->wide_sum);
	free(tally->wide_largest);
	*tally = (pixel_tally){0};
}

size_t pixel_tally_memory(size_t pixels, size_t element_size)
{
	return pixels * (element_size == 1 ? 3 : element_size == 2 ? 9 : 15);
}

#define ADD_BLOCK(name, type, sum_type) \
VECTOR static void name(const type *counts, size_t count, sum_type sum[], type largest[]) \
{ \
	for (size_t i = 0; i < count; i++) { \
		sum[i] = (sum_type)(sum[i] + counts[i]); \
		largest[i] = counts[i] > largest[i] ? counts[i] : largest[i]; \
	} \
}
ADD_BLOCK(add_block_1, uint8_t, uint16_t)
ADD_BLOCK(add_block_2, uint16_t, uint32_t)
ADD_BLOCK(add_block_4, uint32_t, uint64_t)

void pixel_tally_add(pixel_tally *tally, const bitshuffle_block *block)
{
	const size_t at = block->first;
	if (block->width == 1)
		add_block_1(block->elements, block->count, tally->sum + at, tally->largest + at);
	else if (block->width == 2)
		add_block_2(block->elements, block->count, (uint32_t *)tally->wide_sum + at, (uint16_t *)tally->wide_largest + at);
	else if (block->width == 4)
		add_block_4(block->elements, block->count, (uint64_t *)tally->wide_sum + at, (uint32_t *)tally->wide_largest + at);
	tally->wide_used = tally->wide_used || block->width > 1;
}

static void take_largest(uint64_t *largest, uint64_t value)
{
	*largest = value > *largest ? value : *largest;
}

void pixel_tally_flush(pixel_tally *tally)
{
	pixel_sums *const s = tally->sums;
#pragma omp critical(pixel_tally)
	for (size_t i = 0; i < s->pixels; i++) {
		s->sum[i] += tally->sum[i];
		take_largest(&s->largest[i], tally->largest[i]);
		if (tally->wide_used) {
			s->sum[i] += tally->element_size == 2 ? ((uint32_t *)tally->wide_sum)[i] : ((uint64_t *)tally->wide_sum)[i];
			take_largest(&s->largest[i], element(tally->wide_largest, i, tally->element_size));
		}
	}
	memset(tally->sum, 0, s->pixels * sizeof *tally->sum);
	memset(tally->largest, 0, s->pixels);
	if (tally->wide_used) {
		memset(tally->wide_sum, 0, s->pixels * (tally->element_size == 2 ? sizeof(uint32_t) : sizeof(uint64_t)));
		memset(tally->wide_largest, 0, s->pixels * tally->element_size);
	}
	tally->wide_used = false;
	tally->frames = 0;
}

void pixel_tally_frame(pixel_tally *tally)
{
	enum { MOST_FRAMES = UINT16_MAX / UINT8_MAX }; /* whose 8-bit counts a 16-bit sum holds; a wider sum holds more */
	if (++tally->frames == MOST_FRAMES)
		pixel_tally_flush(tally);
}

void pixel_sums_flag(const pixel_sums *sums, size_t element_size, uint8_t *flags)
{
	for (size_t i = 0; i < sums->pixels; i++)
		if (sums->largest[i] == pixel_sentinel(element_size))
			flags[i] |= FLAG_SENTINEL;
}

/* ---- one frame ---- */

static bool is_bad(const pixel_cut *cut, const void *frame, size_t i)
{
	return cut->flags[i] || element(frame, i, cut->element_size) == pixel_sentinel(cut->element_size);
}

static void insert_sorted(uint32_t *values, size_t count, uint32_t value)
{
	for (; count > 0 && values[count - 1] > value; count--)
		values[count] = values[count - 1];
	values[count] = value;
}

/* false when no neighbour is valid. */
static bool neighbour_median(const pixel_cut *cut, const void *frame, size_t row, size_t column, uint32_t *median)
{
	uint32_t values[9];
	size_t count = 0;
	for (size_t r = row ? row - 1 : 0; r <= row + 1 && r < cut->rows; r++)
		for (size_t c = column ? column - 1 : 0; c <= column + 1 && c < cut->columns; c++) {
			const size_t i = r * cut->columns + c;
			if ((r != row || c != column) && !is_bad(cut, frame, i))
				insert_sorted(values, count++, element(frame, i, cut->element_size));
		}
	if (count == 0)
		return false;
	*median = count % 2 ? values[count / 2] : (uint32_t)(((uint64_t)values[count / 2 - 1] + values[count / 2]) / 2);
	return true;
}

static void fill_pixel(const pixel_cut *cut, const void *frame, size_t row, size_t column, void *out, size_t at)
{
	uint32_t value = 0;
	if (cut->policy == BAD_ZERO || neighbour_median(cut, frame, row, column, &value)) {
		set_element(out, at, cut->element_size, value);
		return;
	}
#pragma omp atomic write
	cut->unfilled[row * cut->columns + column] = 1;
}

void pixel_cut_frame(const pixel_cut *cut, const void *frame, void *out)
{
	const box *const region = &cut->region;
	const size_t size = cut->element_size;
	for (size_t r = 0; r < region->shape[0]; r++) {
		const size_t first = (region->origin[0] + r) * cut->columns + region->origin[1];
		memcpy((uint8_t *)out + r * region->shape[1] * size, (const uint8_t *)frame + first * size, region->shape[1] * size);
		if (cut->policy != BAD_MEDIAN && cut->policy != BAD_ZERO)
			continue;
		for (size_t c = 0; c < region->shape[1]; c++)
			if (is_bad(cut, frame, first + c))
				fill_pixel(cut, frame, region->origin[0] + r, region->origin[1] + c, out, r * region->shape[1] + c);
	}
}

#define CLEAR_BAD(name, type) \
VECTOR static void name(const type *counts, const uint8_t *flags, size_t count, uint32_t sentinel, type out[]) \
{ \
	for (size_t i = 0; i < count; i++) \
		out[i] = flags[i] || counts[i] == sentinel ? 0 : counts[i]; \
}
CLEAR_BAD(clear_bad_1, uint8_t)
CLEAR_BAD(clear_bad_2, uint16_t)
CLEAR_BAD(clear_bad_4, uint32_t)

void pixel_clear_bad(const uint8_t *flags, size_t element_size, const bitshuffle_block *block, void *out)
{
	const uint32_t sentinel = (uint32_t)pixel_sentinel(element_size);
	if (block->width == 1)
		clear_bad_1(block->elements, flags + block->first, block->count, sentinel, out);
	else if (block->width == 2)
		clear_bad_2(block->elements, flags + block->first, block->count, sentinel, out);
	else if (block->width == 4)
		clear_bad_4(block->elements, flags + block->first, block->count, sentinel, out);
}

/* What row r of a frame has in both the region and the block: its first element and one past its last, by the frame's numbers. */
typedef struct row_part { size_t left, from, to; } row_part;

static row_part part_of_row(const box *region, size_t columns, const bitshuffle_block *block, size_t r)
{
	const size_t left = r * columns + region->origin[1], right = left + region->shape[1], end = block->first + block->count;
	return (row_part){left, left > block->first ? left : block->first, right < end ? right : end};
}

/* The region's rows that the block may have part of. */
static void rows_of_block(const box *region, size_t columns, const bitshuffle_block *block, size_t *first, size_t *end)
{
	const size_t last = (block->first + block->count - 1) / columns, region_end = region->origin[0] + region->shape[0];
	*first = block->first / columns > region->origin[0] ? block->first / columns : region->origin[0];
	*end = last + 1 < region_end ? last + 1 : region_end;
}

size_t pixel_cut_width(const box *region, size_t columns, const bitshuffle_block *block)
{
	size_t r, end, width = 0;
	rows_of_block(region, columns, block, &r, &end);
	for (; r < end; r++) {
		const row_part row = part_of_row(region, columns, block, r);
		if (row.from >= row.to)
			continue;
		const uint8_t *const elements = (const uint8_t *)block->elements + (row.from - block->first) * block->width;
		const size_t own = block->width < 2 ? block->width : elements_width(elements, row.to - row.from, block->width);
		width = own > width ? own : width;
	}
	return width;
}

void pixel_cut_block(const box *region, size_t columns, const bitshuffle_block *block, void *out, size_t width)
{
	size_t r, end;
	rows_of_block(region, columns, block, &r, &end);
	for (; r < end; r++) {
		const row_part row = part_of_row(region, columns, block, r);
		uint8_t *const target = (uint8_t *)out + ((r - region->origin[0]) * region->shape[1] + (row.from - row.left)) * width;
		if (row.from >= row.to)
			continue;
		if (block->width == 0)
			memset(target, 0, (row.to - row.from) * width);
		else
			memcpy(target, (const uint8_t *)block->elements + (row.from - block->first) * width, (row.to - row.from) * width);
	}
}

/* ---- widths ---- */

VECTOR size_t elements_width(const void *elements, size_t count, size_t element_size)
{
	uint32_t any = 0;
	if (element_size == 1)
		return 1;
	for (size_t i = 0; i < count; i++)
		any |= element(elements, i, element_size);
	return any < 256 ? 1 : any < 65536 ? 2 : 4;
}

#define CONVERT(name, from, to) \
VECTOR static void name(const from *in, size_t count, to out[]) \
{ \
	for (size_t i = 0; i < count; i++) \
		out[i] = (to)in[i]; \
}
CONVERT(convert_1_2, uint8_t, uint16_t)
CONVERT(convert_1_4, uint8_t, uint32_t)
CONVERT(convert_2_1, uint16_t, uint8_t)
CONVERT(convert_4_1, uint32_t, uint8_t)
CONVERT(convert_4_2, uint32_t, uint16_t)

void elements_narrow(void *elements, size_t count, size_t element_size, size_t width)
{
	uint32_t tile[TILE];
	for (size_t i = 0, n; i < count; i += n) {
		n = count - i < TILE ? count - i : TILE;
		uint8_t *const out = (uint8_t *)elements + i * width;
		memcpy(tile, (uint8_t *)elements + i * element_size, n * element_size);
		if (element_size == 2)
			convert_2_1((const uint16_t *)tile, n, out);
		else if (width == 1)
			convert_4_1(tile, n, out);
		else
			convert_4_2(tile, n, (uint16_t *)out);
	}
}

void elements_widen(const uint8_t *elements, size_t count, void *out, size_t width)
{
	uint8_t tile[TILE];
	for (size_t end = count, n; end > 0; end -= n) { /* from the end on: what is written lies behind what is still to be read */
		n = end < TILE ? end : TILE;
		memcpy(tile, elements + end - n, n);
		if (width == 2)
			convert_1_2(tile, n, (uint16_t *)out + end - n);
		else
			convert_1_4(tile, n, (uint32_t *)out + end - n);
	}
}
