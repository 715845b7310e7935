/* The first bytes of an HDF5 file: enough to tell a short or unfinished file from a good one, with the numbers. */
#ifndef DECODE_SUPERBLOCK_H
#define DECODE_SUPERBLOCK_H

#include <stdint.h>
#include "formats/status.h"

/* Check the superblock of the HDF5 file `path` (HDF5 File Format Specification, section II.A): signature at 0, 512, 1024, 2048 …; the end
 * of file it records against the file's size; the consistency flags of version 3 (a writer has it open, or had and died). */
bool superblock_check(const char *path, ssb_error *err);

/* Where the superblock is, which is where addresses count from, and the bytes of an address. */
bool superblock_place(const char *path, uint64_t *place, unsigned *address_bytes, ssb_error *err);

#endif
