/* The two branches of the rotation (physics.md section 7). */
#ifndef SSB_FIT_BRANCH_H
#define SSB_FIT_BRANCH_H

#include "tools/ssb-fit/climb.h"

/* Choose between result->best and its opposite: by the polarity of the phase, or as asked for; fill what the result says of it.
 * `all`: with the sums at result->best. */
bool branch_choose(const run *r, const objective *all, ssb_error *err);

#endif
