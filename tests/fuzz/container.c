/* Fuzz target of the container's reader. An input is read from a file and from a pipe, as it is and with its checksums put right (or
 * hardly any change would get past them): both must come to the same verdict and the same data. */
#include "formats/frame.h"
#include "tests/unit/containers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const uint8_t *data, size_t size)
{
	enum { LIMIT = 1 << 22 };
	uint64_t from_file = 0, from_pipe = 0;
	ssb_error file_error = {0}, pipe_error = {0};
	const bool file = read_bytes(data, size, 0, LIMIT, &from_file, &file_error);
	const bool pipe = read_bytes(data, size, 1, LIMIT, &from_pipe, &pipe_error);
	if (file_error.status == SSB_RUNTIME || pipe_error.status == SSB_RUNTIME)
		return; /* the memory limit, which a pipe reaches earlier */
	if (file != pipe || from_file != from_pipe) {
		fprintf(stderr, "file: %s\npipe: %s\n", file ? "good" : file_error.text, pipe ? "good" : pipe_error.text);
		abort();
	}
}

/* The record that begins at `at`, or NULL when it is not whole. */
static void *record_at(uint8_t *data, size_t size, uint64_t at)
{
	return at <= size && size - at >= FRAME_SIZE ? data + at : NULL;
}

static uint64_t padded(uint64_t size)
{
	return size + frame_padding(size);
}

static void put_right(uint8_t *data, size_t size)
{
	struct frame_file *file = record_at(data, size, 0);
	if (!file || file->json_size > size - FRAME_SIZE)
		return;
	file->json_hash = XXH3_64bits(data + FRAME_SIZE, file->json_size);
	file->check = frame_check(file);
	XXH3_state_t *identity = XXH3_createState();
	XXH3_64bits_reset(identity);
	XXH3_64bits_update(identity, &file->check, sizeof file->check);
	uint64_t at = FRAME_SIZE + padded(file->json_size);
	for (struct frame_chunk *chunk; (chunk = record_at(data, size, at)) && memcmp(chunk->mark, CHUNK_MARK, 4) == 0;) {
		if (chunk->stored_size > size - at - FRAME_SIZE)
			break;
		chunk->payload_hash = XXH3_64bits(data + at + FRAME_SIZE, chunk->stored_size);
		chunk->check = frame_check(chunk);
		XXH3_64bits_update(identity, &chunk->check, sizeof chunk->check);
		at += FRAME_SIZE + padded(chunk->stored_size);
	}
	struct frame_end *end = record_at(data, size, at);
	if (end && memcmp(end->mark, END_MARK, 4) == 0) {
		end->digest = XXH3_64bits_digest(identity);
		end->check = frame_check(end);
	}
	XXH3_freeState(identity);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = size < PIPE_BYTES ? aligned_alloc(FRAME_SIZE, size + FRAME_SIZE - size % FRAME_SIZE) : NULL;
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	compare(copy, size);
	put_right(copy, size);
	compare(copy, size);
	free(copy);
	return 0;
}
