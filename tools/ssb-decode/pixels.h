/* What happens to counts between the file and the region: sums, flags, fills, narrowing. Frames are rows × columns unsigned integers of 1,
 * 2 or 4 bytes; the largest value of that type, the stored one, is the sentinel that stands for "no count". */
#ifndef DECODE_PIXELS_H
#define DECODE_PIXELS_H

#include "formats/status.h"
#include "tools/bitshuffle/bitshuffle.h"
#include "tools/ssb-decode/bright.h"

/* Bits of the region's pixel_flags. */
enum { FLAG_MASKED = 1, FLAG_SENTINEL = 2, FLAG_ADDED = 4, FLAG_NO_DATA = 8 };

enum bad_pixels { BAD_MASK, BAD_MEDIAN, BAD_ZERO, BAD_KEEP };

uint64_t pixel_sentinel(size_t element_size);

/* Sum and largest count of every pixel over the frames added so far, exact. */
typedef struct pixel_sums {
	size_t pixels;
	uint64_t *sum, *largest;
} pixel_sums;

bool pixel_sums_new(pixel_sums *sums, size_t pixels, ssb_error *err);
void pixel_sums_free(pixel_sums *sums);
void pixel_sums_add(pixel_sums *sums, const void *frames, size_t count, size_t element_size);

/* What one thread adds to the sums, block by block: kept in types that stay in the cache, handed over before they could overflow. */
typedef struct pixel_tally {
	pixel_sums *sums;
	size_t element_size;
	size_t frames;             /* since the last flush */
	uint16_t *sum;             /* of blocks of single bytes */
	uint8_t *largest;
	void *wide_sum, *wide_largest; /* of the others: uint32_t and uint16_t, or uint64_t and uint32_t */
	bool wide_used;
} pixel_tally;

bool pixel_tally_new(pixel_tally *tally, pixel_sums *sums, size_t element_size, ssb_error *err);
void pixel_tally_free(pixel_tally *tally);
size_t pixel_tally_memory(size_t pixels, size_t element_size); /* bytes */
void pixel_tally_add(pixel_tally *tally, const bitshuffle_block *block);
void pixel_tally_frame(pixel_tally *tally); /* once for each frame whose blocks were added */
void pixel_tally_flush(pixel_tally *tally); /* to the sums, whichever thread */

/* Set FLAG_SENTINEL where the sentinel was among the counts. */
void pixel_sums_flag(const pixel_sums *sums, size_t element_size, uint8_t *flags);

/* How frames are cut and what is done to bad pixels: those flagged, and those that read the sentinel in that very frame. */
typedef struct pixel_cut {
	size_t rows, columns, element_size;
	box region;
	enum bad_pixels policy;
	const uint8_t *flags;    /* rows × columns */
	uint8_t *unfilled;       /* rows × columns, set to 1 where a median had no valid neighbour and the count was left as read */
} pixel_cut;

/* One frame's region to `out`. BAD_MEDIAN: the median of the valid ones of the 8 neighbours, those outside the region too; of an even number
 * the mean of the middle two, rounded down. Safe to call from several threads. */
void pixel_cut_frame(const pixel_cut *cut, const void *frame, void *out);

/* A block's elements to `out`, of the same width, with 0 for those that are bad (BAD_ZERO). */
void pixel_clear_bad(const uint8_t *flags, size_t element_size, const bitshuffle_block *block, void *out);

/* The width (elements_width) that the region's part of a block of a frame with `columns` columns asks for; 0 when it has none, or where the block is zeros. */
size_t pixel_cut_width(const box *region, size_t columns, const bitshuffle_block *block);

/* That part to its place in the frame's region at `out`, whose elements have `width` bytes, as the block's have unless they are zeros. */
void pixel_cut_block(const box *region, size_t columns, const bitshuffle_block *block, void *out, size_t width);

/* The bytes (1, 2 or 4) of the narrowest unsigned type that holds all of `count` elements. */
size_t elements_width(const void *elements, size_t count, size_t element_size);

/* Convert in place to a narrower type, of `width` bytes, that holds them all. */
void elements_narrow(void *elements, size_t count, size_t element_size, size_t width);

/* Bytes to elements of `width` (2 or 4) bytes; `out` may begin where `elements` does. */
void elements_widen(const uint8_t *elements, size_t count, void *out, size_t width);

#endif
