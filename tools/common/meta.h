/* Reading a container's meta object: each getter fails (SSB_BAD_INPUT) when the key is missing or of another type, and names it. A key
 * that may be absent is asked for with json_object_get first. Also what a stage hands on to the next one's header. */
#ifndef COMMON_META_H
#define COMMON_META_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include "formats/container.h"

bool meta_number(const json_t *meta, const char *key, double *value, ssb_error *err);      /* finite */
bool meta_pair(const json_t *meta, const char *key, double pair[2], ssb_error *err);       /* [row, column], finite */
bool meta_positive(const json_t *meta, const char *key, double *value, ssb_error *err);    /* finite, > 0 */
bool meta_positive_pair(const json_t *meta, const char *key, double pair[2], ssb_error *err);
bool meta_size(const json_t *meta, const char *key, size_t *value, ssb_error *err);        /* a whole number >= 0 */
bool meta_sizes(const json_t *meta, const char *key, size_t pair[2], ssb_error *err);      /* [rows, columns] >= 0: origins, shapes */
bool meta_text(const json_t *meta, const char *key, const char **text, ssb_error *err);    /* borrowed from meta */
bool meta_boolean(const json_t *meta, const char *key, bool *value, ssb_error *err);

/* The warnings of the earlier stages as a new array (empty if there are none), to append to and store in the output's meta. */
json_t *meta_warnings(const json_t *meta);

/* An entry for cli_history's `inputs`: kind and digest of a container read to its end. The path is left out: the bytes that follow
 * must not depend on whether the input came from a file or a pipe. New reference. */
json_t *meta_input(const ssb_reader *reader, const char digest[17]);

#endif
