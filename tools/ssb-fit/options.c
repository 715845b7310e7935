#include "tools/ssb-fit/options.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "tools/common/message.h"
#include "tools/common/meta.h"
#include "tools/common/quantity.h"
#include "tools/transfer/optics_io.h"

static const double RAD = M_PI / 180;

static bool parse_range(const cli_option *option, const char *text, ssb_error *err)
{
	return quantity_range(text, QUANTITY_LENGTH, NULL, option->target, err);
}

static bool parse_length(const cli_option *option, const char *text, ssb_error *err)
{
	double *length = option->target;
	return quantity_parse(text, QUANTITY_LENGTH, NULL, length, err) && (*length > 0 || ssb_fail(err, SSB_USAGE, "'%s' is not above 0", text));
}

static bool parse_map(const cli_option *option, const char *text, ssb_error *err)
{
	return map_parse(option->target, text, err);
}

const cli_program fit_program = {
	.name = "ssb-fit",
	.summary = "fit defocus, astigmatism and scan rotation to a spectrum",
	.operands = "SPECTRUM [-o FIT]",
	.description = "Fits C10, C12, phi12 and the rotation by likelihood: an exhaustive search, then Newton steps on all the evidence. What "
	               "ssb-prep was given (--rotation, --transpose) is held. The fit file holds every parameter with its standard error, the "
	               "covariance, the explained fraction of the signal, every start and step, and what to be warned of: see ssb-info.",
	.libraries = "FFTW 3, LAPACK",
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
	*o = (fit_options){.output = "-", .C10_range_A = {-600, 600}, .C12_most_A = 150};
	const cli_option options[] = {
		{"output", 'o', "FIT", cli_text, &o->output, "file to write (default: -, standard output)"},
		{"fix", 'f', "NAME=VALUE", cli_texts, &o->fix,
		 "hold a parameter: C10=-10nm, C12=0, C30=1.2mm, C21=90nm,30deg, rotation=15deg, transposed=yes; may be repeated"},
		{"start", 's', "FIT", cli_text, &o->start, "climb from another fit's values, without a search"},
		{"c10", 0, "LO:HI", parse_range, &o->C10_range_A, "range of C10 to search (default -60nm:60nm)"},
		{"c12", 0, "LENGTH", parse_length, &o->C12_most_A, "largest C12 to search (default 15nm)"},
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
	else
		ok = cli_distinct(c->operand[0], o->output, &err) && (!o->start || cli_distinct(o->start, o->output, &err));
	if (!ok)
		exit(cli_end(false, &err));
	o->spectrum = c->operand[0];
}

/* The fit parameters that belong to an order: C12 is C12a and C12b. */
static void hold_order(fit_problem *problem, int order)
{
	for (int i = 0; i < ABERRATIONS; i++)
		if (!strncmp(aberration_terms[i].name, optics_orders[order].name, 3))
			problem->fits[i] = false;
}

static bool fix_transposed(fit_problem *problem, const char *value, ssb_error *err)
{
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return ssb_fail(err, SSB_USAGE, "'%s' is neither yes nor no", value);
	problem->held.transposed = !strcmp(value, "yes");
	problem->transposed_given = true;
	return true;
}

static bool fix_one(fit_problem *problem, const char *text, ssb_error *err)
{
	char name[16] = "";
	const char *equals = strchr(text, '=');
	if (!equals || (size_t)(equals - text) >= sizeof name)
		return ssb_fail(err, SSB_USAGE, "'%s' is not NAME=VALUE", text);
	memcpy(name, text, (size_t)(equals - text));
	if (!strcasecmp(name, "transposed"))
		return fix_transposed(problem, equals + 1, err);
	if (!strcasecmp(name, "rotation")) {
		problem->fits[ROTATION] = false;
		return quantity_parse(equals + 1, QUANTITY_ANGLE, NULL, &problem->held.rotation_rad, err);
	}
	const int order = optics_find_order(name);
	double C_nm, phi_deg;
	if (order < 0)
		return ssb_fail(err, SSB_USAGE, "no parameter is called '%s' (C10, C12, C21, … C56, rotation, transposed)", name);
	if (!optics_parse_order(equals + 1, order, &C_nm, &phi_deg, err))
		return false;
	optics_set(&problem->held, order, C_nm, phi_deg);
	hold_order(problem, order);
	return true;
}

/* What the spectrum says of the orientation: held if ssb-prep was given it (a start fit does not free it), else the centre of mass to
 * start from; 0 where nothing moves. */
static bool take_orientation(fit_problem *problem, const json_t *meta, ssb_error *err)
{
	const json_t *com = json_object_get(meta, "centre_of_mass");
	static const char *const keys[2] = {"plain", "transposed"};
	double rotation_deg;
	for (int i = 0; com && i < 2; i++) {
		if (!meta_number(json_object_get(com, keys[i]), "rotation_deg", &rotation_deg, err))
			return ssb_fail_prefix(err, "centre_of_mass, %s: ", keys[i]);
		problem->com_rotation_rad[i] = rotation_deg * RAD;
	}
	if (json_object_get(meta, "transposed")) {
		if (!meta_boolean(meta, "transposed", &problem->held.transposed, err))
			return false;
		problem->transposed_given = true;
	}
	if (!json_object_get(meta, "rotation_deg"))
		return true;
	if (!meta_number(meta, "rotation_deg", &rotation_deg, err))
		return false;
	problem->held.rotation_rad = rotation_deg * RAD;
	problem->fits[ROTATION] = false;
	return true;
}

static bool take_start(fit_problem *problem, const fit_options *o, const json_t *start_meta, ssb_error *err)
{
	const json_t *optics = json_object_get(start_meta, "optics");
	problem->has_start = true;
	if (!optics)
		return ssb_fail(err, SSB_BAD_INPUT, "cannot start from '%s': it found nothing", o->start);
	return optics_from_json(&problem->held, optics, err) || ssb_fail_prefix(err, "cannot read '%s': ", o->start);
}

bool fit_pose(fit_problem *problem, const fit_options *o, const json_t *spectrum_meta, const json_t *start_meta, ssb_error *err)
{
	*problem = (fit_problem){.C10_range_A = {o->C10_range_A[0], o->C10_range_A[1]}, .C12_most_A = o->C12_most_A,
	                         .memory = o->common.memory};
	for (int i = C10; i <= C12b; i++)
		problem->fits[i] = true;
	problem->fits[ROTATION] = true;
	if (start_meta && !take_start(problem, o, start_meta, err))
		return false;
	if (!take_orientation(problem, spectrum_meta, err))
		return ssb_fail_prefix(err, "cannot read '%s': ", o->spectrum);
	for (size_t i = 0; i < o->fix.count; i++)
		if (!fix_one(problem, o->fix.item[i], err))
			return ssb_fail_prefix(err, "--fix: ");
	return true;
}
