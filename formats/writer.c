#include "formats/frame.h"

#include <errno.h>
#include <stdlib.h>
#include "formats/output.h"

struct ssb_writer {
	ssb_output *output;
	struct header header;
	size_t array;                   /* the current array and the number of its chunks written */
	uint64_t chunk;
	uint64_t chunks, raw_size, stored_size;
	uint64_t declared, written;     /* bytes of the container, by the records' fields and by what went out */
	XXH3_state_t *identity;
	unsigned char *scratch, *packed;
	size_t capacity;                /* of scratch; packed holds its bound */
};

static bool put(ssb_writer *writer, const void *bytes, size_t size, ssb_error *err)
{
	writer->written += size;
	return ssb_output_write(writer->output, bytes, size, err);
}

static bool put_padded(ssb_writer *writer, const void *bytes, size_t size, ssb_error *err)
{
	static const char zeros[FRAME_SIZE];
	return put(writer, bytes, size, err) && put(writer, zeros, frame_padding(size), err);
}

static bool put_header(ssb_writer *writer, enum ssb_kind kind, ssb_error *err)
{
	char *text = header_text(&writer->header);
	if (!text)
		return ssb_fail(err, SSB_RUNTIME, "no header can be made of this metadata");
	struct frame_file frame = {.version = FORMAT_VERSION, .kind = kind, .json_size = strlen(text)};
	memcpy(frame.magic, FRAME_MAGIC, sizeof frame.magic);
	frame.json_hash = XXH3_64bits(text, frame.json_size);
	frame.check = frame_check(&frame);
	XXH3_64bits_reset(writer->identity);
	XXH3_64bits_update(writer->identity, &frame.check, sizeof frame.check);
	writer->declared = FRAME_SIZE + frame.json_size + frame_padding(frame.json_size);
	const bool ok = frame.json_size > json_size_limit
	                        ? ssb_fail(err, SSB_RUNTIME, "its metadata have %zu bytes of text, more than %llu", (size_t)frame.json_size,
	                                   (unsigned long long)json_size_limit)
	                        : put(writer, &frame, sizeof frame, err) && put_padded(writer, text, frame.json_size, err);
	free(text);
	return ok;
}

ssb_writer *ssb_writer_open(const char *path, enum ssb_kind kind, const json_t *meta, const json_t *history,
                            const ssb_array *arrays, size_t count, ssb_error *err)
{
	ssb_writer *writer = calloc(1, sizeof *writer);
	if (writer)
		writer->identity = XXH3_createState();
	if (!writer || !writer->identity)
		ssb_fail(err, SSB_RUNTIME, "cannot write '%s': out of memory", path);
	else if (!header_make(&writer->header, kind, meta, history, arrays, count, err))
		ssb_fail_prefix(err, "cannot write '%s': ", path);
	else if ((writer->output = ssb_output_open(path, err)) && put_header(writer, kind, err))
		return writer;
	ssb_writer_discard(writer);
	return NULL;
}

static bool grow(ssb_writer *writer, size_t size, ssb_error *err)
{
	if (size <= writer->capacity)
		return true;
	free(writer->scratch);
	free(writer->packed);
	writer->scratch = malloc(size);
	writer->packed = malloc(codec_bound(size));
	writer->capacity = writer->scratch && writer->packed ? size : 0;
	return writer->capacity || ssb_fail(err, SSB_RUNTIME, "out of memory for compressing a chunk of %zu bytes", size);
}

/* Fills in the hashes. */
static void seal(struct frame_chunk *frame, const void *payload)
{
	memcpy(frame->mark, CHUNK_MARK, sizeof frame->mark);
	frame->payload_hash = XXH3_64bits(payload, frame->stored_size);
	frame->check = frame_check(frame);
}

/* Bytes of a chunk in the container. */
static uint64_t space_of(const struct frame_chunk *frame)
{
	return FRAME_SIZE + frame->stored_size + frame_padding(frame->stored_size);
}

