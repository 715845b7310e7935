/* Where in an HDF5 file the frames are. */
#ifndef DECODE_CANDIDATES_H
#define DECODE_CANDIDATES_H

#include "tools/ssb-decode/h5.h"

typedef struct frames_at {
	char object[H5_OBJECT_SIZE]; /* as the file given on the command line names it */
	bool group;                  /* a group of data_N links, not a single set */
} frames_at;

/* `asked`: the path of --dataset, or NULL. Without it: /entry/data with its data_N links, /entry/data/data, else the one set of three or
 * more axes, or the one group of data_N links, anywhere in the file. Several or none: they are listed. Dead links on the way are noted. */
bool candidates_find(const char *path, const char *asked, frames_at *at, ssb_error *err);

/* The number N of a link called data_N; false for other names. */
bool candidates_number(const char *name, uint64_t *number);

#endif
