#include "tools/common/message.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static const char *program_name = "ssb";
static enum verbosity verbosity = NORMAL;
static atomic_int bar_percent = -1; /* what the bar on the terminal shows; -1: there is none */

void message_setup(const char *program, enum verbosity level)
{
	program_name = program;
	verbosity = level;
}

/* One write per line: lines of several stages of a pipe share a terminal. */
static void say(const char *kind, const char *text)
{
	const char *clear = atomic_load(&bar_percent) >= 0 ? "\r\033[K" : "";
	fprintf(stderr, "%s%s: %s%s\n", clear, program_name, kind, text);
}

void message_note(const char *format, ...)
{
	char text[2000];
	if (verbosity < NORMAL)
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	say("", text);
}

void message_detail(const char *format, ...)
{
	char text[2000];
	if (verbosity < VERBOSE)
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	say("", text);
}

void message_error(const char *text)
{
	say("", text);
}

void message_warn(json_t *list, const char *format, ...)
{
	char text[2000];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	say("warning: ", text);
	if (list)
		json_array_append_new(list, json_pack("{s:s, s:s}", "tool", program_name, "text", text));
}

void message_progress(const char *what, size_t done, size_t total)
{
	const int percent = total ? (int)(100.0 * (double)done / (double)total) : -1;
	int shown = atomic_load(&bar_percent);
	if (verbosity < NORMAL || percent == shown || (total && percent < shown) || !isatty(STDERR_FILENO))
		return;
	if (!atomic_compare_exchange_strong(&bar_percent, &shown, percent))
		return; /* another thread draws */
	static const char full[] = "########################################";
	if (total)
		fprintf(stderr, "\r%s: %s [%-40.*s] %3d%%", program_name, what, percent * 40 / 100, full, percent);
	else
		fprintf(stderr, "\r\033[K");
}
