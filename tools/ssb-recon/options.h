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
	double epsilon;           /* of max W, ls only */
	const char *device;
	bool order_given[OPTICS_ORDERS];
	double C_nm[OPTICS_ORDERS], phi_deg[OPTICS_ORDERS];
	double rotation_deg;      /* NAN: not given */
	int transposed;           /* 0 no, 1 yes, -1 not given */
	const char *spectrum, *fit; /* the operands; fit NULL: none */
	cli_common common;
} recon_options;

extern const cli_program recon_program; /* without its options, which recon_parse knows */

/* Parse and cross-check; exits on misuse. */
void recon_parse(recon_options *o, int argc, char **argv);

/* Parameters: the fit's (`optics`, NULL for none) with what was given on the command line in place of it; rotation and transposition
 * from the option, else the fit, else what the spectrum was given, else its centre of mass (said). */
bool recon_parameters(const recon_options *o, const json_t *optics, const json_t *spectrum_meta, optics_parameters *p, ssb_error *err);

#endif
