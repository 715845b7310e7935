#include "formats/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct chunk {
	uint64_t offset, stored_size, hash;   /* of the payload */
	enum ssb_dtype stored;
	enum ssb_codec codec;
	const void *_Atomic elements;         /* verified and decoded; NULL: not yet, or passed over on a pipe */
};

struct ssb_reader {
	char *path, *shown;                   /* as given, and for messages */
	int fd;
	const unsigned char *map;             /* a regular file; NULL: read in one pass */
	uint64_t size;                        /* of the map */
	uint64_t position;                    /* bytes taken so far */
	enum ssb_kind kind;
	struct header header;
	struct chunk *chunk;                  /* those whose headers are read */
	size_t chunks, capacity;
	uint64_t raw_size, stored_size;       /* sums over them */
	XXH3_state_t *identity;
	bool finished;
	uint64_t digest;
	size_t memory_limit;
	atomic_size_t allocated;
};

typedef unsigned long long wide; /* for printf */

static bool fail_reading(const ssb_reader *reader, ssb_error *err)
{
	return ssb_fail_prefix(err, "cannot read %s: ", reader->shown);
}

/* ---- bytes ---- */

/* Reads `size` bytes unless the end comes before; counts them in position. */
static bool read_bytes(ssb_reader *reader, void *buffer, size_t size, size_t *got, ssb_error *err)
{
	unsigned char *next = buffer;
	for (*got = 0; *got < size;) {
		const ssize_t count = read(reader->fd, next + *got, size - *got);
		if (count < 0 && errno != EINTR)
			return ssb_fail_errno(err, "is unreadable at byte %llu", (wide)reader->position);
		if (count == 0)
			break;
		if (count > 0) {
			*got += (size_t)count;
			reader->position += (uint64_t)count;
		}
	}
	return true;
}

/* The next `size` bytes: in the map, or read into `buffer`. NULL when there are no more so many. */
static const void *take(ssb_reader *reader, void *buffer, size_t size, ssb_error *err)
{
	size_t got = 0;
	if (!reader->map) {
		if (!read_bytes(reader, buffer, size, &got, err))
			return NULL;
		if (got == size)
			return buffer;
	} else if (size <= reader->size - reader->position) {
		const void *bytes = reader->map + reader->position;
		reader->position += size;
		return bytes;
	}
	ssb_fail(err, SSB_BAD_INPUT, "is truncated at byte %llu", (wide)(reader->map ? reader->size : reader->position));
	return NULL;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
	while (size > 0 && *bytes == 0) {
		bytes++;
		size--;
	}
	return size == 0;
}

bool reader_can_hold(const ssb_reader *reader, size_t size, ssb_error *err)
{
	const size_t allocated = reader->allocated;
	if (allocated <= reader->memory_limit && size <= reader->memory_limit - allocated)
		return true;
	return ssb_fail(err, SSB_RUNTIME, "needs %zu bytes, which with the %zu in use pass the memory limit of %zu (raise --memory%s)", size, allocated,
	                reader->memory_limit, reader->map ? "" : ", or read from a file, which is mapped, not from a pipe");
}

/* Memory of the reader's lifetime, within the limit (threads that ask at the same moment may pass it by what they ask for). */
static void *reserve(ssb_reader *reader, size_t size, ssb_error *err)
{
	if (!reader_can_hold(reader, size, err))
		return NULL;
	const size_t rounded = size + frame_padding(size);
	void *memory = aligned_alloc(FRAME_SIZE, rounded);
	if (memory)
		atomic_fetch_add(&reader->allocated, rounded);
	else
		ssb_fail(err, SSB_RUNTIME, "needs %zu bytes: out of memory", size);
	return memory;
}

static void give_back(ssb_reader *reader, void *memory, size_t size)
{
	if (memory)
		atomic_fetch_sub(&reader->allocated, size + frame_padding(size));
	free(memory);
}

/* ---- opening ---- */

static bool is_mappable(const ssb_reader *reader, const struct stat *info)
{
	return S_ISREG(info->st_mode) && lseek(reader->fd, 0, SEEK_CUR) == 0;
}

