/* The command line of ssb-sim: an acquisition. */
#ifndef SSB_SIM_ACQUISITION_OPTIONS_H
#define SSB_SIM_ACQUISITION_OPTIONS_H

#include "tools/common/cli.h"
#include "tools/ssb-sim/acquisition.h"

/* Parse and check; *name is the operand. False with *err set when the values do not make an acquisition; the command line itself is
 * refused as cli_parse does. Release `common` with cli_release in any case. */
bool acquisition_parse(int argc, char **argv, cli_common *common, acquisition *a, const char **name, ssb_error *err);

#endif
