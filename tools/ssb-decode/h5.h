/* HDF5 files opened read-only and looked into: every failure becomes one line, links are followed by ourselves.
 *
 * HDF5 is called from the main thread only. The causes recorded here name the file; the caller says what it was for. */
#ifndef DECODE_H5_H
#define DECODE_H5_H

#include <hdf5.h>
#include <limits.h>
#include <stdint.h>
#include "formats/status.h"

enum { H5_OBJECT_SIZE = 1024, H5_CAUSE_SIZE = 160 };

/* An object behind all links: the open file that really holds it and its path in there. */
typedef struct h5_place {
	hid_t file;              /* owned: h5_leave */
	char path[PATH_MAX];     /* of that file */
	char object[H5_OBJECT_SIZE];
} h5_place;

/* Silence HDF5's own messages and keep it from loading filters from wherever this machine has some. */
void h5_setup(void);

/* HDF5's reason for the last failure of this thread, the innermost one ("" if it has none). */
const char *h5_cause(char text[H5_CAUSE_SIZE]);

/* Open a file for reading. Refused with the reason: no regular file, no HDF5 file, shorter than its superblock says (both numbers),
 * marked as open by a writer. */
bool h5_open(const char *path, hid_t *file, ssb_error *err);

/* Follow `object` ("/entry/data/data_000001") from the file `path` through hard, soft and external links. External links are relative to
 * the folder of the file that holds them; an absolute target that is gone is looked for beside that file, which is noted. *absent tells
 * a name that simply is not there from a dead link or a damaged file. */
bool h5_follow(const char *path, const char *object, h5_place *place, bool *absent, ssb_error *err);
void h5_leave(h5_place *place);

/* The names of the links in a group, sorted; *count of them. The caller frees with h5_names_free. NULL on failure. */
char **h5_names(const h5_place *group, size_t *count, ssb_error *err);
void h5_names_free(char **names, size_t count);

/* True when `place` is a dataset (a group). Never fails: a damaged object is neither. */
bool h5_is_dataset(const h5_place *place);
bool h5_is_group(const h5_place *place);

/* Up to `room` numbers of a dataset or of an attribute of any object, as double; the count that is there, -1 when there is none, it is
 * no number, or it cannot be read. */
int h5_numbers(const h5_place *place, double *values, int room);
int h5_attribute_numbers(const h5_place *place, const char *attribute, double *values, int room);

/* A text dataset or attribute, the items of an array joined by commas, cut to `size`; false when there is none. */
bool h5_text(const h5_place *place, char *text, size_t size);
bool h5_attribute_text(const h5_place *place, const char *attribute, char *text, size_t size);

#endif