/* Takes a sealed chunk, the next one, into the sums of the end record. */
static void account(ssb_writer *writer, const struct frame_chunk *frame)
{
	XXH3_64bits_update(writer->identity, &frame->check, sizeof frame->check);
	writer->chunks++;
	writer->raw_size += frame->raw_size;
	writer->stored_size += frame->stored_size;
	writer->declared += space_of(frame);
}

static bool put_chunk(ssb_writer *writer, const struct frame_chunk *frame, const void *payload, ssb_error *err)
{
	account(writer, frame);
	return put(writer, frame, sizeof *frame, err) && put_padded(writer, payload, frame->stored_size, err);
}

/* Compresses where the array asks for it and it helps; *payload becomes the packed bytes. */
static bool pack(ssb_writer *writer, struct frame_chunk *frame, const void **payload, ssb_error *err)
{
	if (!grow(writer, frame->raw_size, err))
		return false;
	const size_t packed = codec_pack(*payload, frame->raw_size, ssb_dtype_size(frame->stored), writer->scratch, writer->packed);
	if (packed == 0)
		return ssb_fail(err, SSB_RUNTIME, "cannot compress a chunk of %zu bytes", (size_t)frame->raw_size);
	if (packed < frame->raw_size) {
		frame->codec = SSB_ZSTD;
		frame->stored_size = packed;
		*payload = writer->packed;
	}
	return true;
}

/* The array that the next chunk belongs to, which may be stored as `stored`; NULL on failure. */
static const ssb_array *next_array(ssb_writer *writer, enum ssb_dtype stored, ssb_error *err)
{
	const struct header *header = &writer->header;
	while (writer->array < header->arrays && ssb_array_elements(&header->array[writer->array]) == 0)
		writer->array++;
	const ssb_array *array = &header->array[writer->array];
	if (writer->array == header->arrays)
		ssb_fail(err, SSB_RUNTIME, "one chunk more than the header announces");
	else if (!dtype_holds(array->dtype, stored))
		ssb_fail(err, SSB_RUNTIME, "a chunk of '%s' in %s, which is %s", array->name, ssb_dtype_name(stored), ssb_dtype_name(array->dtype));
	else
		return array;
	return NULL;
}

/* The record of the next chunk, as if raw. */
static struct frame_chunk next_frame(ssb_writer *writer, enum ssb_dtype stored)
{
	const ssb_array *array = &writer->header.array[writer->array];
	const size_t size = ssb_chunk_elements(array, writer->chunk) * ssb_dtype_size(stored);
	const struct frame_chunk frame = {.array = (uint32_t)writer->array, .chunk = writer->chunk, .raw_size = size, .stored_size = size,
		                           .codec = SSB_RAW, .stored = stored};
	if (++writer->chunk == ssb_array_chunks(array)) {
		writer->array++;
		writer->chunk = 0;
	}
	return frame;
}

bool ssb_write_chunk(ssb_writer *writer, const void *elements, enum ssb_dtype stored, ssb_error *err)
{
	const ssb_array *array = next_array(writer, stored, err);
	if (!array)
		return false;
	struct frame_chunk frame = next_frame(writer, stored);
	if (array->codec == SSB_ZSTD && !pack(writer, &frame, &elements, err))
		return false;
	seal(&frame, elements);
	return put_chunk(writer, &frame, elements, err);
}

static bool put_chunk_at(ssb_writer *writer, const struct frame_chunk *frame, const void *payload, uint64_t offset, ssb_error *err)
{
	static const char zeros[FRAME_SIZE];
	return ssb_output_write_at(writer->output, frame, sizeof *frame, offset, err) &&
	       ssb_output_write_at(writer->output, payload, frame->stored_size, offset + FRAME_SIZE, err) &&
	       ssb_output_write_at(writer->output, zeros, frame_padding(frame->stored_size), offset + FRAME_SIZE + frame->stored_size, err);
}

