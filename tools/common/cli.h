/* Command line: one table of options drives parsing, -h and the record of options in the header.
 *
 * The shared block (same letters in every tool): -h --help, --version, -v --verbose, -q --quiet, -t --threads N,
 * --memory SIZE, --profile, --reproducible. Requested help goes to stdout with status 0; misuse to stderr with status 2. */
#ifndef COMMON_CLI_H
#define COMMON_CLI_H

#include <jansson.h>
#include <stddef.h>
#include "formats/status.h"

typedef struct cli_option cli_option;

/* Parse `text` into option->target; false with *err set (SSB_USAGE, the cause alone: "'15x' is no whole number"). */
typedef bool cli_parser(const cli_option *option, const char *text, ssb_error *err);

struct cli_option {
	const char *name;      /* long name without dashes */
	char letter;           /* short name, 0 for none */
	const char *argument;  /* as -h shows it, "N", "R,C", "mask|median|zero|keep" (the choices themselves for cli_choice); NULL: a flag */
	cli_parser *parse;     /* cli_flag for flags */
	void *target;
	const char *help;      /* one or two lines, with the unit and the default */
};

cli_parser cli_flag;       /* bool *: set to true */
cli_parser cli_text;       /* const char ** (points into argv) */
cli_parser cli_texts;      /* cli_list *: appended at each use */
cli_parser cli_count;      /* size_t *, a whole number >= 1 */
cli_parser cli_whole;      /* size_t *, a whole number >= 0 */
cli_parser cli_number;     /* double *, finite, no unit */
cli_parser cli_choice;     /* int *: the index of the word in `argument`, split at '|' */
cli_parser cli_bytes;      /* size_t *: "4G", "500M", "1048576" (powers of 1024) */
cli_parser cli_shape;      /* size_t[2]: "64x48", both >= 1 */
cli_parser cli_kilovolt;   /* double *: "300", "300kV", > 0 */
cli_parser cli_semiangle;  /* double *, mrad: "30", "30mrad", "1.7deg", > 0 */
cli_parser cli_step;       /* double[2], angstrom: "0.264", "0.264A", "26.4pm", "0.2,0.3", > 0 */
cli_parser cli_sampling;   /* double[2], mrad per pixel: "0.57", "0.57mrad", "0.57,0.58", > 0 */
cli_parser cli_pair;       /* double[2]: "31.5,32" */
cli_parser cli_angle;      /* double *, degrees: "30", "30deg", "0.5rad", "10mrad" */

typedef struct cli_list { const char *item[256]; size_t count; } cli_list;

typedef struct cli_program {
	const char *name;           /* "ssb-prep" */
	const char *summary;        /* one line */
	const char *operands;       /* "REGION -o SPECTRUM", after "usage: ssb-prep [options] " */
	const char *description;    /* paragraphs for -h below the usage; may be NULL */
	const cli_option *options;  /* the tool's own */
	size_t option_count;
	const char *libraries;      /* of --version: "HDF5 1.10.8, LZ4 1.9.4" …; NULL */
} cli_program;

typedef struct cli_common {
	size_t threads;         /* >= 1; default OMP_NUM_THREADS, else the processors of this machine */
	size_t memory;          /* bytes; default three quarters of the machine's memory */
	bool reproducible;      /* also when SOURCE_DATE_EPOCH is set: no time of day in headers */
	json_t *options;        /* object: the options given, as typed, by long name, without the shared ones and "output"; owned */
	const char **operand;   /* the operands, in order */
	size_t operands;
} cli_common;

/* Parse argv. Prints and exits for -h and --version; on misuse prints one error line and a hint, exits 2. Sets the program name,
 * the verbosity and the number of OpenMP threads; from here on standard streams that the parent closed fail but keep their numbers, and
 * a closed reader ends the tool (SIGPIPE). Release with cli_release. */
void cli_parse(const cli_program *program, cli_common *common, int argc, char **argv);
void cli_release(cli_common *common);

/* Bytes of the machine's memory, or of what its container is allowed. */
size_t cli_machine_memory(void);

/* Refuse (SSB_USAGE) when output path `out` is the same file as input path `in`. "-" is never the same. */
bool cli_distinct(const char *in, const char *out, ssb_error *err);

/* This stage's entry for the header's history, appended to a copy of `before` (borrowed, NULL for none): tool, version, options as
 * typed (but not the shared ones, nor "output": the same result must be the same bytes), `inputs` (owned: an array of meta_input's), and
 * unless reproducible the time. New reference. */
json_t *cli_history(const cli_program *program, const cli_common *common, const json_t *before, json_t *inputs);

/* End of main: print a failure's line or what --profile asks for, check the last close of stdout; returns the exit status. */
int cli_end(bool ok, ssb_error *err);

#endif