static bool open_descriptor(ssb_reader *reader, ssb_error *err)
{
	struct stat info;
	reader->fd = strcmp(reader->path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(reader->path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0 || fstat(reader->fd, &info) != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "cannot read %s: %s", reader->shown, strerror(errno));
	if (S_ISDIR(info.st_mode))
		return ssb_fail(err, SSB_BAD_INPUT, "cannot read %s: %s", reader->shown, strerror(EISDIR));
	if (isatty(reader->fd))
		return ssb_fail(err, SSB_USAGE, "refusing to read binary data from a terminal: name a file or use a pipe");
	if (!is_mappable(reader, &info) || info.st_size == 0)
		return true;
	void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, reader->fd, 0);
	if (map == MAP_FAILED)
		return ssb_fail_errno(err, "cannot map %s", reader->shown);
	reader->map = map;
	reader->size = (uint64_t)info.st_size;
	return true;
}

static bool check_magic(const struct frame_file *frame, size_t size, ssb_error *err)
{
	const size_t magic = sizeof frame->magic;
	if (size == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "it is empty (did the tool before fail?)");
	if (size >= 4 && memcmp(frame->magic, FRAME_MAGIC, 4) == 0 && memcmp(frame->magic, FRAME_MAGIC, size < magic ? size : magic) != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "its line ends were converted: it was copied as text");
	if (memcmp(frame->magic, FRAME_MAGIC, size < magic ? size : magic) != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "it is no file of ssb-tools");
	return size == FRAME_SIZE || ssb_fail(err, SSB_BAD_INPUT, "it is truncated at byte %zu, in the file header", size);
}

static bool check_file_frame(const ssb_reader *reader, const struct frame_file *frame, ssb_error *err)
{
	if (frame->check != frame_check(frame))
		return ssb_fail(err, SSB_BAD_INPUT, "the file header fails its checksum (bytes 0 to 63)");
	if (frame->version != FORMAT_VERSION)
		return ssb_fail(err, SSB_BAD_INPUT, "it is of format version %u; this program knows %d", frame->version, FORMAT_VERSION);
	if (frame->refuse != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "it uses features (bits 0x%x) that this program does not know", frame->refuse);
	if (frame->zero16 || frame->zero[0] || frame->zero[1])
		return ssb_fail(err, SSB_BAD_INPUT, "the file header's reserved bytes are not zero");
	if (frame->kind < SSB_REGION || frame->kind > SSB_MAP)
		return ssb_fail(err, SSB_BAD_INPUT, "it is of kind %u, which this program does not know", frame->kind);
	if (frame->json_size > json_size_limit)
		return ssb_fail(err, SSB_BAD_INPUT, "the file header announces %llu bytes of JSON, more than %llu", (wide)frame->json_size,
		                (wide)json_size_limit);
	return !reader->map || frame->json_size <= reader->size - FRAME_SIZE ||
	       ssb_fail(err, SSB_BAD_INPUT, "it is truncated at byte %llu, in the JSON header of %llu bytes", (wide)reader->size,
	                (wide)frame->json_size);
}

static bool parse_json(ssb_reader *reader, const struct frame_file *frame, const char *text, ssb_error *err)
{
	const size_t size = frame->json_size;
	if (XXH3_64bits(text, size) != frame->json_hash || !is_zero((const unsigned char *)text + size, frame_padding(size)))
		return ssb_fail(err, SSB_BAD_INPUT, "the JSON header fails its checksum (bytes 64 to %zu)", FRAME_SIZE + size - 1);
	return header_parse(&reader->header, reader->kind, text, size, err);
}

static bool read_json(ssb_reader *reader, const struct frame_file *frame, ssb_error *err)
{
	const size_t size = frame->json_size + frame_padding(frame->json_size);
	void *buffer = NULL;
	if (!reader->map && !(buffer = reserve(reader, size, err)))
		return false;
	const char *text = take(reader, buffer, size, err);
	const bool ok = text ? parse_json(reader, frame, text, err) : ssb_fail_prefix(err, "the JSON header ");
	give_back(reader, buffer, size);
	return ok;
}

static bool read_file_frame(ssb_reader *reader, ssb_error *err)
{
	struct frame_file frame = {0};
	size_t got = reader->size < FRAME_SIZE ? (size_t)reader->size : FRAME_SIZE;
	if (!reader->map) {
		if (!read_bytes(reader, &frame, FRAME_SIZE, &got, err))
			return false;
	} else {
		memcpy(&frame, reader->map, got);
		reader->position = got;
	}
	if (!check_magic(&frame, got, err) || !check_file_frame(reader, &frame, err))
		return false;
	reader->kind = frame.kind;
	XXH3_64bits_reset(reader->identity);
	XXH3_64bits_update(reader->identity, &frame.check, sizeof frame.check);
	return read_json(reader, &frame, err);
}

