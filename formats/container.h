/* The intermediate format: regions, spectra, fits, phases and maps are five kinds of one container (formats/SPEC.md).
 *
 * A container is a JSON header and a list of arrays, each a C-order sequence of elements cut into chunks of `chunk_elements`
 * (the last may be shorter). Chunks are stored in the order of the arrays in the header, then by number; this library is the only
 * reader and writer in C. All functions take byte order little-endian as given (the library refuses to build elsewhere). */
#ifndef FORMATS_CONTAINER_H
#define FORMATS_CONTAINER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/status.h"

enum ssb_kind { SSB_REGION = 1, SSB_SPECTRUM = 2, SSB_FIT = 3, SSB_PHASE = 4, SSB_MAP = 5 };

enum ssb_dtype { SSB_U1 = 1, SSB_U2, SSB_U4, SSB_U8, SSB_I4, SSB_F4, SSB_F8, SSB_C8, SSB_C16,
                 SSB_C4 }; /* names as in numpy: bytes per element; c4 is two IEEE halves */

enum ssb_codec { SSB_RAW = 0, SSB_ZSTD = 1 }; /* SSB_ZSTD shuffles the bytes of elements wider than one byte first */

enum { SSB_MAX_RANK = 6, SSB_MAX_ARRAYS = 32, SSB_NAME_SIZE = 32 };

typedef struct ssb_array {
	char name[SSB_NAME_SIZE];
	enum ssb_dtype dtype;
	enum ssb_codec codec;
	unsigned rank;                  /* 0 … SSB_MAX_RANK; rank 0 is one element */
	uint64_t shape[SSB_MAX_RANK];
	uint64_t chunk_elements;        /* > 0 */
	char unit[SSB_NAME_SIZE];       /* "counts", "rad", "1/A", "1" … */
} ssb_array;

const char *ssb_kind_name(enum ssb_kind kind);        /* "region", … */
const char *ssb_dtype_name(enum ssb_dtype dtype);     /* "u2", "c8", … */
size_t ssb_dtype_size(enum ssb_dtype dtype);          /* bytes per element */
uint64_t ssb_array_elements(const ssb_array *array);  /* product of the shape */
uint64_t ssb_array_chunks(const ssb_array *array);    /* number of chunks */
uint64_t ssb_chunk_elements(const ssb_array *array, uint64_t chunk); /* elements in this chunk */

/* ---- writing ---- */

typedef struct ssb_writer ssb_writer;

/* Start a container at `path` ("-": standard output). `meta` (borrowed) is the header's "meta" object, `history` (borrowed) its
 * "history" array. Header is written at once; every chunk of every array must follow, in order. NULL on failure. */
ssb_writer *ssb_writer_open(const char *path, enum ssb_kind kind, const json_t *meta, const json_t *history,
                            const ssb_array *arrays, size_t count, ssb_error *err);

/* Write the next chunk of the current array. `stored` is the type of `elements`: the array's dtype, or for an unsigned integer
 * array a narrower unsigned type. The number of elements is what the array's shape and chunking say. */
bool ssb_write_chunk(ssb_writer *writer, const void *elements, enum ssb_dtype stored, ssb_error *err);

/* Write the next `count` chunks of the current array, whose codec is raw: elements[i] are those of the i-th of them. Hashed by all threads,
 * and in a regular file written by them, each chunk to its place. The same bytes as one by one. */
bool ssb_write_chunks(ssb_writer *writer, const void *const *elements, size_t count, enum ssb_dtype stored, ssb_error *err);

/* Write all chunks of the current array (which none has been written of) from one block in its own dtype. An array without elements
 * takes one such call, or none where ssb_write_chunk follows. */
bool ssb_write_array(ssb_writer *writer, const void *elements, ssb_error *err);

/* Write the end record (fails when chunks are missing), commit the output; frees `writer` in any case. */
bool ssb_writer_finish(ssb_writer *writer, ssb_error *err);

