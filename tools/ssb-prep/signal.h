/* What the transformed bins tell before a fit: the power above shot noise, and the neighbour start. */
#ifndef SSB_PREP_SIGNAL_H
#define SSB_PREP_SIGNAL_H

#include "tools/ssb-prep/spectrum.h"

/* Go through the first pass, which tells of all bins, and fill in bin_excess, excess, excess_noise and neighbours (not found where the excess is within 3 of its noise). */
bool signal_measure(spectrum *s, ssb_error *err);

/* Bytes that signal_measure keeps beside G when there is more than one pass: the rows of the bins that the neighbour start looks at. */
size_t signal_memory(const spectrum *s);

#endif