/* ---- chunks ---- */

static size_t array_of(const ssb_reader *reader, uint64_t index)
{
	size_t array = 0;
	while (index >= reader->header.first_chunk[array + 1])
		array++;
	return array;
}

/* Puts "chunk 17 of 'counts'" in front of a failure. */
static bool fail_chunk(const ssb_reader *reader, uint64_t index, ssb_error *err)
{
	const size_t array = array_of(reader, index);
	return ssb_fail_prefix(err, "chunk %llu of '%s' ", (wide)(index - reader->header.first_chunk[array]),
	                       reader->header.array[array].name);
}

static uint64_t chunk_elements(const ssb_reader *reader, uint64_t index)
{
	const size_t array = array_of(reader, index);
	return ssb_chunk_elements(&reader->header.array[array], index - reader->header.first_chunk[array]);
}

static size_t chunk_raw_size(const ssb_reader *reader, uint64_t index)
{
	return chunk_elements(reader, index) * ssb_dtype_size(reader->chunk[index].stored);
}

static bool sizes_agree(const struct frame_chunk *frame, uint64_t elements)
{
	const uint64_t raw = frame->raw_size, stored = frame->stored_size;
	if (raw != elements * ssb_dtype_size(frame->stored) || stored == 0)
		return false;
	return frame->codec == SSB_RAW ? stored == raw : stored < raw && raw / zstd_largest_ratio <= stored;
}

/* What the record says must be what the header makes inevitable. */
static bool check_chunk_frame(const ssb_reader *reader, uint64_t index, const struct frame_chunk *frame, ssb_error *err)
{
	const size_t array = array_of(reader, index);
	const ssb_array *expected = &reader->header.array[array];
	if (memcmp(frame->mark, END_MARK, sizeof frame->mark) == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "is missing: the end record has its place");
	if (memcmp(frame->mark, CHUNK_MARK, sizeof frame->mark) != 0 || frame->check != frame_check(frame))
		return ssb_fail(err, SSB_BAD_INPUT, "has a damaged header (bytes %llu to %llu)", (wide)reader->position - FRAME_SIZE,
		                (wide)reader->position - 1);
	if (frame->refuse != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "uses features (bits 0x%x) that this program does not know", frame->refuse);
	if (frame->array != array || frame->chunk != index - reader->header.first_chunk[array])
		return ssb_fail(err, SSB_BAD_INPUT, "has chunk %llu of array %u in its place", (wide)frame->chunk, frame->array);
	if (!dtype_holds(expected->dtype, frame->stored) || (frame->codec != SSB_RAW && frame->codec != expected->codec))
		return ssb_fail(err, SSB_BAD_INPUT, "has dtype %u and codec %u, which cannot be in this array", frame->stored, frame->codec);
	if (!sizes_agree(frame, ssb_chunk_elements(expected, frame->chunk)))
		return ssb_fail(err, SSB_BAD_INPUT, "has impossible sizes of %llu bytes, %llu stored", (wide)frame->raw_size,
		                (wide)frame->stored_size);
	return true;
}

static struct chunk *append_chunk(ssb_reader *reader, const struct frame_chunk *frame, ssb_error *err)
{
	if (reader->chunks == reader->capacity) {
		const size_t capacity = reader->capacity ? 2 * reader->capacity : 64;
		struct chunk *grown = realloc(reader->chunk, capacity * sizeof *grown);
		if (!grown) {
			ssb_fail(err, SSB_RUNTIME, "out of memory");
			return NULL;
		}
		reader->chunk = grown;
		reader->capacity = capacity;
	}
	XXH3_64bits_update(reader->identity, &frame->check, sizeof frame->check);
	reader->raw_size += frame->raw_size;
	reader->stored_size += frame->stored_size;
	struct chunk *chunk = &reader->chunk[reader->chunks++];
	*chunk = (struct chunk){.offset = reader->position, .stored_size = frame->stored_size, .hash = frame->payload_hash,
		                 .stored = frame->stored, .codec = frame->codec};
	return chunk;
}

static struct chunk *read_chunk_frame(ssb_reader *reader, ssb_error *err)
{
	struct frame_chunk frame;
	const void *bytes = take(reader, &frame, sizeof frame, err);
	if (!bytes)
		return NULL;
	memcpy(&frame, bytes, sizeof frame);
	return check_chunk_frame(reader, reader->chunks, &frame, err) ? append_chunk(reader, &frame, err) : NULL;
}

