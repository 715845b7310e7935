#include "tools/ssb-recon/options.h"

#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/meta.h"
#include "tools/common/quantity.h"
#include "tools/transfer/joint.h"

/* "LO:HI:N", LO and HI as a single value is written. */
static bool parse_stack(recon_options *o, const char *text, ssb_error *err)
{
	double *first = &o->C_nm[STACK_ORDER], unused;
	char lo[64], hi[64];
	int used = 0;
	if (sscanf(text, "%63[^:]:%63[^:]:%n", lo, hi, &used) != 2 || !used)
		return ssb_fail(err, SSB_USAGE, "'%s' is not LO:HI:N, as in -30nm:0nm:31", text);
	if (!optics_parse_order(lo, STACK_ORDER, first, &unused, err) ||
	    !optics_parse_order(hi, STACK_ORDER, &o->stack_last_nm, &unused, err) ||
	    !cli_count(&(cli_option){.target = &o->stack}, text + used, err))
		return false;
	if (*first >= o->stack_last_nm)
		return ssb_fail(err, SSB_USAGE, "'%s': the lower value comes first", text);
	return o->stack >= 2 || ssb_fail(err, SSB_USAGE, "'%s': a stack has at least 2 images", text);
}

static bool parse_order(const cli_option *option, const char *text, ssb_error *err)
{
	recon_options *o = option->target;
	const int order = optics_find_order(option->name);
	o->order_given[order] = true;
	if (order == STACK_ORDER)
		o->stack = 0;
	if (order == STACK_ORDER && strchr(text, ':'))
		return parse_stack(o, text, err);
	return optics_parse_order(text, order, &o->C_nm[order], &o->phi_deg[order], err);
}

static bool parse_upsample(const cli_option *option, const char *text, ssb_error *err)
{
	if (!strcmp(text, "auto")) {
		*(size_t *)option->target = 0;
		return true;
	}
	return cli_count(option, text, err);
}

static bool parse_epsilon(const cli_option *option, const char *text, ssb_error *err)
{
	return cli_number(option, text, err) &&
	       (*(double *)option->target > 0 || ssb_fail(err, SSB_USAGE, "'%s' is not above 0", text));
}

const cli_program recon_program = {
	.name = "ssb-recon",
	.summary = "reconstruct the phase image from a spectrum",
	.operands = "SPECTRUM [FIT] [-o PHASE]",
	.description = "Parameters come from FIT (ssb-fit) and, in place of its values, from the options: --c10 -10nm --c12 2nm,20deg. "
	               "Without FIT at least one aberration must be given (--c10 0nm for none). Lengths take pm, A, nm, um, mm, m; angles "
	               "deg, rad, mrad. Either input may be - for standard input.",
	.libraries = "FFTW 3",
};

enum { OWN_OPTIONS = 10 };
static const size_t UPSAMPLE_BY_ESTIMATOR = SIZE_MAX; /* not given */

