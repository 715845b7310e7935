/* From an acquisition to a region: the rectangle of scan positions and detector pixels that the later stages work on. */
#ifndef DECODE_REGION_H
#define DECODE_REGION_H

#include "formats/container.h"
#include "tools/ssb-decode/frame_source.h"
#include "tools/ssb-decode/pixels.h"

typedef struct region_plan {
	size_t scan[2];          /* of the whole acquisition */
	const char *scan_source;
	box positions;           /* of the scan */
	box pixels;              /* of the detector; found by region_find_pixels unless given */
	bool found;              /* `pixels` was found, and is to be checked against the exact pattern */
	enum bad_pixels policy;
	enum ssb_codec codec;
	size_t memory;           /* bytes */
	uint8_t *valid;          /* positions.shape: 1 where the position has a frame */
	uint64_t frames;         /* of them */
	uint8_t *flags;          /* the detector's pixel_flags */
} region_plan;

size_t region_positions(const region_plan *plan);

/* The number of the frame at position `p` of the region. */
uint64_t region_frame(const region_plan *plan, size_t p);

void region_plan_free(region_plan *plan);

/* Find out which positions have a frame. Without `partial` one without is an error that names the frames; with it they are named. */
bool region_find_valid(region_plan *plan, const acquisition *a, frame_source *source, bool partial, ssb_error *err);

/* First of all: refused when --memory is too small for such frames. Flags from the file's mask and from `added` (rows × columns, nonzero: bad; NULL: none). Refused when nothing is left. */
bool region_flag_pixels(region_plan *plan, const acquisition *a, const uint8_t *added, ssb_error *err);

/* Set `pixels` to the bright field's bounding box and a margin, judged from up to 2048 evenly spaced frames; to the full detector when
 * there is no bright field to see. Says which. */
bool region_find_pixels(region_plan *plan, const acquisition *a, frame_source *source, ssb_error *err);

/* Read, cut and write everything to `path`; `history` is borrowed. */
bool region_write(region_plan *plan, const acquisition *a, frame_source *source, const json_t *history, const char *path, ssb_error *err);

#endif
