/* The command line of ssb-fit. */
#ifndef SSB_FIT_OPTIONS_H
#define SSB_FIT_OPTIONS_H

#include "tools/common/cli.h"
#include "tools/ssb-fit/map.h"

typedef struct fit_options {
	const char *output, *device, *start, *spectrum;
	double C10_range_A[2], C12_most_A;
	cli_list fix;              /* NAME=VALUE */
	map_grid map;              /* no axes: a fit is wanted */
	cli_common common;
} fit_options;

extern const cli_program fit_program; /* without its options, which fit_parse knows */

/* Parse; exits on misuse. */
void fit_parse(fit_options *o, int argc, char **argv);

/* The problem that options, spectrum and (may be NULL) start fit pose; its backend and evidence are the caller's to set. */
bool fit_pose(fit_problem *problem, const fit_options *o, const json_t *spectrum_meta, const json_t *start_meta, ssb_error *err);

#endif