static void option_table(recon_options *o, cli_option table[OWN_OPTIONS + OPTICS_ORDERS])
{
	const cli_option own[OWN_OPTIONS] = {
		{"output", 'o', "PHASE", cli_text, &o->output, "file to write (default: -, standard output)"},
		{"estimator", 'e', "ls|ssb|mean-phase|joint", cli_choice, &o->estimator,
		 "ls: least squares, rad (default); ssb: the classical single-sideband sum; mean-phase: mean over the pixels' phase images; "
		 "joint: ls with the aliases of an undersampled scan told apart"},
		{"upsample", 'u', "N|auto", parse_upsample, &o->upsample,
		 "pixels per scan step on each axis (default 1, joint: auto); auto: the least that holds all of 2 alpha / lambda"},
		{"epsilon", 0, "X", parse_epsilon, &o->epsilon, "regularisation of ls and joint, as a fraction of the largest transfer (default 0.001)"},
		{"device", 0, "auto|cpu|cuda", cli_text, &o->device, "where to compute (default auto)"},
		{"rotation", 0, "DEG", cli_angle, &o->rotation_deg, "scan rotation in degrees, in place of the fit's"},
		{"transpose", 0, "no|yes", cli_choice, &o->transposed, "whether the detector's axes are swapped, in place of the fit's"},
		{"branch", 0, RECON_BRANCHES, cli_choice, &o->branch, "which branch of a fit made with --branch both, in place of the one it took"},
		{"thin", 0, NULL, cli_flag, &o->thin, "beside the phase, array 'thin': the ordinary image of the same parameters, tilt and thickness 0"},
		{"halves", 0, NULL, cli_flag, &o->halves,
		 "beside the phase, array 'halves': the phases of two interleaved halves of the bright field, and their Fourier ring correlation"},
	};
	memcpy(table, own, sizeof own);
	for (int i = 0; i < OPTICS_ORDERS; i++)
		table[OWN_OPTIONS + i] = (cli_option){optics_orders[i].option, 0, optics_orders[i].m ? "LENGTH,ANGLE" : "LENGTH", parse_order, o,
		                                      optics_orders[i].title};
	cli_option *c10 = &table[OWN_OPTIONS + STACK_ORDER];
	c10->argument = "LENGTH|LO:HI:N";
	c10->help = "defocus; LO:HI:N, as in -30nm:0nm:31, makes a stack of N images";
}

void recon_parse(recon_options *o, int argc, char **argv)
{
	ssb_error err;
	*o = (recon_options){.output = "-", .upsample = UPSAMPLE_BY_ESTIMATOR, .epsilon = 1e-3, .rotation_deg = NAN, .transposed = -1, .branch = -1};
	cli_option options[OWN_OPTIONS + OPTICS_ORDERS];
	option_table(o, options);
	cli_program program = recon_program;
	program.options = options;
	program.option_count = OWN_OPTIONS + OPTICS_ORDERS;
	cli_parse(&program, &o->common, argc, argv);
	const cli_common *c = &o->common;
	bool any = false, ok = true;
	for (int i = 0; i < OPTICS_ORDERS; i++)
		any |= o->order_given[i];
	if (c->operands < 1 || c->operands > 2)
		ok = ssb_fail(&err, SSB_USAGE, "needs a spectrum and at most one fit");
	else if (c->operands == 1 && !any)
		ok = ssb_fail(&err, SSB_USAGE, "needs a fit or aberrations (--c10 0nm for none)");
	else if (c->operands == 2 && !strcmp(c->operand[0], "-") && !strcmp(c->operand[1], "-"))
		ok = ssb_fail(&err, SSB_USAGE, "only one input can be standard input");
	else if (c->operands == 1 && o->branch >= 0)
		ok = ssb_fail(&err, SSB_USAGE, "--branch takes one of a fit's branches: it needs a fit");
	else if (o->stack && o->halves)
		ok = ssb_fail(&err, SSB_USAGE, "--halves and a stack of --c10 exclude each other");
	else if (o->estimator == ESTIMATOR_JOINT && o->epsilon < JOINT_LEAST_EPSILON)
		ok = ssb_fail(&err, SSB_USAGE, "--epsilon %g is too small to tell aliases apart: %g or more", o->epsilon, JOINT_LEAST_EPSILON);
	for (size_t i = 0; ok && i < c->operands; i++)
		ok = cli_distinct(c->operand[i], o->output, &err);
	if (!ok)
		exit(cli_end(false, &err));
	if (o->upsample == UPSAMPLE_BY_ESTIMATOR)
		o->upsample = o->estimator == ESTIMATOR_JOINT ? 0 : 1;
	o->spectrum = c->operand[0];
	o->fit = c->operands == 2 ? c->operand[1] : NULL;
}

