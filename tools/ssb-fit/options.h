/* The command line of ssb-fit. */
#ifndef SSB_FIT_OPTIONS_H
#define SSB_FIT_OPTIONS_H

#include "tools/common/cli.h"
#include "tools/ssb-fit/fit.h"
#include "tools/ssb-fit/map.h"

typedef struct fit_options {
	const char *output, *device, *start, *spectrum;
	const char *fit;           /* list of names; NULL: not given */
	int order;                 /* 1 … 5, ORDER_AUTO, 0: not given */
	cli_list fix, range;       /* NAME=VALUE */
	size_t broad, trials, most_evaluations;
	int branch, objective;     /* fit.h; branch less one, as cli_choice counts */
	map_grid map;              /* no axes: not given */
	cli_common common;
} fit_options;

enum { ORDER_AUTO = -1 };

extern const cli_program fit_program; /* without its options, which fit_parse knows */

/* Parse; exits on misuse. */
void fit_parse(fit_options *o, int argc, char **argv);

#endif
