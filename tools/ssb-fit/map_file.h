/* The map file. */
#ifndef SSB_FIT_MAP_FILE_H
#define SSB_FIT_MAP_FILE_H

#include "tools/ssb-fit/options.h"

/* Sweep over o->map, say the best point on stderr, and write the map container (formats/SPEC.md). `start` may be NULL. */
bool map_make(const fit_problem *problem, const fit_options *o, ssb_reader *spectrum, ssb_reader *start, ssb_error *err);

#endif
