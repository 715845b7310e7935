/* From options and headers to the problem that they pose. */
#ifndef SSB_FIT_POSE_H
#define SSB_FIT_POSE_H

#include "tools/ssb-fit/options.h"

/* The problem that options, spectrum and (may be NULL) start fit pose; its backend and evidence are the caller's to set. Contradictions
 * are SSB_USAGE, a start of another calibration SSB_BAD_INPUT. */
bool fit_pose(fit_problem *problem, const fit_options *o, const json_t *spectrum_meta, const json_t *start_meta, ssb_error *err);

#endif
