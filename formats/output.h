/* An output file that appears whole or not at all.
 *
 * A regular path is written under a temporary name in the same folder and renamed by commit; a file that it replaces leaves it its
 * permissions. The temporary file is removed on discard, on failure and on the signals that end a process and can be caught (but for
 * those of a defect, such as SIGSEGV). "-" is standard output; an existing path that is no regular file
 * (/dev/full, a FIFO) is written in place. */
#ifndef FORMATS_OUTPUT_H
#define FORMATS_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include "formats/status.h"

typedef struct ssb_output ssb_output;

/* Open `path` for writing binary data. Refuses a terminal (SSB_USAGE). The caller owns the result and ends it with commit or discard. */
ssb_output *ssb_output_open(const char *path, ssb_error *err);

/* The file descriptor to write to. It stays owned by the output. */
int ssb_output_descriptor(const ssb_output *output);

/* The name under which the data are now (the temporary name), for libraries that open a file by name and not by descriptor;
 * NULL for standard output and in-place outputs. */
const char *ssb_output_temporary_name(const ssb_output *output);

/* Write all of `size` bytes (retries short writes and EINTR). */
bool ssb_output_write(ssb_output *output, const void *bytes, size_t size, ssb_error *err);

/* Whether it is a new regular file, which can be written out of order. */
bool ssb_output_has_places(const ssb_output *output);

/* Write all of `size` bytes at `offset` of such a file, by any thread; the place where ssb_output_write goes on stays. */
bool ssb_output_write_at(ssb_output *output, const void *bytes, size_t size, uint64_t offset, ssb_error *err);

/* Let ssb_output_write go on at `offset`. */
bool ssb_output_go_to(ssb_output *output, uint64_t offset, ssb_error *err);

/* Close and check, but keep the temporary name: the first half of commit, for outputs that appear together or not at all. */
bool ssb_output_close(ssb_output *output, ssb_error *err);

/* Close (if still open), check, rename; frees `output` in any case. */
bool ssb_output_commit(ssb_output *output, ssb_error *err);

/* Close and remove what was written; frees `output`. NULL is allowed. */
void ssb_output_discard(ssb_output *output);

#endif
