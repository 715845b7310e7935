/* Which acquisition a region came from, for its header. */
#ifndef DECODE_IDENTITY_H
#define DECODE_IDENTITY_H

#include "tools/ssb-decode/acquisition.h"

/* The `inputs` of the history: [{"name", "kind": "acquisition", "digest"}]; the digest is the XXH3 of the master's bytes, left out for a file
 * that holds the frames itself (reading it twice would double the time). New reference. */
json_t *identity_of(const acquisition *a);

#endif