static bool check_hash(const struct chunk *chunk, uint64_t hash, bool padded, ssb_error *err)
{
	if (hash != chunk->hash)
		return ssb_fail(err, SSB_BAD_INPUT, "fails its checksum (bytes %llu to %llu)", (wide)chunk->offset,
		                (wide)(chunk->offset + chunk->stored_size - 1));
	return padded || ssb_fail(err, SSB_BAD_INPUT, "has padding that is not zero (after byte %llu)",
	                          (wide)(chunk->offset + chunk->stored_size - 1));
}

static bool check_payload(const struct chunk *chunk, const unsigned char *payload, ssb_error *err)
{
	return check_hash(chunk, XXH3_64bits(payload, chunk->stored_size),
	                  is_zero(payload + chunk->stored_size, frame_padding(chunk->stored_size)), err);
}

static atomic_uint_least64_t mapped_bytes; /* verified by this process, of all readers */

uint64_t ssb_mapped_bytes(void)
{
	return mapped_bytes;
}

/* Decoded elements of a zstd payload, in memory of the reader's lifetime; NULL on failure. */
static void *unpack(ssb_reader *reader, const struct chunk *chunk, const void *payload, size_t raw_size, ssb_error *err)
{
	const size_t width = ssb_dtype_size(chunk->stored);
	void *elements = reserve(reader, raw_size, err);
	void *scratch = elements && width > 1 ? reserve(reader, raw_size, err) : NULL;
	const bool ok = elements && (scratch || width == 1) &&
	                codec_unpack(payload, chunk->stored_size, width, scratch, elements, raw_size, err);
	give_back(reader, scratch, raw_size);
	if (ok)
		return elements;
	give_back(reader, elements, raw_size);
	return NULL;
}

/* A chunk of a mapped file, by any thread: whoever decodes it first publishes it. */
static bool load_mapped(ssb_reader *reader, uint64_t index, ssb_error *err)
{
	struct chunk *chunk = &reader->chunk[index];
	const unsigned char *payload = reader->map + chunk->offset;
	if (!check_payload(chunk, payload, err))
		return false;
	const size_t raw_size = chunk_raw_size(reader, index);
	void *decoded = chunk->codec == SSB_ZSTD ? unpack(reader, chunk, payload, raw_size, err) : NULL;
	if (chunk->codec == SSB_ZSTD && !decoded)
		return false;
	const void *unset = NULL;
	if (atomic_compare_exchange_strong(&chunk->elements, &unset, decoded ? decoded : (const void *)payload))
		atomic_fetch_add(&mapped_bytes, chunk->stored_size);
	else
		give_back(reader, decoded, raw_size);
	return true;
}

static bool keep_piped(ssb_reader *reader, uint64_t index, ssb_error *err)
{
	struct chunk *chunk = &reader->chunk[index];
	const size_t size = chunk->stored_size + frame_padding(chunk->stored_size);
	void *payload = reserve(reader, size, err);
	if (!payload)
		return false;
	void *elements = NULL;
	if (take(reader, payload, size, err) && check_payload(chunk, payload, err))
		elements = chunk->codec == SSB_ZSTD ? unpack(reader, chunk, payload, chunk_raw_size(reader, index), err) : payload;
	if (elements != payload)
		give_back(reader, payload, size);
	chunk->elements = elements;
	return elements != NULL;
}

static bool pass_over_piped(ssb_reader *reader, uint64_t index, ssb_error *err)
{
	enum { STEP = 1 << 20 };
	struct chunk *chunk = &reader->chunk[index];
	XXH3_state_t *hash = XXH3_createState();
	unsigned char *buffer = malloc(STEP);
	bool ok = (hash && buffer) || ssb_fail(err, SSB_RUNTIME, "out of memory");
	if (ok)
		XXH3_64bits_reset(hash);
	for (uint64_t left = chunk->stored_size; ok && left > 0;) {
		const size_t step = left < STEP ? (size_t)left : STEP;
		ok = take(reader, buffer, step, err);
		if (ok)
			XXH3_64bits_update(hash, buffer, step);
		left -= step;
	}
	const size_t padding = frame_padding(chunk->stored_size);
	ok = ok && take(reader, buffer, padding, err) && check_hash(chunk, XXH3_64bits_digest(hash), is_zero(buffer, padding), err);
	XXH3_freeState(hash);
	free(buffer);
	return ok;
}

