/* What is said on stderr, to a pipe and to a terminal; and header values asked for by type. */
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "tools/common/message.h"
#include "tools/common/meta.h"

enum { TEXT = 20000 };

static void talk(enum verbosity level)
{
	message_setup("ssb-x", level);
	for (size_t i = 0; i <= 1000; i++)
		message_progress("reading", i, 1000);
	message_note("a note");
	message_detail("a detail");
	message_warn(NULL, "a warning %d", 1);
	message_progress("", 0, 0);
}

static void drain(int fd, char text[TEXT])
{
	size_t got = 0;
	for (ssize_t n; got < TEXT - 1 && (n = read(fd, text + got, TEXT - 1 - got)) > 0;)
		got += (size_t)n;
	text[got] = 0;
	close(fd);
	wait(NULL);
}

static void said(enum verbosity level, int terminal, char text[TEXT])
{
	int master = -1, ends[2] = {-1, -1};
	fflush(stdout);
	if (!terminal && pipe(ends))
		abort();
	const pid_t child = terminal ? forkpty(&master, NULL, NULL, NULL) : fork();
	if (child == 0) {
		if (!terminal)
			dup2(ends[1], STDERR_FILENO);
		talk(level);
		_exit(0);
	}
	if (!terminal)
		close(ends[1]);
	drain(terminal ? master : ends[0], text);
}

static void test_messages(void)
{
	char text[TEXT];
	said(NORMAL, 0, text);
	CHECK(!strcmp(text, "ssb-x: a note\nssb-x: warning: a warning 1\n"), "to a pipe: a note and a warning, no bar");
	said(QUIET, 0, text);
	CHECK(!strcmp(text, "ssb-x: warning: a warning 1\n"), "quiet: the warning stays");
	said(VERBOSE, 0, text);
	CHECK(strstr(text, "ssb-x: a detail\n") != NULL, "verbose: the detail too");
	said(QUIET, 1, text);
	CHECK(!strcmp(text, "ssb-x: warning: a warning 1\r\n"), "a terminal, quiet: no bar");
	json_t *list = json_array();
	message_setup("ssb-x", NORMAL);
	message_warn(list, "kept %s", "here");
	CHECK(!strcmp(json_string_value(json_object_get(json_array_get(list, 0), "tool")), "ssb-x") &&
	          !strcmp(json_string_value(json_object_get(json_array_get(list, 0), "text")), "kept here"), "a warning goes to the list");
	json_decref(list);
}

static void test_bar(void)
{
	char text[TEXT];
	int bars = 0;
	said(NORMAL, 1, text);
	for (const char *at = text; (at = strstr(at, "ssb-x: reading [")); at++)
		bars++;
	CHECK(bars > 10 && bars <= 101, "a terminal: %d bars, one for each percent at most", bars);
	CHECK(strstr(text, "ssb-x: reading [                                        ]   0%") != NULL, "the bar begins empty");
}

static void refused(bool ok, const ssb_error *err, const char *words)
{
	CHECK(!ok && err->status == SSB_BAD_INPUT && strstr(err->text, words), "refused: %s", err->text);
}

static void test_meta(void)
{
	json_t *meta = json_pack("{s:f, s:i, s:[f,i], s:[i,i], s:s, s:b, s:i, s:[i,i,i], s:f}", "real", 0.5, "whole", 7, "pair", 0.25, 2, "shape", 3, 4, "text",
	                         "abc", "yes", 1, "negative", -1, "three", 1, 2, 3, "fraction", 2.5);
	ssb_error err = {SSB_OK, ""};
	double number, pair[2];
	size_t size, sizes[2];
	const char *text;
	bool flag;
	CHECK(meta_number(meta, "real", &number, &err) && number == 0.5, "a real number");
	CHECK(meta_number(meta, "whole", &number, &err) && number == 7, "a whole number is a number");
	CHECK(meta_pair(meta, "pair", pair, &err) && pair[0] == 0.25 && pair[1] == 2, "a pair");
	CHECK(meta_size(meta, "whole", &size, &err) && size == 7, "a size");
	CHECK(meta_sizes(meta, "shape", sizes, &err) && sizes[0] == 3 && sizes[1] == 4, "a shape");
	CHECK(meta_text(meta, "text", &text, &err) && !strcmp(text, "abc"), "a text");
	CHECK(meta_boolean(meta, "yes", &flag, &err) && flag, "a truth");
	refused(meta_number(meta, "absent", &number, &err), &err, "the header has no 'absent'");
	refused(meta_number(meta, "text", &number, &err), &err, "'text' is not a finite number");
	refused(meta_positive(meta, "negative", &number, &err), &err, "'negative' is not a positive number");
	refused(meta_pair(meta, "three", pair, &err), &err, "'three' is not a pair");
	refused(meta_positive_pair(meta, "real", pair, &err), &err, "'real' is not a pair");
	refused(meta_size(meta, "negative", &size, &err), &err, "'negative' is not a whole number");
	refused(meta_size(meta, "fraction", &size, &err), &err, "'fraction' is not a whole number");
	refused(meta_sizes(meta, "pair", sizes, &err), &err, "'pair' is not a pair of whole numbers");
	refused(meta_text(meta, "real", &text, &err), &err, "'real' is not a text");
	refused(meta_boolean(meta, "whole", &flag, &err), &err, "'whole' is not true or false");
	json_t *warnings = meta_warnings(meta);
	CHECK(json_is_array(warnings) && json_array_size(warnings) == 0, "no warnings yet: an empty list");
	json_decref(warnings);
	json_decref(meta);
}

int main(void)
{
	test_messages();
	test_bar();
	test_meta();
	return test_end();
}
