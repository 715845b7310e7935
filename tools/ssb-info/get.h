/* Single values of the header, for scripts. */
#ifndef INFO_GET_H
#define INFO_GET_H

#include <jansson.h>
#include <stdio.h>
#include "formats/status.h"

/* Print the value at `path` and a newline: keys joined by '.', an entry of a list by its "name" ("meta.parameters.C10.value"). Numbers
 * and texts as they are, lists and objects as JSON on one line, and nothing but the newline where there is no such key. */
bool get_value(FILE *out, const json_t *header, const char *path, ssb_error *err);

#endif