static bool skip_mapped(ssb_reader *reader, uint64_t index, ssb_error *err)
{
	const uint64_t stored = reader->chunk[index].stored_size, left = reader->size - reader->position;
	if (stored > left || frame_padding(stored) > left - stored)
		return ssb_fail(err, SSB_BAD_INPUT, "is truncated at byte %llu", (wide)reader->size);
	reader->position += stored + frame_padding(stored);
	return true;
}

/* The next chunk's header and payload; `keep` decides what a pipe does with the payload. */
static bool read_chunk(ssb_reader *reader, bool keep, ssb_error *err)
{
	const uint64_t index = reader->chunks;
	bool ok = read_chunk_frame(reader, err);
	if (ok)
		ok = reader->map ? skip_mapped(reader, index, err) : keep ? keep_piped(reader, index, err) : pass_over_piped(reader, index, err);
	return ok || fail_chunk(reader, index, err);
}

/* ---- the end ---- */

static bool check_end_frame(const ssb_reader *reader, const struct frame_end *frame, uint64_t digest, ssb_error *err)
{
	if (memcmp(frame->mark, END_MARK, sizeof frame->mark) != 0 || frame->check != frame_check(frame))
		return ssb_fail(err, SSB_BAD_INPUT, "is damaged (bytes %llu to %llu)", (wide)reader->position - FRAME_SIZE,
		                (wide)reader->position - 1);
	if (frame->refuse != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "uses features (bits 0x%x) that this program does not know", frame->refuse);
	if (frame->arrays != reader->header.arrays || frame->chunks != reader->chunks || frame->raw_size != reader->raw_size ||
	    frame->stored_size != reader->stored_size || frame->digest != digest || frame->zero != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "contradicts the chunks before it");
	return true;
}

/* Nothing may follow, except what the end record announces, which is read (or a pipe's writer would fail) and ignored. */
static bool check_nothing_follows(ssb_reader *reader, bool announced, ssb_error *err)
{
	unsigned char rest[4096];
	size_t got = reader->map && reader->position < reader->size;
	do {
		if (!reader->map && !read_bytes(reader, rest, sizeof rest, &got, err))
			return false;
		if (got > 0 && !announced)
			return ssb_fail(err, SSB_BAD_INPUT, "is followed by bytes that it does not announce");
	} while (!reader->map && got > 0);
	return true;
}

static bool read_end(ssb_reader *reader, ssb_error *err)
{
	struct frame_end frame;
	const void *bytes = take(reader, &frame, sizeof frame, err);
	if (!bytes)
		return ssb_fail_prefix(err, "the end record ");
	memcpy(&frame, bytes, sizeof frame);
	reader->digest = XXH3_64bits_digest(reader->identity);
	reader->finished = check_end_frame(reader, &frame, reader->digest, err) &&
	                   check_nothing_follows(reader, frame.ignorable & end_index_follows, err);
	return reader->finished || ssb_fail_prefix(err, "the end record ");
}

static bool read_rest(ssb_reader *reader, ssb_error *err)
{
	const uint64_t total = reader->header.first_chunk[reader->header.arrays];
	while (reader->chunks < total)
		if (!read_chunk(reader, false, err))
			return false;
	return reader->finished || read_end(reader, err);
}

/* ---- the public face ---- */

ssb_reader *ssb_reader_open(const char *path, size_t memory_limit, ssb_error *err)
{
	ssb_reader *reader = calloc(1, sizeof *reader);
	if (reader) {
		reader->fd = -1;
		reader->memory_limit = memory_limit;
		reader->path = strdup(path);
		reader->shown = frame_shown(path, "standard input");
		reader->identity = XXH3_createState();
	}
	if (!reader || !reader->path || !reader->shown || !reader->identity)
		ssb_fail(err, SSB_RUNTIME, "cannot read '%s': out of memory", path);
	else if (open_descriptor(reader, err)) {
		if (read_file_frame(reader, err) && (!reader->map || read_rest(reader, err)))
			return reader;
		fail_reading(reader, err);
	}
	ssb_reader_close(reader);
	return NULL;
}

ssb_reader *ssb_reader_open_kind(const char *path, enum ssb_kind kind, size_t memory_limit, ssb_error *err)
{
	ssb_reader *reader = ssb_reader_open(path, memory_limit, err);
	if (!reader || reader->kind == kind)
		return reader;
	ssb_fail(err, SSB_BAD_INPUT, "%s is a %s, not a %s", reader->shown, ssb_kind_name(reader->kind), ssb_kind_name(kind));
	ssb_reader_close(reader);
	return NULL;
}

