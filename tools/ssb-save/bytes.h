/* A file in the making: a block of memory that grows. Every output is made whole in memory first, so that several of them appear
 * together or not at all, and one can be put into another (npz, zip). */
#ifndef SAVE_BYTES_H
#define SAVE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include "formats/status.h"

typedef struct bytes {
	uint8_t *data; /* owned */
	size_t size, capacity;
} bytes; /* starts as {0} */

/* Put `size` bytes at `position`, which may lie beyond the end (zeros between). */
bool bytes_put(bytes *out, size_t position, const void *data, size_t size, ssb_error *err);

bool bytes_append(bytes *out, const void *data, size_t size, ssb_error *err);
bool bytes_print(bytes *out, ssb_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
void bytes_free(bytes *out);

#endif
