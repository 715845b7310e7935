/* What ssb-prep tells on stderr about what it found. */
#ifndef SSB_PREP_REPORT_H
#define SSB_PREP_REPORT_H

#include "tools/ssb-prep/spectrum.h"

void report_spectrum(const spectrum *s);

#endif
