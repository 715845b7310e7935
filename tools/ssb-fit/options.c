#include "tools/ssb-fit/options.h"

#include <stdlib.h>
#include <string.h>

static bool parse_fit_order(const cli_option *option, const char *text, ssb_error *err)
{
	int *order = option->target;
	if (!strcmp(text, "auto"))
		*order = ORDER_AUTO;
	else if (strlen(text) == 1 && *text >= '1' && *text <= '5')
		*order = *text - '0';
	else
		return ssb_fail(err, SSB_USAGE, "'%s' is neither 1 to 5 nor auto", text);
	return true;
}

static bool parse_map(const cli_option *option, const char *text, ssb_error *err)
{
	return map_parse(option->target, text, err);
}

const cli_program fit_program = {
	.name = "ssb-fit",
	.summary = "fit aberrations, scan rotation, tilt and thickness to a spectrum",
	.operands = "SPECTRUM [-o FIT]",
	.description = "Fits by likelihood: an exhaustive search, then Newton steps on all the evidence. By default C10, C12 and the rotation; what "
	               "ssb-prep was given (--rotation, --transpose) is held. The fit file holds every parameter with its standard error, the "
	               "covariance, the explained fraction of the signal, every start and optimum, and what to be warned of: see ssb-info.",
	.libraries = "FFTW 3, LAPACK, NLopt",
};

/* With --map nothing is fitted: an option that says how to fit is a mistake. */
static bool check_map_options(const json_t *given, ssb_error *err)
{
	static const char *const usable[] = {"map", "fix", "start", "objective", "device"};
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)given, key, value) {
		bool known = false;
		for (size_t i = 0; i < sizeof usable / sizeof *usable; i++)
			known |= !strcmp(key, usable[i]);
		if (!known)
			return ssb_fail(err, SSB_USAGE, "--%s says how to fit, and --map fits nothing", key);
	}
	return true;
}

void fit_parse(fit_options *o, int argc, char **argv)
{
	ssb_error err;
	*o = (fit_options){.output = "-", .broad = 400, .trials = 200, .most_evaluations = 5000, .branch = -1};
	const cli_option options[] = {
		{"output", 'o', "FIT", cli_text, &o->output, "file to write (default: -, standard output)"},
		{"fit", 0, "NAME,…", cli_text, &o->fit,
		 "what to fit, of C10, C12, C21, C23, C30 … C56, rotation, tilt, thickness, sampling (default C10,C12,rotation)"},
		{"order", 0, "1…5|auto", parse_fit_order, &o->order,
		 "fit every aberration up to this order, and the rotation; auto: as many orders as the data support"},
		{"fix", 'f', "NAME=VALUE", cli_texts, &o->fix,
		 "hold a parameter: C10=-10nm, C12=0, C30=1.2mm, C21=90nm,30deg, rotation=15deg, transposed=yes, tilt=3mrad,-2mrad, thickness=8nm; may be repeated"},
		{"range", 0, "NAME=RANGE", cli_texts, &o->range,
		 "where to search: C10=-40nm:0nm (default -60nm:60nm), C12=10nm (largest; default 15nm), C30=-2rad:2rad (at the aperture's edge; "
		 "default of the higher orders), rotation=0deg:40deg, tilt=20mrad, thickness=40nm (largest; the defaults); may be repeated"},
		{"start", 's', "FIT", cli_text, &o->start, "climb from another fit's values, without a search"},
		{"trials", 0, "N", cli_count, &o->trials, "most optima of the exhaustive search that are refined (default 200)"},
		{"broad", 0, "N", cli_whole, &o->broad, "starting points of the search in the orders above C12 (default 400)"},
		{"max-evals", 0, "N", cli_count, &o->most_evaluations, "most evaluations of the objective over all frequencies, others counting by their share (default 5000)"},
		{"branch", 0, "0|180|both", cli_choice, &o->branch,
		 "rotation within 90 degrees of 0 or of 180, or a fit of each, instead of the one in which the atoms are bright"},
		{"objective", 0, "likelihood|variance", cli_choice, &o->objective,
		 "likelihood (default), or the published variance, without error bars, from the likelihood's optimum and a search of its own"},
		{"map", 0, "NAME=LO:HI:N,…", parse_map, &o->map,
		 "no fit: the objective at N values of one or two parameters, as C10=-30nm:30nm:61,C12a=-5nm:5nm:21; all else is held (--start, --fix, 0)"},
		{"device", 0, "auto|cpu|cuda", cli_text, &o->device, "where to compute (default auto)"},
	};
	cli_program program = fit_program;
	program.options = options;
	program.option_count = sizeof options / sizeof *options;
	cli_parse(&program, &o->common, argc, argv);
	const cli_common *c = &o->common;
	bool ok = true;
	if (c->operands != 1)
		ok = ssb_fail(&err, SSB_USAGE, "needs one spectrum");
	else if (o->map.axes && !check_map_options(c->options, &err))
		ok = false;
	else if (o->start && !strcmp(o->start, "-") && !strcmp(c->operand[0], "-"))
		ok = ssb_fail(&err, SSB_USAGE, "only one input can be standard input");
	else if (o->fit && o->order)
		ok = ssb_fail(&err, SSB_USAGE, "--fit and --order both say what to fit: give one of them");
	else if (o->start && (json_object_get(c->options, "broad") || json_object_get(c->options, "trials")))
		ok = ssb_fail(&err, SSB_USAGE, "--start climbs without a search: --broad and --trials have no part in it");
	else
		ok = cli_distinct(c->operand[0], o->output, &err) && (!o->start || cli_distinct(o->start, o->output, &err));
	if (!ok)
		exit(cli_end(false, &err));
	o->spectrum = c->operand[0];
}
