#include "tools/common/npy.h"

#include <stdio.h>
#include <string.h>

size_t npy_header(char header[NPY_HEADER_ROOM], const char *descr, const size_t *shape, unsigned rank)
{
	enum { START = 10, ALIGN = 64 }; /* magic, version, length of the text */
	char extents[NPY_MOST_RANK * 22 + 1] = "", *text = header + START;
	for (unsigned i = 0; i < rank; i++)
		snprintf(extents + strlen(extents), sizeof extents - strlen(extents), i == 0 && rank == 1 ? "%zu," : i == 0 ? "%zu" : ", %zu", shape[i]);
	const int used = snprintf(text, NPY_HEADER_ROOM - START, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, extents);
	const size_t size = (START + (size_t)used + 1 + ALIGN - 1) / ALIGN * ALIGN;
	memcpy(header, "\x93NUMPY\x01", 8);
	header[8] = (char)((size - START) & 0xff);
	header[9] = (char)((size - START) >> 8);
	memset(text + used, ' ', size - START - (size_t)used);
	header[size - 1] = '\n';
	return size;
}
