#include "tools/ssb-decode/pixels.h"

#include <stdlib.h>
#include <string.h>

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
	sums->frames += count;
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

/* ---- narrowing ---- */

size_t elements_width(const void *elements, size_t count, size_t element_size)
{
	uint32_t any = 0;
#pragma omp parallel for reduction(| : any)
	for (size_t i = 0; i < count; i++)
		any |= element(elements, i, element_size);
	return any < 256 ? 1 : any < 65536 ? 2 : 4;
}

void elements_narrow(const void *elements, size_t count, size_t element_size, void *out, size_t width)
{
#pragma omp parallel for
	for (size_t i = 0; i < count; i++)
		set_element(out, i, width, element(elements, i, element_size));
}
