/* The scan: which frame belongs to which position. */
#ifndef DECODE_SCAN_H
#define DECODE_SCAN_H

#include "tools/ssb-decode/acquisition.h"

/* The scan shape: `asked` (--scan, {0, 0}: not given), else what the files state; never anything else. rows × columns must be the number
 * of frames; with `partial` there may be fewer frames. Disagreeing statements are warned of. `source` says where the shape came from. */
bool scan_resolve(const acquisition *a, const size_t asked[2], bool partial, size_t shape[2], char source[SOURCE_SIZE], ssb_error *err);

#endif
