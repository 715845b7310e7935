/* Which format a path asks for, and the writing of several files that appear together or not at all. */
#ifndef SAVE_OUTPUTS_H
#define SAVE_OUTPUTS_H

#include "tools/ssb-save/writers.h"

enum { OUTPUTS_LIMIT = 50 };

/* Fails (SSB_USAGE) for a path whose extension is not known, for one that is there twice, and for more than OUTPUTS_LIMIT. */
bool outputs_check(const char *const *paths, size_t count, ssb_error *err);

/* Make and write every path. Fails with nothing written, with SSB_USAGE for a format that the content has no form in. */
bool outputs_write(const save_content *content, const picture_options *options, const char *const *paths, size_t count, ssb_error *err);

#endif
