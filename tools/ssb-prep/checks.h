/* What is doubtful about a spectrum: said on stderr and kept in `warnings`, the list of its header. */
#ifndef SSB_PREP_CHECKS_H
#define SSB_PREP_CHECKS_H

#include <jansson.h>
#include "tools/ssb-prep/spectrum.h"

void check_spectrum(const spectrum *s, json_t *warnings);

#endif
