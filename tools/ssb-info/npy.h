#ifndef INFO_NPY_H
#define INFO_NPY_H

#include "formats/container.h"
#include "formats/output.h"

/* Write array `name` in NumPy's format (version 1.0, C order, little-endian) to `output`, chunk by chunk. */
bool write_npy_array(ssb_output *output, ssb_reader *reader, const char *name, ssb_error *err);

#endif
