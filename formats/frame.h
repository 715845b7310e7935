/* What lies on disk between the arrays (SPEC.md sections 1 to 4): three records of 64 bytes, and the text of the JSON header.
 * Private to formats/. The structs are the bytes themselves, so only little-endian machines can build this. */
#ifndef FORMATS_FRAME_H
#define FORMATS_FRAME_H

#include <jansson.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>
#include "formats/container.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the container's byte order is this library's");

enum { FRAME_SIZE = 64, FRAME_CHECKED = 56, FORMAT_VERSION = 1 };

#define FRAME_MAGIC "\x89SSB\r\n\x1a\n"
#define CHUNK_MARK  "CHNK"
#define END_MARK    "ENDR"

/* A JSON header longer than this is refused: the tools write some kilobytes. */
static const uint64_t json_size_limit = UINT64_C(64) << 20;

/* Ignorable bit 0 of the end record: an index follows, which this version neither writes nor reads. */
static const uint32_t end_index_follows = 1;

struct frame_file {
	char magic[8];
	uint16_t version, zero16;
	uint32_t kind, ignorable, refuse;
	uint64_t json_size, json_hash, zero[2], check;
};

struct frame_chunk {
	char mark[4];
	uint32_t array;
	uint64_t chunk, raw_size, stored_size;
	uint32_t codec, stored, ignorable, refuse;
	uint64_t payload_hash, check;
};

struct frame_end {
	char mark[4];
	uint32_t arrays;
	uint64_t chunks, raw_size, stored_size;
	uint32_t ignorable, refuse;
	uint64_t digest, zero, check;
};

_Static_assert(sizeof(struct frame_file) == FRAME_SIZE && sizeof(struct frame_chunk) == FRAME_SIZE &&
               sizeof(struct frame_end) == FRAME_SIZE, "records of 64 bytes without gaps");

/* The hash that is the last field of each record. */
static inline uint64_t frame_check(const void *record)
{
	return XXH3_64bits(record, FRAME_CHECKED);
}

/* Zero bytes that follow `size` bytes up to the next multiple of 64. */
static inline size_t frame_padding(uint64_t size)
{
	return (size_t)(-size & (FRAME_SIZE - 1));
}

/* A path as messages show it: quoted, or `dash` for "-". malloc'd; NULL when out of memory. */
char *frame_shown(const char *path, const char *dash);

/* Whether a chunk of an array of `dtype` may be stored as `stored`: the same, or both unsigned and no wider. */
bool dtype_holds(enum ssb_dtype dtype, enum ssb_dtype stored);

/* No zstd frame expands further: a block yields at most 128 KiB and takes at least 4 bytes. */
static const uint64_t zstd_largest_ratio = 32768;

/* ---- reading (reader.c) ---- */

/* Whether `size` bytes more are within the reader's memory limit; the error names the remedy. */
bool reader_can_hold(const ssb_reader *reader, size_t size, ssb_error *err);

/* ---- the JSON header (header.c) ---- */

struct header {
	json_t *root;                          /* owned */
	const json_t *meta, *history;          /* in root */
	ssb_array array[SSB_MAX_ARRAYS];
	size_t arrays;
	uint64_t first_chunk[SSB_MAX_ARRAYS + 1]; /* chunks before each array; the last is the number of chunks */
};

/* Fill in `header` for writing (takes its own references to copies of meta and history); SSB_RUNTIME when the arrays make no sense. */
bool header_make(struct header *header, enum ssb_kind kind, const json_t *meta, const json_t *history, const ssb_array *arrays,
                 size_t count, ssb_error *err);

/* The deterministic text: compact, keys in the order of insertion, reals with 17 digits. malloc'd; NULL when out of memory. */
char *header_text(const struct header *header);

/* Parse and check the text of a header of this kind; SSB_BAD_INPUT. */
bool header_parse(struct header *header, enum ssb_kind kind, const char *text, size_t size, ssb_error *err);

void header_release(struct header *header);

/* ---- payloads (codec.c) ---- */

/* Byte shuffle and zstd of `size` bytes in elements of `element` bytes, into `packed` (codec_bound(size) bytes); `scratch` has `size`
 * bytes. Returns the packed size, 0 on failure. */
size_t codec_pack(const void *bytes, size_t size, size_t element, void *scratch, void *packed);
size_t codec_bound(size_t size);

/* The inverse, into exactly `size` bytes. */
bool codec_unpack(const void *packed, size_t packed_size, size_t element, void *scratch, void *bytes, size_t size, ssb_error *err);

#endif
