#include "formats/frame.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *frame_shown(const char *path, const char *dash)
{
	char *shown;
	const bool standard = strcmp(path, "-") == 0;
	return asprintf(&shown, standard ? "%s" : "'%s'", standard ? dash : path) < 0 ? NULL : shown;
}

bool (ssb_fail)(ssb_error *err, enum ssb_status status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	err->status = status;
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	return false;
}

bool ssb_fail_errno(ssb_error *err, const char *format, ...)
{
	const char *cause = strerror(errno);
	va_list args;
	va_start(args, format);
	err->status = SSB_RUNTIME;
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	const size_t used = strlen(err->text);
	snprintf(err->text + used, sizeof err->text - used, ": %s", cause);
	return false;
}

bool (ssb_fail_prefix)(ssb_error *err, const char *format, ...)
{
	char cause[sizeof err->text];
	memcpy(cause, err->text, sizeof cause);
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	const size_t used = strlen(err->text);
	snprintf(err->text + used, sizeof err->text - used, "%s", cause);
	return false;
}
