#include <stdlib.h>
#include <string.h>
#include "formats/frame.h"

void ssb_widen(const void *elements, enum ssb_dtype stored, uint64_t count, void *out, enum ssb_dtype dtype)
{
	const size_t narrow = ssb_dtype_size(stored), wide = ssb_dtype_size(dtype);
	const unsigned char *restrict source = elements;
	unsigned char *restrict target = out;
	if (stored == dtype) {
		memcpy(out, elements, count * wide);
		return;
	}
	memset(out, 0, count * wide); /* little-endian: the low bytes come first, the others are 0 */
	for (size_t b = 0; b < narrow; b++)
		for (uint64_t i = 0; i < count; i++)
			target[i * wide + b] = source[i * narrow + b];
}

bool ssb_read_array(ssb_reader *reader, size_t index, void *elements, ssb_error *err)
{
	const ssb_array *array = ssb_reader_array(reader, index);
	const uint64_t chunks = ssb_array_chunks(array);
	unsigned char *out = elements;
	for (uint64_t i = 0; i < chunks; i++) {
		const void *chunk;
		enum ssb_dtype stored;
		if (!ssb_reader_chunk(reader, index, i, &chunk, &stored, err))
			return false;
		const uint64_t count = ssb_chunk_elements(array, i);
		ssb_widen(chunk, stored, count, out, array->dtype);
		out += count * ssb_dtype_size(array->dtype);
	}
	return true;
}

/* Before memory is taken for all of an array, its first chunk must be there (on a pipe the header alone proves nothing). */
static bool is_proven(ssb_reader *reader, size_t index, size_t size, ssb_error *err)
{
	const void *elements;
	enum ssb_dtype stored;
	return size == 0 || (ssb_reader_chunk(reader, index, 0, &elements, &stored, err) && reader_can_hold(reader, size, err));
}

void *ssb_load_array(ssb_reader *reader, const char *name, enum ssb_dtype dtype, unsigned rank, uint64_t *shape, ssb_error *err)
{
	size_t index;
	if (!ssb_reader_find(reader, name, dtype, rank, &index, err))
		return NULL;
	const ssb_array *array = ssb_reader_array(reader, index);
	const size_t size = ssb_array_elements(array) * ssb_dtype_size(array->dtype);
	if (!is_proven(reader, index, size, err))
		return NULL;
	void *elements = malloc(size ? size : 1);
	if (!elements)
		ssb_fail(err, SSB_RUNTIME, "out of memory for %zu bytes of array '%s'", size, name);
	else if (ssb_read_array(reader, index, elements, err)) {
		for (unsigned i = 0; shape && i < array->rank; i++)
			shape[i] = array->shape[i];
		return elements;
	}
	free(elements);
	return NULL;
}
