#include <stdio.h>
#include <string.h>

#include "tools/ssb-save/writers.h"

bool npy_append(bytes *out, const char *descr, const size_t *shape, unsigned rank, const void *data, size_t size, ssb_error *err)
{
	char dimensions[64] = "", header[256];
	if (rank == 1)
		snprintf(dimensions, sizeof dimensions, "%zu,", shape[0]);
	else if (rank == 2)
		snprintf(dimensions, sizeof dimensions, "%zu, %zu", shape[0], shape[1]);
	const int used = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dimensions);
	const size_t length = ((size_t)used + 10 + 1 + 63) / 64 * 64 - 10; /* the data begin at a multiple of 64 */
	memset(header + used, ' ', length - (size_t)used);
	header[length - 1] = '\n';
	const uint8_t start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)length, (uint8_t)(length >> 8)};
	return bytes_append(out, start, sizeof start, err) && bytes_append(out, header, length, err) && bytes_append(out, data, size, err);
}

bool write_npy(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	(void)options;
	const size_t shape[] = {content->rows, content->columns}, pixels = shape[0] * shape[1];
	if (content->phase)
		return npy_append(out, "<f4", shape, 2, content->phase, pixels * sizeof *content->phase, err);
	return npy_append(out, "<u8", shape, 2, content->counts, pixels * sizeof *content->counts, err);
}
