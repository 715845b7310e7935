/* The broad search: starts in the orders above C12: low-discrepancy points, each with an exhaustive search of C10 and C12 under it. */
#ifndef SSB_FIT_BROAD_H
#define SSB_FIT_BROAD_H

#include "tools/ssb-fit/climb.h"

/* Look at problem->broad points of the higher orders in `set`, the first of them 0, each at one of the `orientations` (whose rotation and
 * transposition count) in turn: exhaustive search of C10 and C12 under it, then a climb over the whole set on the bins that carry the
 * information. Appends the best distinct optima, at most `most`, to list[*count]. Ends early at an optimum that is convincing. */
bool broad_search(const run *r, const parameter_set *set, const optics_parameters *orientation, size_t orientations, refined *list,
                  size_t most, size_t *count, ssb_error *err);

#endif
