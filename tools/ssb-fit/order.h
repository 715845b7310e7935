/* How many orders the data support. */
#ifndef SSB_FIT_ORDER_H
#define SSB_FIT_ORDER_H

#include "tools/ssb-fit/climb.h"

enum { MOST_ORDER = 5 };

/* Climb on every bin with the orders up to 1, 2, … 5 of those asked for, each from the optimum of the one before and from `from` cut
 * to it. The result is that of the highest order which gains more than 4 deviations over what its parameters gain on noise and leaves no
 * direction undetermined, with its certificate; all are recorded in result->orders. */
bool order_choose(const run *r, const optics_parameters *from, objective *all, ssb_error *err);

#endif
