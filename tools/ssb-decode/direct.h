/* Frames that are chunks of known places (frame_source_places_known), straight to the region: each block of counts is added to the sums and
 * cut to the region while it is in the cache. Every thread makes chunks of the output; one at a time writes, in order. */
#ifndef DECODE_DIRECT_H
#define DECODE_DIRECT_H

#include "tools/ssb-decode/region.h"

/* Write all chunks of counts, of `chunk_frames` positions each (the last may have fewer), and add their frames to `sums`. Every
 * policy but BAD_MEDIAN, which needs whole frames. */
bool direct_write(const region_plan *plan, const acquisition *a, const frame_source *source, size_t chunk_frames, ssb_writer *writer,
                  pixel_sums *sums, ssb_error *err);

/* Add `count` frames to `sums`. */
bool direct_sum(const region_plan *plan, const acquisition *a, const frame_source *source, const uint64_t *frames, size_t count,
                pixel_sums *sums, ssb_error *err);

#endif