/* Leave nothing behind; frees. NULL is allowed. */
void ssb_writer_discard(ssb_writer *writer);

/* ---- reading ---- */

typedef struct ssb_reader ssb_reader;

/* Open `path` ("-": standard input) and read the header; a regular file is mapped and all its chunk headers and the end record are
 * checked at once (truncation shows here). `memory_limit` (bytes) bounds what is allocated for decoded or piped chunks. */
ssb_reader *ssb_reader_open(const char *path, size_t memory_limit, ssb_error *err);
void ssb_reader_close(ssb_reader *reader); /* NULL is allowed */

/* As ssb_reader_open, then fail with SSB_BAD_INPUT when the kind is another ("'x' is a spectrum, not a phase"). */
ssb_reader *ssb_reader_open_kind(const char *path, enum ssb_kind kind, size_t memory_limit, ssb_error *err);

enum ssb_kind ssb_reader_kind(const ssb_reader *reader);
const char *ssb_reader_path(const ssb_reader *reader);

/* Whether the input is a regular file, which is mapped: its chunks may be asked for in any order, and raw ones take no memory. */
bool ssb_reader_is_mapped(const ssb_reader *reader);
const json_t *ssb_reader_header(const ssb_reader *reader);  /* borrowed: all of the JSON header, as SPEC.md section 1 has it */
const json_t *ssb_reader_meta(const ssb_reader *reader);    /* borrowed */
const json_t *ssb_reader_history(const ssb_reader *reader); /* borrowed, an array */
size_t ssb_reader_arrays(const ssb_reader *reader);
const ssb_array *ssb_reader_array(const ssb_reader *reader, size_t index); /* borrowed */

/* Index of the array called `name`; fails with SSB_BAD_INPUT when there is none, or (rank, dtype != 0) it is of another rank or type. */
bool ssb_reader_find(const ssb_reader *reader, const char *name, enum ssb_dtype dtype, unsigned rank, size_t *index, ssb_error *err);

/* Chunk of an array: verified against its hash the first time. In a regular file a raw chunk is the mapped bytes themselves; on a
 * pipe everything up to that chunk is read and kept (within the memory limit: the error then names the remedy, a file).
 * *elements stays valid until ssb_reader_close; *stored is its type (see ssb_write_chunk). Safe to call from several threads for
 * regular files only. */
bool ssb_reader_chunk(ssb_reader *reader, size_t array, uint64_t chunk, const void **elements, enum ssb_dtype *stored, ssb_error *err);

/* On a pipe: pass over all that comes before `array`, verifying but not keeping it (it cannot be asked for any more). */
bool ssb_reader_skip_to(ssb_reader *reader, size_t array, ssb_error *err);

/* Copy `count` elements of a chunk into `out`, from the type they are stored in to the array's (see ssb_write_chunk). */
void ssb_widen(const void *elements, enum ssb_dtype stored, uint64_t count, void *out, enum ssb_dtype dtype);

/* Copy a whole array into `elements` (ssb_array_elements × dtype size bytes, caller's), widening narrowed chunks. */
bool ssb_read_array(ssb_reader *reader, size_t array, void *elements, ssb_error *err);

/* Find by name, check type and rank, allocate with malloc, read. Caller frees. */
void *ssb_load_array(ssb_reader *reader, const char *name, enum ssb_dtype dtype, unsigned rank, uint64_t *shape, ssb_error *err);

/* Read on to the end record (on a pipe; in a file it is read already): verifies counts and the hash over all chunks.
 * digest: 16 hex digits and a NUL, the container's identity as the next stage's history states it. */
bool ssb_reader_finish(ssb_reader *reader, char digest[17], ssb_error *err);

/* Verify every chunk's hash (a regular file: all of it is read; a pipe: read to the end without keeping anything). */
bool ssb_reader_verify(ssb_reader *reader, ssb_error *err);

/* Bytes of the chunks in mapped files that this process has verified so far: what it took in without a read (tools/common/profile.h). */
uint64_t ssb_mapped_bytes(void);

#endif
