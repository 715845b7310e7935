/* What a container holds, in words. Text from the file is shown without control characters. */
#ifndef INFO_DESCRIBE_H
#define INFO_DESCRIBE_H

#include <jansson.h>
#include <stdio.h>
#include "formats/container.h"

/* Heading with kind and digest, warnings, parameters, metadata with units, arrays, history. */
void describe(FILE *out, const ssb_reader *reader, const char digest[17]);

/* What a phase is a stack of, and where the Fourier ring correlation of its halves crosses its thresholds. */
void describe_phase(FILE *out, const json_t *meta);

/* A list of {"name", "value", "unit", "standard_error", "status"} as a table; a value has as many digits as its error supports. */
void describe_parameters(FILE *out, const json_t *parameters);

/* A map: the range of each of its `axes`, and the best point. */
void describe_map(FILE *out, const json_t *meta);

/* The lines of a metadata object, units taken from the ends of the keys ("step_A": "step … Å"), nested objects indented. Keys of
 * `elsewhere` (ended by NULL) are left out. */
void describe_meta(FILE *out, const json_t *meta, int indent, const char *const *elsewhere);

/* Text of the file, control characters as '?'. */
void describe_text(FILE *out, const char *text);

#endif
