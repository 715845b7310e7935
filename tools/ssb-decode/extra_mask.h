/* The mask that a user adds. */
#ifndef DECODE_EXTRA_MASK_H
#define DECODE_EXTRA_MASK_H

#include "tools/ssb-decode/npy.h"

/* Load a 2-D .npy of booleans or integers, rows × columns: *flags (malloc, the caller's) is 1 where it is not zero. */
bool extra_mask_load(const char *path, size_t rows, size_t columns, uint8_t **flags, ssb_error *err);

#endif
