/* The command line as a whole: each case parses in a child, whose status and words are compared. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "tools/common/cli.h"
#include "tools/common/message.h"
#include "tools/common/profile.h"

enum { WORDS = 8000 };

static const char *output;
static double kv;
static bool full;
static cli_list masks;
static const cli_option options[] = {
	{"output", 'o', "FILE", cli_text, &output, "where to"},
	{"kv", 'k', "KV", cli_kilovolt, &kv, "high tension"},
	{"full", 'f', NULL, cli_flag, &full, "all of it"},
	{"mask", 0, "FILE", cli_texts, &masks, "a mask"},
};
static const cli_program program = {"ssb-x", "turn one into another", "IN -o OUT", "What it does.", options, 4, "HDF5 1"};

static void print_parsed(int argc, char **argv)
{
	cli_common common;
	cli_parse(&program, &common, argc, argv);
	printf("kv %g output %s full %d threads %zu%s", kv, output ? output : "none", full, common.threads,
	       common.reproducible ? " reproducible" : "");
	for (size_t i = 0; i < common.operands; i++)
		printf(" [%s]", common.operand[i]);
	profile_phase("first");
	profile_phase("second");
	profile_phase("first");
	json_t *history = cli_history(&program, &common, NULL, json_array());
	char *text = json_dumps(history, JSON_COMPACT);
	printf(" %s", text);
	free(text);
	json_decref(history);
	cli_release(&common);
}

/* Run `line`, split at blanks, in a child with stdout and stderr in one pipe; its status. */
static int run(const char *line, const char *stdout_path, char words[WORDS])
{
	int ends[2], status = 0;
	if (pipe(ends))
		return -1;
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		char text[400], *argv[20] = {"ssb-x"};
		int argc = 1;
		snprintf(text, sizeof text, "%s", line);
		for (char *word = strtok(text, " "); word && argc < 20; word = strtok(NULL, " "))
			argv[argc++] = word;
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (stdout_path && !freopen(stdout_path, "w", stdout))
			_exit(99);
		print_parsed(argc, argv);
		ssb_error err = {SSB_OK, ""};
		exit(cli_end(true, &err));
	}
	close(ends[1]);
	size_t got = 0;
	for (ssize_t n; (n = read(ends[0], words + got, WORDS - 1 - got)) > 0;)
		got += (size_t)n;
	words[got] = 0;
	close(ends[0]);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void gives(const char *line, int status, const char *expected)
{
	char words[WORDS];
	const int got = run(line, NULL, words);
	CHECK(got == status && strstr(words, expected), "ssb-x %s: status %d, '%s'", line, got, expected);
	if (got != status || !strstr(words, expected))
		printf("# said: %s\n", words);
}

static void lacks(const char *line, const char *absent)
{
	char words[WORDS];
	const int got = run(line, NULL, words);
	CHECK(got == 0 && !strstr(words, absent), "ssb-x %s: no '%s'", line, absent);
}

/* The wait status of a child that does `body`. */
static int status_of(void (*body)(void))
{
	int status = -1;
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0)
		body();
	waitpid(child, &status, 0);
	return status;
}

static void without_streams(void)
{
	char *argv[] = {"ssb-x", "a"}, byte = 'x';
	cli_common common;
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	cli_parse(&program, &common, 2, argv);
	_exit(open("/dev/null", O_WRONLY) <= 2 || read(0, &byte, 1) >= 0 || write(1, &byte, 1) >= 0 || write(2, &byte, 1) >= 0);
}

static void help_to_nobody(void)
{
	char *argv[] = {"ssb-x", "-h"};
	cli_common common;
	int ends[2];
	signal(SIGPIPE, SIG_IGN);
	if (pipe(ends) || dup2(ends[1], STDOUT_FILENO) < 0)
		_exit(99);
	close(ends[0]);
	cli_parse(&program, &common, 2, argv);
	_exit(98);
}

int main(void)
{
	setenv("OMP_NUM_THREADS", "2", 1);
	unsetenv("SOURCE_DATE_EPOCH");
	gives("--kv 300 a b", 0, "kv 300 output none full 0");
	gives("a --kv=80kV -f -o x b", 0, "kv 80 output x full 1");
	gives("-ox -k300 -fq -t2", 0, "kv 300 output x full 1 threads 2");
	gives("-fk 200 -t 3", 0, "kv 200 output none full 1 threads 3");
	gives("--kv 300 --kv 200", 0, "kv 200");
	gives("- -- -o --kv", 0, " [-] [-o] [--kv]");
	gives("-o - in", 0, "output - full 0");
	gives("-o=x", 0, "output =x");
	gives("--mask a --mask b --kv 1e2", 0, "\"options\":{\"mask\":[\"a\",\"b\"],\"kv\":\"1e2\"}");
	gives("--full", 0, "\"options\":{\"full\":true}");
	gives("--reproducible", 0, "reproducible");
	gives("a", 0, "\"time\":\"2");
	lacks("--reproducible", "\"time\"");
	lacks("-o elsewhere --memory 1G", "\"output\"");
	lacks("-t 2", "\"threads\"");
	gives("--profile -t 3", 0, "{\"tool\": \"ssb-x\", \"threads\": 3, \"phases\": [{\"name\": \"start\", \"wall_s\": ");
	gives("-q --profile", 0, "{\"name\": \"second\", ");
	gives("--profile", 0, ", \"peak_rss_bytes\": ");
	gives("--profile a", 0, "\"options\":{}");
	lacks("--profile", "{\"name\": \"first\", \"wall_s\": 0, ");
	lacks("-v a", "phases");
	gives("--output", 2, "ssb-x: --output needs a value, FILE");
	gives("--output --kv 3", 2, "before '--kv'");
	gives("--output=--kv", 0, "output --kv");
	gives("--outp x", 2, "unknown option '--outp'");
	gives("--kvs 3", 2, "unknown option '--kvs'");
	gives("-x", 2, "unknown option '-x'");
	gives("-fx", 2, "unknown option '-x'");
	gives("--full=1", 2, "--full takes no value");
	gives("--kv -300", 2, "-k, --kv: '-300' is not positive");
	gives("--kv 15x", 2, "no known unit");
	gives("--kv nan", 2, "'nan' is no number");
	gives("-t abc", 2, "-t, --threads: 'abc' is no whole number");
	gives("-t 0", 2, "at least 1");
	gives("-t 4096", 2, "at most 1024");
	gives("-v -q", 2, "exclude each other");
	gives("--kv 3 -h --nonsense", 0, "usage: ssb-x [options] IN -o OUT");
	gives("-h", 0, "  -o, --output FILE");
	gives("--help", 0, "exit status");
	gives("--version", 0, "ssb-x 0.");
	gives("--version", 0, "HDF5 1");
	char words[WORDS];
	CHECK(run("-h", "/dev/full", words) == 1 && strstr(words, "ssb-x: cannot write standard output: No space left"), "-h to a full device");
	CHECK(run("a", "/dev/full", words) == 1, "a result to a full device");
	CHECK(status_of(without_streams) == 0, "closed standard streams fail when used, and no file gets their numbers");
	CHECK(status_of(help_to_nobody) == SIGPIPE, "-h ends quietly when its reader has gone, also where SIGPIPE is ignored");
	setenv("SOURCE_DATE_EPOCH", "0", 1);
	lacks("a", "\"time\"");
	gives("a", 0, "reproducible");
	return test_end();
}
