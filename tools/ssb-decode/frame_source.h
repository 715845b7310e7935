/* Any frames of an acquisition, as counts in the machine's byte order; one data file is open at a time.
 *
 * Where each frame is a chunk of its own, its place is kept as the data files are opened, so that threads can read without HDF5. */
#ifndef DECODE_FRAME_SOURCE_H
#define DECODE_FRAME_SOURCE_H

#include <sys/types.h>
#include "tools/ssb-decode/acquisition.h"
#include "tools/ssb-decode/chunk_decoder.h"

typedef struct frame_source frame_source;

/* `a` is borrowed. Places are not kept when they would take more than an eighth of `memory` (bytes). */
frame_source *frame_source_open(const acquisition *a, size_t memory, ssb_error *err);
void frame_source_close(frame_source *source);                        /* NULL is allowed */

/* absent[i] = 1 for each of the `count` frames (numbers ascending) that is in no file or was never written. */
bool frame_source_absent(frame_source *source, const uint64_t *frames, size_t count, uint8_t *absent, ssb_error *err);

/* Read `count` frames (numbers ascending, none absent) into `values`: count × rows × columns elements of a->element_size bytes. */
bool frame_source_read(frame_source *source, const uint64_t *frames, size_t count, void *values, ssb_error *err);

/* A chunk in its part's file: from the file's start; size 0: never written. */
typedef struct frame_place { uint64_t address; uint32_t size; bool plain; } frame_place;

/* Of the frames of a part; and of which file, which may be replaced under its name. */
typedef struct part_places { frame_place *frame; chunk_packing packing; dev_t device; ino_t inode; } part_places;

/* True when the places of all frames of the parts that have been open are known (frame_source_absent opens those of the frames asked for). */
bool frame_source_places_known(const frame_source *source);

/* The source's; `frame` is NULL when they are not known. Safe to call from several threads. */
const part_places *frame_source_places(const frame_source *source, size_t part);

/* The part that holds frame `number`, or the first one after it; a->parts when there is none. */
size_t frame_source_part(const acquisition *a, uint64_t number);

/* Put "cannot read", the file and the set in front of an error; returns false. */
bool frame_source_name_part(const acquisition *a, const acquisition_part *part, ssb_error *err);

/* How many of the `count` frames to read at once, at most `limit`: up to a place where no chunk is cut, if there is one. */
size_t frame_source_batch(const frame_source *source, const uint64_t *frames, size_t count, size_t limit);

#endif
