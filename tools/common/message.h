/* What a tool says on stderr while it works. The program name and the verbosity are the suite's only mutable globals. */
#ifndef COMMON_MESSAGE_H
#define COMMON_MESSAGE_H

#include <jansson.h>

enum verbosity { QUIET = -1, NORMAL = 0, VERBOSE = 1 };

/* `program` is borrowed for good. */
void message_setup(const char *program, enum verbosity level);

/* "ssb-decode: text": unless quiet. */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Only with -v. */
void message_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "ssb-decode: text", always: for cli_end and cli_parse. */
void message_error(const char *text);

/* "ssb-prep: warning: text", shown even when quiet, and appended as {"tool", "text"} to `list` (a JSON array, may be NULL), which is
 * the "warnings" of the output's meta: what is said once must not be lost. */
void message_warn(json_t *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A progress bar on stderr, only when that is a terminal and not quiet. `done` of `total`; total 0 ends it. Thread-safe, cheap. */
void message_progress(const char *what, size_t done, size_t total);

#endif
