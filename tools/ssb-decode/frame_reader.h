/* Frames that are chunks of known places, read by one thread without HDF5 and handed on block by block, never whole in memory. */
#ifndef DECODE_FRAME_READER_H
#define DECODE_FRAME_READER_H

#include "tools/ssb-decode/frame_source.h"

typedef struct frame_reader frame_reader;

/* For a source whose places are known; both are borrowed. */
frame_reader *frame_reader_new(const acquisition *a, const frame_source *source, ssb_error *err);
void frame_reader_free(frame_reader *reader); /* NULL is allowed */

/* Bytes that a reader takes, at most. */
size_t frame_reader_memory(const acquisition *a);

/* Where frames go: begin(context, i) before the first block of the list's frame i, then its blocks in order. */
typedef struct frame_sink { void (*begin)(void *context, size_t i); bitshuffle_take *take; void *context; } frame_sink;

/* Read `count` frames, numbers ascending. The error names the first that failed. */
bool frame_reader_run(frame_reader *reader, const uint64_t *frames, size_t count, const frame_sink *sink, ssb_error *err);

#endif