const backend *recon_backend(const recon_options *o, ssb_error *err)
{
	const bool automatic = !o->device || !strcmp(o->device, "auto");
	if (o->estimator != ESTIMATOR_JOINT)
		return backend_open(o->device, err);
	if (automatic && o->device)
		message_note("computing on the CPU: the estimator joint runs nowhere else");
	const backend *b = automatic ? &backend_cpu : backend_open(o->device, err);
	if (!b || b == &backend_cpu)
		return b;
	ssb_fail(err, SSB_NO_BACKEND, "the estimator joint runs on the CPU only, not on device '%s'", o->device);
	return NULL;
}

/* Rotation and transposition of a spectrum without a fit: what ssb-prep was given, else the centre of mass. */
static bool orientation(const json_t *meta, optics_parameters *p, ssb_error *err)
{
	const json_t *com = json_object_get(meta, "centre_of_mass");
	double rotation_deg;
	const char *source = "given to ssb-prep";
	p->transposed = false;
	if (!com && (!json_object_get(meta, "transposed") || !json_object_get(meta, "rotation_deg")))
		return ssb_fail(err, SSB_BAD_INPUT, "the centre of mass does not move: give --rotation and --transpose");
	if (json_object_get(meta, "transposed") ? !meta_boolean(meta, "transposed", &p->transposed, err)
	                                        : !meta_boolean(com, "transposed_decided", &p->transposed, err))
		return false;
	if (!json_object_get(meta, "rotation_deg")) {
		meta = json_object_get(com, p->transposed ? "transposed" : "plain");
		source = "from the centre of mass";
	}
	if (!meta_number(meta, "rotation_deg", &rotation_deg, err))
		return false;
	p->rotation_rad = rotation_deg * M_PI / 180;
	message_note("rotation %.3f deg, %stransposed, %s", rotation_deg, p->transposed ? "" : "not ", source);
	return true;
}

json_t *recon_fit_meta(const recon_options *o, const json_t *fit_meta, ssb_error *err)
{
	const json_t *branches = json_object_get(fit_meta, "branches");
	json_t *meta = json_copy((json_t *)fit_meta), *branch = NULL;
	const char *const wanted = o->branch == 1 ? "180" : "0";
	if (o->branch < 0)
		return meta;
	for (size_t i = 0; i < json_array_size(branches); i++) {
		json_t *at = json_array_get(branches, i);
		const char *name = json_string_value(json_object_get(at, "branch"));
		if (name && !strcmp(name, wanted))
			branch = at;
	}
	if (branch && !json_object_update(meta, branch))
		return meta;
	json_decref(meta);
	ssb_fail(err, SSB_USAGE, "--branch %s: '%s' holds one branch only (ssb-fit --branch both fits two)", wanted, o->fit);
	return NULL;
}

double recon_stack_nm(const recon_options *o, size_t index)
{
	const double first = o->C_nm[STACK_ORDER], part = (double)index / (double)(o->stack - 1);
	return round((first + part * (o->stack_last_nm - first)) * 1e6) / 1e6 + 0.0;
}

bool recon_parameters(const recon_options *o, const json_t *optics, const json_t *spectrum_meta, optics_parameters *p, ssb_error *err)
{
	*p = (optics_parameters){0};
	if (optics && !optics_from_json(p, optics, err))
		return ssb_fail_prefix(err, "cannot read '%s': ", o->fit);
	if (!optics && (isnan(o->rotation_deg) || o->transposed < 0) && !orientation(spectrum_meta, p, err))
		return ssb_fail_prefix(err, "cannot read '%s': ", o->spectrum);
	for (int i = 0; i < OPTICS_ORDERS; i++)
		if (o->order_given[i])
			optics_set(p, i, o->C_nm[i], o->phi_deg[i]);
	if (!isnan(o->rotation_deg))
		p->rotation_rad = o->rotation_deg * M_PI / 180;
	if (o->transposed >= 0)
		p->transposed = o->transposed;
	return true;
}
