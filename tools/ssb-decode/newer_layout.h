/* Chunked sets whose layout message is of version 5, as HDF5 2.0 and later write them with their newest format: the HDF5 of today's
 * distributions cannot open them, so their object header and chunk index are read here (HDF5 File Format Specification 4.0, sections
 * III.C, III.G, IV.A). Every block is checked against its checksum. */
#ifndef DECODE_NEWER_LAYOUT_H
#define DECODE_NEWER_LAYOUT_H

#include "tools/ssb-decode/chunk_index.h"
#include "tools/ssb-decode/h5.h"

typedef struct newer_set newer_set;

/* Whether the set at `place` is one. (Asked before HDF5 is, which leaks memory when it fails to open such a set.) */
bool newer_set_is(const h5_place *place);

/* The set at `place`; NULL with SSB_BAD_INPUT when its layout is of another version, damaged, or indexed in a way that is not supported. */
newer_set *newer_set_open(const h5_place *place, ssb_error *err);
void newer_set_close(newer_set *set); /* NULL is allowed */

/* Its type, extent and creation properties (chunk shape and filters), as HDF5 would give them; they stay the set's. */
hid_t newer_set_type(const newer_set *set);
hid_t newer_set_space(const newer_set *set);
hid_t newer_set_creation(const newer_set *set);

/* Where its chunks are: the index, chunks in C order, and the file it speaks of. They stay the set's. */
const chunk_index *newer_set_index(const newer_set *set);
const raw_file *newer_set_file(const newer_set *set);

#endif
