/* What an acquisition's files say beside the counts. */
#ifndef DECODE_METADATA_H
#define DECODE_METADATA_H

#include "tools/ssb-decode/acquisition.h"

/* Collect scan shapes, instrument and pixel mask around the frames at `at` in a->path and from the companion file BASE.h5 beside
 * BASE_master.h5. The frames' shape is known already. Fails for a mask of another shape and for frames that are not in scan order. */
bool metadata_collect(acquisition *a, const frames_at *at, ssb_error *err);

/* nimages × ntrigger beside the frames at `at`, 0 when unknown. */
double metadata_triggers(const acquisition *a, const frames_at *at);

/* "/entry" of "/entry/data" and "/entry/data/data" + `name` ("" allowed). */
void metadata_path(const frames_at *at, const char *name, char object[H5_OBJECT_SIZE]);

#endif
