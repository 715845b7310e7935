/* The checksum of HDF5's metadata. */
#ifndef DECODE_CHECKSUM_H
#define DECODE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Bob Jenkins' lookup3 hash ("hashlittle", initial value 0) of `size` bytes, as the HDF5 file format uses it. */
uint32_t checksum_lookup3(const uint8_t *bytes, size_t size);

#endif
