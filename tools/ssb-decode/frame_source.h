/* Any frames of an acquisition, as counts in the machine's byte order; one data file is open at a time. */
#ifndef DECODE_FRAME_SOURCE_H
#define DECODE_FRAME_SOURCE_H

#include "tools/ssb-decode/acquisition.h"

typedef struct frame_source frame_source;

frame_source *frame_source_open(const acquisition *a, ssb_error *err); /* `a` is borrowed */
void frame_source_close(frame_source *source);                        /* NULL is allowed */

/* absent[i] = 1 for each of the `count` frames (numbers ascending) that is in no file or was never written. */
bool frame_source_absent(frame_source *source, const uint64_t *frames, size_t count, uint8_t *absent, ssb_error *err);

/* Read `count` frames (numbers ascending, none absent) into `values`: count × rows × columns elements of a->element_size bytes. */
bool frame_source_read(frame_source *source, const uint64_t *frames, size_t count, void *values, ssb_error *err);

/* How many of the `count` frames to read at once, at most `limit`: up to a place where no chunk is cut, if there is one. */
size_t frame_source_batch(const frame_source *source, const uint64_t *frames, size_t count, size_t limit);

#endif