void ssb_reader_close(ssb_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->chunks; i++)
		if (!reader->map || reader->chunk[i].codec == SSB_ZSTD)
			free((void *)reader->chunk[i].elements);
	free(reader->chunk);
	header_release(&reader->header);
	XXH3_freeState(reader->identity);
	if (reader->map)
		munmap((void *)reader->map, (size_t)reader->size);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader->path);
	free(reader->shown);
	free(reader);
}

enum ssb_kind ssb_reader_kind(const ssb_reader *reader)
{
	return reader->kind;
}

const char *ssb_reader_path(const ssb_reader *reader)
{
	return reader->path;
}

bool ssb_reader_is_mapped(const ssb_reader *reader)
{
	return reader->map;
}

const json_t *ssb_reader_header(const ssb_reader *reader)
{
	return reader->header.root;
}

const json_t *ssb_reader_meta(const ssb_reader *reader)
{
	return reader->header.meta;
}

const json_t *ssb_reader_history(const ssb_reader *reader)
{
	return reader->header.history;
}

size_t ssb_reader_arrays(const ssb_reader *reader)
{
	return reader->header.arrays;
}

const ssb_array *ssb_reader_array(const ssb_reader *reader, size_t index)
{
	return &reader->header.array[index];
}

bool ssb_reader_find(const ssb_reader *reader, const char *name, enum ssb_dtype dtype, unsigned rank, size_t *index, ssb_error *err)
{
	const struct header *header = &reader->header;
	for (*index = 0; *index < header->arrays && strcmp(header->array[*index].name, name) != 0;)
		++*index;
	if (*index == header->arrays)
		return ssb_fail(err, SSB_BAD_INPUT, "%s has no array '%s'", reader->shown, name);
	const ssb_array *array = &header->array[*index];
	if ((dtype && array->dtype != dtype) || (rank && array->rank != rank))
		return ssb_fail(err, SSB_BAD_INPUT, "array '%s' of %s is %s with %u dimensions, not %s with %u", name, reader->shown,
		                ssb_dtype_name(array->dtype), array->rank, ssb_dtype_name(dtype ? dtype : array->dtype),
		                rank ? rank : array->rank);
	return true;
}

bool ssb_reader_chunk(ssb_reader *reader, size_t array, uint64_t chunk, const void **elements, enum ssb_dtype *stored, ssb_error *err)
{
	const uint64_t index = reader->header.first_chunk[array] + chunk;
	if (index >= reader->header.first_chunk[array + 1]) {
		ssb_fail(err, SSB_RUNTIME, "array '%s' has no chunk %llu", reader->header.array[array].name, (wide)chunk);
		return fail_reading(reader, err);
	}
	while (index >= reader->chunks)
		if (!read_chunk(reader, true, err))
			return fail_reading(reader, err);
	*elements = reader->chunk[index].elements;
	if (!*elements) {
		const bool ok = reader->map ? load_mapped(reader, index, err) : ssb_fail(err, SSB_RUNTIME, "is behind on the pipe");
		if (!ok)
			return fail_chunk(reader, index, err) || fail_reading(reader, err);
		*elements = reader->chunk[index].elements;
	}
	*stored = reader->chunk[index].stored;
	return true;
}

bool ssb_reader_skip_to(ssb_reader *reader, size_t array, ssb_error *err)
{
	while (reader->chunks < reader->header.first_chunk[array])
		if (!read_chunk(reader, false, err))
			return fail_reading(reader, err);
	return true;
}

bool ssb_reader_finish(ssb_reader *reader, char digest[17], ssb_error *err)
{
	if (!read_rest(reader, err))
		return fail_reading(reader, err);
	snprintf(digest, 17, "%016llx", (wide)reader->digest);
	return true;
}

bool ssb_reader_verify(ssb_reader *reader, ssb_error *err)
{
	if (!read_rest(reader, err))
		return fail_reading(reader, err);
	for (size_t i = 0; reader->map && i < reader->chunks; i++)
		if (!check_payload(&reader->chunk[i], reader->map + reader->chunk[i].offset, err)) {
			fail_chunk(reader, i, err);
			return fail_reading(reader, err);
		}
	atomic_fetch_add(&mapped_bytes, reader->map ? reader->stored_size : 0);
	return true;
}
