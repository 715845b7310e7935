/* Tilt and thickness of the specimen, and whether the data say anything of them. */
#ifndef SSB_FIT_SPECIMEN_H
#define SSB_FIT_SPECIMEN_H

#include "tools/ssb-fit/climb.h"

/* Whether a fit parameter is the specimen's: tilt, thickness. */
static inline bool specimen_has(int parameter)
{
	return parameter == TILT_R || parameter == TILT_C || parameter == THICKNESS;
}

/* Whether tilt or thickness is asked for. */
bool specimen_wanted(const fit_problem *problem);

/* From the optimum of a thin specimen (result->best, over result->set): look over tilt and thickness, climb with them, compare. Where
 * the gain of L is beyond what noise gives, the thick optimum becomes the result; else the thin one stays and tilt and thickness are
 * marked undetermined. `all`: over every bin. */
bool specimen_compare(const run *r, const parameter_set *with_specimen, objective *all, ssb_error *err);

#endif
