/* Exit statuses and the error record that every library function fills in.
 *
 * A function that can fail returns bool (or a pointer): false (NULL) means that *err says why. The text is the object and the cause
 * ("cannot read 'x.region': chunk 17 fails its checksum"), lower case, without a full stop; the tool's name is put in front by main. */
#ifndef FORMATS_STATUS_H
#define FORMATS_STATUS_H

#include <stdbool.h>

enum ssb_status {
	SSB_OK = 0,
	SSB_RUNTIME = 1,    /* the machine failed: disk full, out of memory, write error */
	SSB_USAGE = 2,      /* the command line is wrong */
	SSB_BAD_INPUT = 3,  /* a file is missing, damaged, of the wrong kind, or contradicts itself */
	SSB_NO_BACKEND = 4, /* a device was asked for that this build or machine lacks */
};

typedef struct ssb_error {
	enum ssb_status status;
	char text[9000]; /* two paths of the longest kind and a cause */
} ssb_error;

/* Record a failure; always returns false, so that `return ssb_fail(err, …)` reads well. */
bool ssb_fail(ssb_error *err, enum ssb_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As ssb_fail with SSB_RUNTIME, with ": " and the text of errno at the end. */
bool ssb_fail_errno(ssb_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put text in front of the recorded failure (what was being done); always returns false. */
bool ssb_fail_prefix(ssb_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__ /* which does not see that they always return false */
#define ssb_fail(...) (ssb_fail(__VA_ARGS__), false)
#define ssb_fail_prefix(...) (ssb_fail_prefix(__VA_ARGS__), false)
#endif

#endif
