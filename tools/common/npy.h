/* NumPy's file format, as it is written here: version 1.0, C order. */
#ifndef COMMON_NPY_H
#define COMMON_NPY_H

#include <stddef.h>

enum { NPY_HEADER_ROOM = 256, NPY_MOST_RANK = 7 };

/* The bytes before the elements, for dtype `descr` ("<f4") and `shape` (rank 0 to NPY_MOST_RANK); their number, a multiple of 64. */
size_t npy_header(char header[NPY_HEADER_ROOM], const char *descr, const size_t *shape, unsigned rank);

#endif
