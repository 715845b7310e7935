/* The fit file. */
#ifndef SSB_FIT_REPORT_H
#define SSB_FIT_REPORT_H

#include "tools/ssb-fit/options.h"

/* What a file made from a spectrum says of the instrument: the spectrum's own keys. New reference. */
json_t *report_instrument(const json_t *spectrum_meta);

/* The history of a file made from `spectrum` and (may be NULL) `start`, which are read to their ends. New reference, NULL on failure. */
json_t *report_history(const fit_options *o, ssb_reader *spectrum, ssb_reader *start, ssb_error *err);

/* Say the result on stderr, in a few lines. */
void report_say(const fit_problem *problem, const fit_result *result);

/* Write the fit container (formats/SPEC.md). `start` may be NULL. */
bool report_store(const fit_problem *problem, const fit_result *result, const fit_options *o, ssb_reader *spectrum, ssb_reader *start,
                  ssb_error *err);

#endif
