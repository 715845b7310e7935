/* The spectrum's container: header and arrays of formats/SPEC.md, kind 2. */
#ifndef SSB_PREP_STORE_H
#define SSB_PREP_STORE_H

#include <jansson.h>
#include "tools/ssb-prep/spectrum.h"

/* Write the spectrum to `path` ("-": standard output), pass by pass. warnings, history: borrowed. */
bool store_spectrum(spectrum *s, const char *path, const json_t *warnings, const json_t *history, ssb_error *err);

#endif
