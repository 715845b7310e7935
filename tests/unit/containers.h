/* For the tests of the container: a sample, containers held in memory offered as a file or a pipe, and what a reader makes of them. */
#ifndef UNIT_CONTAINERS_H
#define UNIT_CONTAINERS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>
#include "formats/container.h"

enum { PIPE_BYTES = 65536 }; /* what a pipe holds without a reader */

struct bytes { unsigned char *data; size_t size; };

/* Offers bytes under a name: /proc/self/fd/N of a regular file or of a filled pipe. Close *fd when done. */
__attribute__((unused)) static const char *offer(const void *data, size_t size, int as_pipe, int *fd, char path[32])
{
	int ends[2] = {-1, -1};
	if (as_pipe ? pipe(ends) != 0 : (ends[0] = ends[1] = memfd_create("container", 0)) < 0)
		abort();
	if (write(ends[1], data, size) != (ssize_t)size)
		abort();
	if (as_pipe)
		close(ends[1]);
	*fd = ends[0];
	snprintf(path, 32, "/proc/self/fd/%d", *fd);
	return path;
}

__attribute__((unused)) static struct bytes slurp(const char *path)
{
	struct bytes bytes = {malloc(PIPE_BYTES), 0};
	FILE *file = fopen(path, "rb");
	if (!file || !bytes.data)
		abort();
	bytes.size = fread(bytes.data, 1, PIPE_BYTES, file);
	fclose(file);
	return bytes;
}

/* Hash over the bytes of array `index`; false with *err set. */
__attribute__((unused)) static bool hash_array(ssb_reader *reader, size_t index, uint64_t *hash, ssb_error *err)
{
	const ssb_array *array = ssb_reader_array(reader, index);
	void *elements = ssb_load_array(reader, array->name, array->dtype, array->rank, NULL, err);
	if (elements)
		*hash = XXH3_64bits(elements, ssb_array_elements(array) * ssb_dtype_size(array->dtype));
	free(elements);
	return elements != NULL;
}

/* Reads everything; *hash covers every array and the digest. */
__attribute__((unused)) static bool read_all(const char *path, size_t limit, uint64_t *hash, ssb_error *err)
{
	ssb_reader *reader = ssb_reader_open(path, limit, err);
	uint64_t hashes[SSB_MAX_ARRAYS + 1] = {0};
	char digest[17];
	bool ok = reader != NULL;
	for (size_t i = 0; ok && i < ssb_reader_arrays(reader); i++)
		ok = hash_array(reader, i, &hashes[i], err);
	ok = ok && ssb_reader_finish(reader, digest, err) && ssb_reader_verify(reader, err);
	if (ok) {
		hashes[SSB_MAX_ARRAYS] = strtoull(digest, NULL, 16);
		*hash = XXH3_64bits(hashes, sizeof hashes);
	}
	ssb_reader_close(reader);
	return ok;
}

/* As read_all, of bytes offered as a file or a pipe. */
__attribute__((unused)) static bool read_bytes(const void *data, size_t size, int as_pipe, size_t limit, uint64_t *hash, ssb_error *err)
{
	int fd;
	char path[32];
	const bool ok = read_all(offer(data, size, as_pipe, &fd, path), limit, hash, err);
	close(fd);
	return ok;
}

/* The sample: counts in three chunks, the first narrowed; an empty array; complex values. */
__attribute__((unused)) static bool write_sample(const char *path, enum ssb_codec codec, ssb_error *err)
{
	static const ssb_array arrays[] = {
		{"counts", SSB_U2, SSB_RAW, 3, {3, 4, 5}, 20, "counts"},
		{"nothing", SSB_F4, SSB_RAW, 2, {0, 3}, 10, "1"},
		{"G", SSB_C8, SSB_RAW, 1, {72}, 64, "1"},
	};
	ssb_array coded[3];
	uint16_t counts[60];
	uint8_t narrow[20];
	float wave[144];
	for (int i = 0; i < 60; i++)
		counts[i] = (uint16_t)(i < 20 ? i : 700 * i);
	for (int i = 0; i < 20; i++)
		narrow[i] = (uint8_t)counts[i];
	for (int i = 0; i < 144; i++)
		wave[i] = (float)(i / 10) - 2.5F;
	for (int i = 0; i < 3; i++) {
		coded[i] = arrays[i];
		coded[i].codec = codec;
	}
	json_t *meta = json_pack("{s:[i,i], s:f}", "scan_shape", 3, 4, "step_A", 0.1), *history = json_array();
	ssb_writer *writer = ssb_writer_open(path, SSB_REGION, meta, history, coded, 3, err);
	bool ok = writer && ssb_write_chunk(writer, narrow, SSB_U1, err) && ssb_write_chunk(writer, counts + 20, SSB_U2, err) &&
	          ssb_write_chunk(writer, counts + 40, SSB_U2, err) && ssb_write_array(writer, NULL, err) &&
	          ssb_write_array(writer, wave, err);
	if (ok)
		ok = ssb_writer_finish(writer, err);
	else
		ssb_writer_discard(writer);
	json_decref(meta);
	json_decref(history);
	return ok;
}

#endif
