/* HDF5 files as a Dectris Arina writes them: NAME_master.h5 with metadata and external links to NAME_data_000001.h5 …, which hold
 * one bitshuffle/LZ4 chunk per frame. Nothing in them depends on when or where they are made. */
#ifndef SSB_SIM_DECTRIS_H
#define SSB_SIM_DECTRIS_H

#include "formats/status.h"
#include "tools/ssb-sim/acquisition.h"

/* A data file being written. */
typedef struct dectris_file dectris_file;

/* Create `path` (replacing what is there) for frames `first` (from 0) … first + frames - 1 of the acquisition. */
dectris_file *dectris_create(const char *path, const acquisition *a, size_t first, size_t frames, ssb_error *err);

/* Write frame `index` (from 0, within this file) as one chunk of `size` bytes, encoded. */
bool dectris_write_frame(dectris_file *file, size_t index, const void *chunk, size_t size, ssb_error *err);

/* Close and check; frees `file` in any case. */
bool dectris_close(dectris_file *file, ssb_error *err);

/* Write the master file at `path`. `name` is the acquisition's name without folder, `mask` the pixel mask. */
bool dectris_write_master(const char *path, const acquisition *a, const char *name, size_t data_files, const uint32_t *mask, ssb_error *err);

/* "NAME_data_000001.h5" of data file `index` (from 1). False when it does not fit. */
bool dectris_data_name(const char *name, size_t index, char *text, size_t size);

#endif
