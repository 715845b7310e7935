/* One function per file format: each makes a whole file in memory. Rows run down, position (0,0) is top left, in every one. */
#ifndef SAVE_WRITERS_H
#define SAVE_WRITERS_H

#include "tools/ssb-save/bytes.h"
#include "tools/ssb-save/content.h"
#include "tools/ssb-save/picture.h"

typedef bool save_writer(const save_content *content, const picture_options *options, bytes *out, ssb_error *err);

save_writer write_npy;  /* the image (of a stack all of them): float32 rad, or uint64 counts */
save_writer write_npz;  /* the image and its companions, every number of the metadata under its key, optics and parameters as NAME_UNIT, "record": all of it as JSON */
save_writer write_tiff; /* the image as float32, a page for each of a stack (counts beyond 2^24: float64, exact); size of a pixel in angstrom as ImageJ keeps it */
save_writer write_png;  /* picture.h */
save_writer write_nexus; /* HDF5: NXentry/NXdata with axes in angstrom, parameters, record as JSON */
save_writer write_json; /* content->record */
save_writer write_csv;  /* a fit's parameters, one a line; what is not known is empty */
save_writer write_text; /* a fit's parameters, objective and warnings for reading */

/* The Fourier ring correlation of a phase with halves, which write_csv and write_text make of one: a ring a line; and for reading, with
 * where it crosses its thresholds. */
bool has_rings(const save_content *content);
bool write_rings(const save_content *content, bytes *out, ssb_error *err);
bool write_rings_text(const save_content *content, bytes *out, ssb_error *err);

/* The parts of an NPY file: a header for `descr` ("<f4") and `shape` (rank 0 … 3), then `size` bytes. */
bool npy_append(bytes *out, const char *descr, const size_t *shape, unsigned rank, const void *data, size_t size, ssb_error *err);

/* A zip archive without times, owners or other traces of the machine; stored, since noisy numbers hardly get smaller. */
typedef struct zip_file zip_file;
zip_file *zip_open(bytes *out, ssb_error *err);
bool zip_add(zip_file *zip, const char *name, const bytes *file, ssb_error *err);
bool zip_close(zip_file *zip, ssb_error *err); /* frees in any case */
void zip_discard(zip_file *zip);

#endif
