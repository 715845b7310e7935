#include "tools/common/help.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "tools/common/version.h"

enum { LINE_WIDTH = 79, WIDEST_LABEL = 30 };

static size_t columns(const char *text, size_t bytes)
{
	size_t count = 0;
	for (size_t i = 0; i < bytes; i++)
		count += (text[i] & 0xC0) != 0x80; /* UTF-8: bytes that begin a character */
	return count;
}

/* Words of `text` broken at LINE_WIDTH; the first line starts at column `at`, the others are indented to `indent`. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
	while (*text) {
		const size_t bytes = strcspn(text, " \n"), width = columns(text, bytes);
		if (at > indent && at + 1 + width > LINE_WIDTH) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		}
		at += (size_t)printf("%s%.*s", at > indent ? " " : "", (int)bytes, text) - bytes + width;
		text += bytes;
		if (*text == '\n') {
			printf("\n%*s", text[1] == '\n' ? 0 : (int)indent, "");
			at = indent;
		}
		text += *text != 0;
	}
	putchar('\n');
}

static size_t label(const cli_option *option, char text[200])
{
	char letter[] = {'-', option->letter, ',', ' ', 0};
	snprintf(text, 200, "  %s--%s%s%s", option->letter ? letter : "    ", option->name, option->argument ? " " : "",
	         option->argument ? option->argument : "");
	return columns(text, strlen(text));
}

static size_t label_column(const cli_option *options, size_t count, size_t column)
{
	char text[200];
	for (size_t i = 0; i < count; i++) {
		const size_t width = label(&options[i], text) + 2;
		if (width > column && width <= WIDEST_LABEL)
			column = width;
	}
	return column;
}

static void print_options(const cli_option *options, size_t count, size_t column)
{
	char text[200];
	for (size_t i = 0; i < count; i++) {
		const size_t width = label(&options[i], text);
		if (width + 2 > column)
			printf("%s\n%*s", text, (int)column, "");
		else
			printf("%s%*s", text, (int)(column - width), "");
		print_wrapped(options[i].help, column, column);
	}
}

void help_print(const cli_program *program, const cli_option *shared, size_t shared_count)
{
	printf("usage: %s [options] %s\n\n", program->name, program->operands);
	print_wrapped(program->summary, 0, 0);
	if (program->description) {
		putchar('\n');
		print_wrapped(program->description, 0, 0);
	}
	const size_t column = label_column(shared, shared_count, label_column(program->options, program->option_count, 0));
	if (program->option_count)
		printf("\noptions\n");
	print_options(program->options, program->option_count, column);
	printf("\noptions of every tool\n");
	print_options(shared, shared_count, column);
	printf("\nexit status\n  0 done, 1 the machine failed (disk, memory), 2 wrong usage, 3 bad input, 4 the\n  device asked for is not there\n");
}

void help_version(const cli_program *program)
{
	printf("%s %s\n", program->name, SSB_VERSION);
	printf("compiler: %s %s, OpenMP %d\n",
#ifdef __clang__
	       "clang",
#else
	       "gcc",
#endif
	       __VERSION__, _OPENMP);
	printf("libraries: jansson %s, zstd %s, xxHash %u.%u.%u%s%s\n", jansson_version_str(), ZSTD_versionString(),
	       XXH_versionNumber() / 10000, XXH_versionNumber() / 100 % 100, XXH_versionNumber() % 100, program->libraries ? ", " : "",
	       program->libraries ? program->libraries : "");
	printf("features: backend cpu"
#ifdef SSB_CUDA
	       ", backend cuda"
#endif
#ifdef SSB_NO_CLONES
	       ", no function clones"
#endif
#ifdef __SANITIZE_ADDRESS__
	       ", address sanitizer"
#endif
	       "\n");
}
