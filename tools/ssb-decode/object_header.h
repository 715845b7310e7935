/* The object headers of an HDF5 file, versions 1 and 2 (HDF5 File Format Specification, section IV.A.1). */
#ifndef DECODE_OBJECT_HEADER_H
#define DECODE_OBJECT_HEADER_H

#include "tools/ssb-decode/raw_block.h"

enum { MESSAGE_SPACE = 1, MESSAGE_TYPE = 3, MESSAGE_LAYOUT = 8, MESSAGE_FILTERS = 11 };
enum { MESSAGE_SHARED = 2 }; /* of the flags: the message is elsewhere */

/* What to do with one message; false ends the reading. */
typedef bool take_message(void *context, unsigned kind, unsigned flags, byte_view message, ssb_error *err);

/* Hand over all messages of the object header at `address`. */
bool object_header_read(const raw_file *file, uint64_t address, take_message *take, void *context, ssb_error *err);

#endif
