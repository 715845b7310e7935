#include "tools/common/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/help.h"
#include "tools/common/message.h"
#include "tools/common/profile.h"
#include "tools/common/version.h"

enum { SHARED_OPTIONS = 8, MOST_THREADS = 1024 };

/* What parsing works on: the tool's table, then the shared one. */
typedef struct parse {
	const cli_program *program;
	cli_common *common;
	cli_option shared[SHARED_OPTIONS];
	bool help, version, verbose, quiet, profile;
	int argc, at; /* the next argument */
	char **argv;
} parse;

static void shared_table(parse *p)
{
	const cli_option shared[SHARED_OPTIONS] = {
		{"help", 'h', NULL, cli_flag, &p->help, "print this help"},
		{"version", 0, NULL, cli_flag, &p->version, "print the versions of the tool and its libraries, and its features"},
		{"verbose", 'v', NULL, cli_flag, &p->verbose, "say more on stderr"},
		{"quiet", 'q', NULL, cli_flag, &p->quiet, "say nothing but warnings and errors"},
		{"threads", 't', "N", cli_count, &p->common->threads, "threads (default: OMP_NUM_THREADS, else one per processor); the output does not depend on it"},
		{"memory", 0, "SIZE", cli_bytes, &p->common->memory, "most memory to use, such as 4G or 500M (default: three quarters of the machine's)"},
		{"profile", 0, NULL, cli_flag, &p->profile, "say on stderr where the time went: a line of JSON, phase by phase"},
		{"reproducible", 0, NULL, cli_flag, &p->common->reproducible, "no time of day in the output (also when SOURCE_DATE_EPOCH is set)"},
	};
	memcpy(p->shared, shared, sizeof shared);
}

size_t cli_machine_memory(void)
{
	size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE), allowed;
	FILE *group = fopen("/sys/fs/cgroup/memory.max", "r");
	if (group) {
		if (fscanf(group, "%zu", &allowed) == 1 && allowed < bytes)
			bytes = allowed;
		fclose(group);
	}
	return bytes;
}

static bool is_shared(const parse *p, const cli_option *option)
{
	return option >= p->shared && option < p->shared + SHARED_OPTIONS;
}

static const cli_option *find_option(const parse *p, const char *name, size_t length, char letter)
{
	const size_t own = p->program->option_count;
	for (size_t i = 0; i < own + SHARED_OPTIONS; i++) {
		const cli_option *option = i < own ? &p->program->options[i] : &p->shared[i - own];
		if (letter ? option->letter == letter : strlen(option->name) == length && !memcmp(option->name, name, length))
			return option;
	}
	return NULL;
}

/* What the header records: how the result was asked for. Not where it goes, nor how many threads made it: the same result must be
 * the same bytes. */