/* All chunks but the last of an array have one size, so that the place of each is known. */
static bool put_chunks_at(ssb_writer *writer, struct frame_chunk *frame, const void *const *elements, size_t count, ssb_error *err)
{
	const uint64_t space = space_of(frame), begin = writer->written;
	bool ok = true;
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++) {
		ssb_error failure;
		seal(&frame[i], elements[i]);
		if (!put_chunk_at(writer, &frame[i], elements[i], begin + i * space, &failure))
#pragma omp critical(failed_write)
		{
			*err = failure;
			ok = false;
		}
	}
	for (size_t i = 0; i < count; i++) {
		account(writer, &frame[i]);
		writer->written += space_of(&frame[i]);
	}
	return ok && ssb_output_go_to(writer->output, writer->written, err);
}

static bool put_chunks(ssb_writer *writer, struct frame_chunk *frame, const void *const *elements, size_t count, ssb_error *err)
{
	bool ok = true;
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++)
		seal(&frame[i], elements[i]);
	for (size_t i = 0; ok && i < count; i++)
		ok = put_chunk(writer, &frame[i], elements[i], err);
	return ok;
}

bool ssb_write_chunks(ssb_writer *writer, const void *const *elements, size_t count, enum ssb_dtype stored, ssb_error *err)
{
	const ssb_array *array = next_array(writer, stored, err);
	if (!array)
		return false;
	if (array->codec != SSB_RAW || count > ssb_array_chunks(array) - writer->chunk)
		return ssb_fail(err, SSB_RUNTIME, "%zu chunks at once, where '%s' has %llu left, %s", count, array->name,
		                (unsigned long long)(ssb_array_chunks(array) - writer->chunk), array->codec == SSB_RAW ? "raw" : "compressed");
	struct frame_chunk *frame = calloc(count + 1, sizeof *frame);
	if (!frame)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; i < count; i++)
		frame[i] = next_frame(writer, stored);
	const bool ok = (ssb_output_has_places(writer->output) ? put_chunks_at : put_chunks)(writer, frame, elements, count, err);
	free(frame);
	return ok;
}

bool ssb_write_array(ssb_writer *writer, const void *elements, ssb_error *err)
{
	if (writer->array == writer->header.arrays || writer->chunk != 0)
		return ssb_fail(err, SSB_RUNTIME, "a whole array where the header announces %s", writer->chunk ? "a chunk" : "the end");
	const ssb_array *array = &writer->header.array[writer->array];
	const uint64_t chunks = ssb_array_chunks(array);
	const unsigned char *bytes = elements;
	if (chunks == 0)
		writer->array++;
	for (uint64_t i = 0; i < chunks; i++)
		if (!ssb_write_chunk(writer, bytes + i * array->chunk_elements * ssb_dtype_size(array->dtype), array->dtype, err))
			return false;
	return true;
}

static bool put_end(ssb_writer *writer, ssb_error *err)
{
	const struct header *header = &writer->header;
	if (writer->chunks != header->first_chunk[header->arrays])
		return ssb_fail(err, SSB_RUNTIME, "array '%s' ends after chunk %llu", header->array[writer->array].name,
		                (unsigned long long)writer->chunk);
	struct frame_end frame = {.arrays = (uint32_t)header->arrays, .chunks = writer->chunks, .raw_size = writer->raw_size,
		                   .stored_size = writer->stored_size, .digest = XXH3_64bits_digest(writer->identity)};
	memcpy(frame.mark, END_MARK, sizeof frame.mark);
	frame.check = frame_check(&frame);
	if (!put(writer, &frame, sizeof frame, err))
		return false;
	return writer->written == writer->declared + FRAME_SIZE ||
	       ssb_fail(err, SSB_RUNTIME, "%llu bytes written where the records say %llu", (unsigned long long)writer->written,
	                (unsigned long long)writer->declared + FRAME_SIZE);
}

bool ssb_writer_finish(ssb_writer *writer, ssb_error *err)
{
	bool ok = put_end(writer, err);
	if (ok) {
		ok = ssb_output_commit(writer->output, err);
		writer->output = NULL;
	}
	ssb_writer_discard(writer);
	return ok;
}

void ssb_writer_discard(ssb_writer *writer)
{
	if (!writer)
		return;
	ssb_output_discard(writer->output);
	header_release(&writer->header);
	XXH3_freeState(writer->identity);
	free(writer->scratch);
	free(writer->packed);
	free(writer);
}
