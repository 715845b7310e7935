/* A region in memory: its counts as the container holds them, and what is known of the detector's pixels. */
#ifndef SSB_PREP_REGION_H
#define SSB_PREP_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/container.h"

/* Counts of a scan: blocks of whole frames, each in its own narrow unsigned type, in a mapped file or in memory. */
typedef struct frame_counts {
	size_t frames, frame_elements; /* scan positions; detector pixels of the region in each */
	size_t block_frames;           /* frames in each block, the last may have fewer */
	size_t blocks;
	const void **block;
	enum ssb_dtype *type;
} frame_counts;

/* The first element of a frame, and its type. */
const void *counts_frame(const frame_counts *c, size_t frame, enum ssb_dtype *type);

typedef struct region {
	ssb_reader *reader;
	const json_t *meta;             /* borrowed from the reader */
	char digest[17];
	size_t scan[2], scan_origin[2]; /* positions; where they lie in the acquisition */
	size_t detector[2];             /* the full detector */
	size_t origin[2], window[2];    /* the rectangle of `counts` on it */
	frame_counts counts;
	size_t held, mapped;            /* bytes of counts in memory, and in the mapped file */
	uint8_t *scan_valid;            /* per position: it has a frame */
	size_t valid_positions;
	uint64_t *sum_pattern;          /* full detector, sum over the valid positions */
	uint64_t *largest_count;        /* full detector */
	uint8_t *usable;                /* full detector: 1 where a pixel is not flagged, or its flag is to be ignored */
} region;

/* Read all of the region at `path` ("-": standard input), checking that its arrays and its header agree. `memory` (bytes) bounds the
 * counts that cannot be mapped. Release with region_close in any case. */
bool region_load(region *r, const char *path, size_t memory, ssb_error *err);
void region_close(region *r);

/* Its path, or "standard input", for messages. */
const char *region_name(const region *r);

#endif
