/* The command line of ssb-decode. */
#ifndef DECODE_OPTIONS_H
#define DECODE_OPTIONS_H

#include "tools/common/cli.h"
#include "tools/ssb-decode/bright.h"

/* A rectangle as typed; `given` false: the option was not given, `full`: everything. */
typedef struct range_option { bool given, full; size_t first[2], end[2]; } range_option;

typedef struct decode_options {
	cli_common common;
	const char *input, *output, *dataset, *mask;
	size_t scan[2];
	range_option scan_roi, roi;
	int bad_pixels, codec;
	bool partial;
} decode_options;

/* Parse, or say why not and exit. */
void options_parse(decode_options *options, int argc, char **argv);

/* History for the output: `inputs` is owned. New reference. */
json_t *options_history(const decode_options *options, json_t *inputs);

/* The rectangle that `range` means of a rows × columns `what` ("scan", "detector"); refused with both numbers when it leaves it. */
bool options_box(const range_option *range, const size_t shape[2], const char *what, box *bounds, ssb_error *err);

#endif
