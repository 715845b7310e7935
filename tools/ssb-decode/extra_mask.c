#include "tools/ssb-decode/extra_mask.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_flags(int descriptor, const npy_header *header, uint8_t *flags, size_t pixels, ssb_error *err)
{
	const size_t size = header->element_size;
	uint8_t *const values = malloc(pixels * size);
	if (!values)
		return ssb_fail_errno(err, "mask of %zu bytes", pixels * size);
	const bool ok = npy_read(descriptor, values, pixels * size, header->data, err);
	for (size_t i = 0; ok && i < pixels * size; i++)
		flags[i / size] |= values[i] != 0;
	free(values);
	return ok;
}

bool extra_mask_load(const char *path, size_t rows, size_t columns, uint8_t **flags, ssb_error *err)
{
	npy_header header;
	int descriptor;
	*flags = NULL;
	if (!npy_open(path, &header, &descriptor, err))
		return ssb_fail_prefix(err, "cannot read mask '%s': ", path);
	bool ok = true;
	if (!strchr("bui", header.kind))
		ok = ssb_fail(err, SSB_BAD_INPUT, "elements of type %s, need booleans or integers", header.type);
	else if (header.rank != 2 || header.shape[0] != rows || header.shape[1] != columns)
		ok = ssb_fail(err, SSB_BAD_INPUT, "it is %u-D (%llux%llu), the detector is %zux%zu", header.rank, (unsigned long long)header.shape[0],
		              (unsigned long long)header.shape[1], rows, columns);
	else if (!(*flags = calloc(rows * columns, 1)))
		ok = ssb_fail_errno(err, "mask");
	else
		ok = read_flags(descriptor, &header, *flags, rows * columns, err);
	close(descriptor);
	return ok || ssb_fail_prefix(err, "cannot read mask '%s': ", path);
}
