/* An acquisition as its files state it: which frames there are, where each is, what is known about them. Nothing is guessed.
 *
 * Frames are numbered from 0 over all files. The files themselves are opened and closed again; frame_source reads them. */
#ifndef DECODE_ACQUISITION_H
#define DECODE_ACQUISITION_H

#include <jansson.h>
#include "tools/ssb-decode/candidates.h"
#include "tools/ssb-decode/npy.h"

enum { MOST_STATEMENTS = 4, SOURCE_SIZE = 200, REMARK_SIZE = 500 };

/* One set of frames: a link of the master, or the only set. */
typedef struct acquisition_part {
	char *link;              /* its name in the file given on the command line */
	char *file, *object;     /* where it really is */
	uint64_t first, frames;  /* its frames are [first, first + frames) */
	uint64_t band;           /* frames that share chunks (dataset_band) */
} acquisition_part;

/* A scan shape that the files state; checked only when it is used. */
typedef struct scan_statement {
	double rows, columns;
	char source[SOURCE_SIZE];
} scan_statement;

typedef struct acquisition {
	const char *path;        /* borrowed */
	size_t rows, columns;    /* of a frame */
	size_t element_size;     /* 1, 2 or 4 bytes, unsigned */
	char type[16];           /* as stored, "<u2" */
	uint64_t frames;         /* one past the last frame's number */
	acquisition_part *part;  /* ascending, no overlap; gaps are frames that could not be had (only with `partial`) */
	size_t parts;
	bool is_npy;
	npy_header npy;          /* of an .npy file, which has one part without object */
	scan_statement stated[MOST_STATEMENTS];
	size_t statements;
	char remark[REMARK_SIZE]; /* what a wrong number of frames may come from; may be empty */
	uint8_t *masked;          /* rows × columns, 1 where the file's pixel mask flags; NULL: no mask in the file */
	json_t *instrument;       /* what the files state, units in the keys, "sources" beside it */
	json_t *warnings;         /* {"tool", "text"} */
} acquisition;

/* Open a Dectris-style master, an HDF5 file with frames or a .npy file. `dataset`: a path in the HDF5 file, or NULL. `partial`: data files
 * that cannot be read are left out as a gap. Every link is followed and every set described; NULL on failure. `path` is kept. */
acquisition *acquisition_open(const char *path, const char *dataset, bool partial, ssb_error *err);
void acquisition_free(acquisition *acquisition); /* NULL is allowed */

#endif
