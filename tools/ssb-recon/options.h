/* The command line of ssb-recon. */
#ifndef SSB_RECON_OPTIONS_H
#define SSB_RECON_OPTIONS_H

#include "tools/common/cli.h"
#include "tools/transfer/optics_io.h"
#include "tools/transfer/reconstruct.h"

typedef struct recon_options {
	const char *output;
	int estimator;            /* enum estimator */
	size_t upsample;          /* 0: auto */
	double epsilon;           /* of max W, ls and joint */
	const char *device;
	bool order_given[OPTICS_ORDERS];
	double C_nm[OPTICS_ORDERS], phi_deg[OPTICS_ORDERS];
	size_t stack;             /* values of C10, from C_nm of C10 to stack_last_nm; 0: no stack */
	double stack_last_nm;
	double rotation_deg;      /* NAN: not given */
	int transposed;           /* 0 no, 1 yes, -1 not given */
	int branch;               /* index into RECON_BRANCHES, -1 not given */
	bool thin, halves;
	const char *spectrum, *fit; /* the operands; fit NULL: none */
	cli_common common;
} recon_options;

enum { STACK_ORDER = 0 }; /* C10, of optics_orders: the one a stack runs through */
#define RECON_BRANCHES "0|180"

extern const cli_program recon_program; /* without its options, which recon_parse knows */

/* Parse and cross-check; exits on misuse. */
void recon_parse(recon_options *o, int argc, char **argv);

/* What --device asks for; the estimator joint has the CPU alone: SSB_NO_BACKEND for another, and with `auto` it is said. */
const backend *recon_backend(const recon_options *o, ssb_error *err);

/* The fit's meta, of its branches the one asked for in place of what the fit took (formats/SPEC.md). New reference; NULL (SSB_USAGE): the
 * fit has one branch only. */
json_t *recon_fit_meta(const recon_options *o, const json_t *fit_meta, ssb_error *err);

/* Value `index` of the stack in nm: equally spaced, rounded to 1e-6 nm as every coefficient in a header is. */
double recon_stack_nm(const recon_options *o, size_t index);

/* Parameters: the fit's (`optics`, NULL for none) with what was given on the command line in place of it; rotation and transposition
 * from the option, else the fit, else what the spectrum was given, else its centre of mass (said). Of a stack: those of its first image. */
bool recon_parameters(const recon_options *o, const json_t *optics, const json_t *spectrum_meta, optics_parameters *p, ssb_error *err);

#endif