static bool record(parse *p, const cli_option *option, const char *value, ssb_error *err)
{
	if (is_shared(p, option) || !strcmp(option->name, "output"))
		return true;
	json_t *text = value ? json_string(value) : json_true();
	if (!text)
		return ssb_fail(err, SSB_USAGE, "the value is not UTF-8");
	if (option->parse != cli_texts)
		return !json_object_set_new(p->common->options, option->name, text) || ssb_fail(err, SSB_RUNTIME, "out of memory");
	json_t *list = json_object_get(p->common->options, option->name);
	if (!list)
		json_object_set_new(p->common->options, option->name, list = json_array());
	return !json_array_append_new(list, text) || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

static bool apply(parse *p, const cli_option *option, const char *value, ssb_error *err)
{
	if (option->parse(option, value ? value : "", err) && record(p, option, value, err))
		return true;
	const char letter[] = {option->letter, 0};
	return ssb_fail_prefix(err, "%s%s%s--%s: ", option->letter ? "-" : "", letter, option->letter ? ", " : "", option->name);
}

/* The value of an option whose own text ended without one. */
static bool next_argument(parse *p, const cli_option *option, const char **value, ssb_error *err)
{
	if (p->at == p->argc)
		return ssb_fail(err, SSB_USAGE, "--%s needs a value, %s", option->name, option->argument);
	*value = p->argv[p->at];
	if ((*value)[0] == '-' && (*value)[1] == '-')
		return ssb_fail(err, SSB_USAGE, "--%s needs a value, %s, before '%s' (if that is meant, write --%s=%s)", option->name,
		                option->argument, *value, option->name, *value);
	p->at++;
	return true;
}

static bool long_option(parse *p, const char *text, ssb_error *err)
{
	const size_t length = strcspn(text, "=");
	const cli_option *option = find_option(p, text, length, 0);
	const char *value = text[length] ? text + length + 1 : NULL;
	if (!option)
		return ssb_fail(err, SSB_USAGE, "unknown option '--%.*s'", (int)length, text);
	if (!option->argument && value)
		return ssb_fail(err, SSB_USAGE, "--%s takes no value", option->name);
	if (option->argument && !value && !next_argument(p, option, &value, err))
		return false;
	return apply(p, option, value, err);
}

/* "-vt2": flags together; the rest behind a letter that takes a value is the value. */
static bool short_options(parse *p, const char *text, ssb_error *err)
{
	for (; *text; text++) {
		const cli_option *option = find_option(p, NULL, 0, *text);
		if (!option)
			return ssb_fail(err, SSB_USAGE, "unknown option '-%c'", *text);
		const char *value = NULL;
		if (option->argument && text[1])
			value = text + 1;
		else if (option->argument && !next_argument(p, option, &value, err))
			return false;
		if (!apply(p, option, value, err))
			return false;
		if (value)
			break;
	}
	return true;
}

static void exit_after_print(void)
{
	ssb_error err;
	exit(cli_end(true, &err));
}

static bool parse_arguments(parse *p, ssb_error *err)
{
	bool only_operands = false;
	while (p->at < p->argc) {
		const char *text = p->argv[p->at++];
		bool ok = true;
		if (only_operands || text[0] != '-' || !text[1])
			p->common->operand[p->common->operands++] = text;
		else if (!strcmp(text, "--"))
			only_operands = true;
		else
			ok = text[1] == '-' ? long_option(p, text + 2, err) : short_options(p, text + 1, err);
		if (!ok)
			return false;
		if (p->help)
			help_print(p->program, p->shared, SHARED_OPTIONS);
		else if (p->version)
			help_version(p->program);
		if (p->help || p->version)
			exit_after_print();
	}
	if (p->verbose && p->quiet)
		return ssb_fail(err, SSB_USAGE, "--verbose and --quiet exclude each other");
	if (p->common->threads > MOST_THREADS)
		return ssb_fail(err, SSB_USAGE, "-t, --threads: at most %d", MOST_THREADS);
	return true;
}

/* What the parent may have left differently: closed standard streams, whose descriptors must not go to files that would then get the
 * messages (opened the wrong way round, they still fail when used), and an ignored SIGPIPE. */
static void usual_process(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			break;
	signal(SIGPIPE, SIG_DFL);
}

void cli_parse(const cli_program *program, cli_common *common, int argc, char **argv)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	usual_process();
	*common = (cli_common){
		.threads = (size_t)omp_get_max_threads(),
		.memory = cli_machine_memory() / 4 * 3,
		.reproducible = epoch && *epoch,
		.options = json_object(),
		.operand = calloc((size_t)argc + 1, sizeof *common->operand),
	};
	parse p = {.program = program, .common = common, .argc = argc, .at = argc > 0, .argv = argv};
	ssb_error err = {SSB_OK, ""};
	message_setup(program->name, NORMAL);
	shared_table(&p);
	if (!common->options || !common->operand)
		ssb_fail(&err, SSB_RUNTIME, "out of memory");
	else if (!parse_arguments(&p, &err) && err.status == SSB_USAGE)
		snprintf(err.text + strlen(err.text), sizeof err.text - strlen(err.text), " (%s -h shows the usage)", program->name);
	if (err.status) {
		cli_release(common);
		exit(cli_end(false, &err));
	}
	message_setup(program->name, p.quiet ? QUIET : p.verbose ? VERBOSE : NORMAL);
	omp_set_num_threads((int)common->threads);
	if (p.profile)
		profile_start(program->name, common->threads);
}

void cli_release(cli_common *common)
{
	json_decref(common->options);
	free(common->operand);
	*common = (cli_common){0};
}

bool cli_distinct(const char *in, const char *out, ssb_error *err)
{
	struct stat a, b;
	if (!strcmp(in, "-") || !strcmp(out, "-") || stat(in, &a) || stat(out, &b))
		return true;
	if (S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return ssb_fail(err, SSB_USAGE, "the output '%s' is the input '%s'", out, in);
	return true;
}

json_t *cli_history(const cli_program *program, const cli_common *common, const json_t *before, json_t *inputs)
{
	json_t *history = before ? json_deep_copy(before) : json_array();
	json_t *entry = json_pack("{s:s, s:s, s:O, s:o}", "tool", program->name, "version", SSB_VERSION, "options", common->options, "inputs",
	                          inputs);
	if (!common->reproducible) {
		char text[32];
		const time_t now = time(NULL);
		struct tm utc;
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
		json_object_set_new(entry, "time", json_string(text));
	}
	json_array_append_new(history, entry);
	return history;
}

int cli_end(bool ok, ssb_error *err)
{
	message_progress("", 0, 0);
	if (!ok)
		message_error(err->text);
	const bool pending = __fpending(stdout) > 0, lost = ferror(stdout) != 0;
	/* A descriptor that another part closed, and that nothing was to go to, is no failure. */
	if (((fclose(stdout) && (pending || errno != EBADF)) || lost) && ok) {
		ssb_fail_errno(err, "cannot write standard output");
		message_error(err->text);
		return SSB_RUNTIME;
	}
	if (ok)
		profile_end();
	return ok ? SSB_OK : (int)err->status;
}
