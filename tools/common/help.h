/* What -h and --version print. */
#ifndef COMMON_HELP_H
#define COMMON_HELP_H

#include "tools/common/cli.h"

/* The whole of -h on stdout: usage, description, the tool's options, the shared ones, exit statuses. */
void help_print(const cli_program *program, const cli_option *shared, size_t shared_count);

/* Name and version, then compiler, OpenMP, libraries and features, one line each, on stdout. */
void help_version(const cli_program *program);

#endif
