#include "tools/ssb-info/npy.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/common/npy.h"

static bool write_header(ssb_output *output, const ssb_array *array, ssb_error *err)
{
	char header[NPY_HEADER_ROOM], descr[8];
	size_t shape[SSB_MAX_RANK + 1];
	for (unsigned i = 0; i < array->rank; i++)
		shape[i] = array->shape[i];
	snprintf(descr, sizeof descr, "%s%s", ssb_dtype_size(array->dtype) == 1 ? "|" : "<", ssb_dtype_name(array->dtype));
	if (array->dtype != SSB_C4)
		return ssb_output_write(output, header, npy_header(header, descr, shape, array->rank), err);
	shape[array->rank] = 2; /* numpy has no complex halves: real and imaginary part along one more axis */
	return ssb_output_write(output, header, npy_header(header, "<f2", shape, array->rank + 1), err);
}

static bool write_chunk(ssb_output *output, ssb_reader *reader, size_t index, uint64_t chunk, void *buffer, ssb_error *err)
{
	const ssb_array *array = ssb_reader_array(reader, index);
	const uint64_t count = ssb_chunk_elements(array, chunk);
	const void *elements;
	enum ssb_dtype stored;
	if (!ssb_reader_chunk(reader, index, chunk, &elements, &stored, err))
		return false;
	if (stored != array->dtype) {
		ssb_widen(elements, stored, count, buffer, array->dtype);
		elements = buffer;
	}
	return ssb_output_write(output, elements, count * ssb_dtype_size(array->dtype), err);
}

bool write_npy_array(ssb_output *output, ssb_reader *reader, const char *name, ssb_error *err)
{
	size_t index;
	if (!ssb_reader_find(reader, name, 0, 0, &index, err) || !ssb_reader_skip_to(reader, index, err))
		return false;
	const ssb_array *array = ssb_reader_array(reader, index);
	const uint64_t chunks = ssb_array_chunks(array);
	void *buffer = malloc(chunks ? ssb_chunk_elements(array, 0) * ssb_dtype_size(array->dtype) : 1);
	bool ok = buffer ? write_header(output, array, err) : ssb_fail(err, SSB_RUNTIME, "out of memory for a chunk of array '%s'", name);
	for (uint64_t i = 0; ok && i < chunks; i++)
		ok = write_chunk(output, reader, index, i, buffer, err);
	free(buffer);
	return ok;
}
