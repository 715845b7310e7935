/* NumPy's .npy files, format versions 1 to 3, as far as counts and masks need them. */
#ifndef DECODE_NPY_H
#define DECODE_NPY_H

#include <stddef.h>
#include <stdint.h>
#include "formats/status.h"

enum { NPY_MAX_RANK = 8 };

typedef struct npy_header {
	char kind;            /* 'b' boolean, 'u', 'i', 'f' … */
	size_t element_size;
	bool big_endian;
	char type[16];        /* as the file has it: "<u2" */
	unsigned rank;
	uint64_t shape[NPY_MAX_RANK];
	uint64_t data;        /* where the elements begin, in C order */
} npy_header;

/* Open `path` and read its header: *descriptor is the caller's to close. Refused with the reason: no .npy file, Fortran order, a type that
 * is no plain number, fewer bytes than the shape needs. */
bool npy_open(const char *path, npy_header *header, int *descriptor, ssb_error *err);

/* Read exactly `size` bytes at `offset`. */
bool npy_read(int descriptor, void *bytes, size_t size, uint64_t offset, ssb_error *err);

#endif
