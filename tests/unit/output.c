/* Outputs appear whole or not at all, whatever ends the process. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "formats/output.h"
#include "tests/unit/test.h"

static char folder[] = "/tmp/output.XXXXXX";

/* Files in the folder; all names are removed when `clear`. */
static int files(int clear)
{
	DIR *dir = opendir(".");
	int count = 0;
	for (const struct dirent *entry; (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			count++;
			if (clear)
				unlink(entry->d_name);
		}
	closedir(dir);
	return count;
}

static int holds(const char *path, const char *text)
{
	char got[64] = "";
	FILE *file = fopen(path, "r");
	const size_t size = file ? fread(got, 1, sizeof got - 1, file) : 0;
	if (file)
		fclose(file);
	return file && size == strlen(text) && strcmp(got, text) == 0;
}

static ssb_output *begin(const char *path, const char *text, ssb_error *err)
{
	ssb_output *output = ssb_output_open(path, err);
	if (output && !ssb_output_write(output, text, strlen(text), err)) {
		ssb_output_discard(output);
		return NULL;
	}
	return output;
}

static void test_commit(void)
{
	ssb_error err = {0};
	struct stat info;
	umask(027);
	ssb_output *output = begin("x", "one", &err);
	CHECK(output && access("x", F_OK) != 0 && access(ssb_output_temporary_name(output), F_OK) == 0, "a temporary name before commit");
	CHECK(ssb_output_commit(output, &err) && holds("x", "one") && files(0) == 1, "the file after it, and nothing else");
	CHECK(stat("x", &info) == 0 && (info.st_mode & 0777) == 0640, "its mode follows the umask");
	output = begin("x", "two", &err);
	ssb_output_discard(output);
	CHECK(holds("x", "one") && files(0) == 1, "discard leaves the old file");
	output = begin("x", "three", &err);
	CHECK(ssb_output_close(output, &err) && holds("x", "one"), "closed, not yet there");
	CHECK(ssb_output_commit(output, &err) && holds("x", "three"), "then there");
	output = begin("x", "four", &err);
	CHECK(ssb_output_close(output, &err), "closed");
	ssb_output_discard(output);
	CHECK(holds("x", "three") && files(1) == 1, "and discarded");
}

static void test_mode(void)
{
	ssb_error err = {0};
	struct stat info;
	umask(022);
	ssb_output_commit(begin("private", "old", &err), &err);
	CHECK(chmod("private", 0600) == 0 && ssb_output_commit(begin("private", "new", &err), &err) && holds("private", "new"), "a private file");
	CHECK(stat("private", &info) == 0 && (info.st_mode & 0777) == 0600, "stays private when it is replaced");
	files(1);
}

static void test_size_limit(void)
{
	ssb_error err = {0};
	struct rlimit before, low = {4, 4};
	getrlimit(RLIMIT_FSIZE, &before);
	low.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &low);
	ssb_output *output = begin("x", "more than four bytes", &err);
	CHECK(!output && strstr(err.text, "cannot write 'x': File too large") && files(1) == 0, "beyond the limit of file sizes: %s", err.text);
	setrlimit(RLIMIT_FSIZE, &before);
}

static void test_link(void)
{
	ssb_error err = {0};
	struct stat info;
	CHECK(ssb_output_commit(begin("target", "old", &err), &err) && symlink("target", "link") == 0, "a link to a file");
	CHECK(ssb_output_commit(begin("link", "new", &err), &err) && holds("target", "new"), "writing to it changes the file");
	CHECK(lstat("link", &info) == 0 && S_ISLNK(info.st_mode), "the link stays");
	files(1);
}

static void test_several(void)
{
	ssb_output *output[64];
	ssb_error err = {0};
	char path[12];
	int opened = 0;
	for (int i = 0; i < 64; i++) {
		snprintf(path, sizeof path, "%d", i);
		output[i] = begin(path, path, &err);
		opened += output[i] != NULL;
	}
	CHECK(opened == 64 && !ssb_output_open("more", &err) && err.status == SSB_RUNTIME, "64 at once, not more: %s", err.text);
	for (int i = 0; i < 64; i++)
		ssb_output_discard(output[i]);
	CHECK(files(0) == 0, "all discarded");
}

/* Runs `body` in a child that is to die of `number`; the temporary file must go with it. */
static void test_death(const char *what, void (*body)(void), int number)
{
	int status;
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		signal(number, SIG_DFL); /* a shell has its background jobs ignore some */
		body();
		_exit(77);
	}
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == number && files(1) == 0, "%s: ended by signal %d, nothing left", what, number);
}

static void die_of_term(void)
{
	ssb_error err;
	begin("x", "some", &err);
	raise(SIGTERM);
}

static void die_of_quit(void)
{
	ssb_error err;
	begin("x", "some", &err);
	raise(SIGQUIT);
}

static void die_of_cut_map(void)
{
	ssb_error err;
	signal(SIGBUS, SIG_DFL); /* a sanitizer's handler would stay */
	begin("x", "some", &err);
	raise(SIGBUS);
}

static void die_of_interrupt(void)
{
	ssb_error err;
	begin("x", "some", &err);
	begin("y", "more", &err);
	raise(SIGINT);
}

/* The parent may have ignored and blocked SIGPIPE. */
static void die_of_closed_reader(void)
{
	int ends[2];
	ssb_error err;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	if (pipe(ends) != 0)
		_exit(1);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	begin("x", "some", &err);
	begin("-", "some", &err);
}

static void test_hangup_ignored(void)
{
	ssb_error err = {0};
	signal(SIGHUP, SIG_IGN);
	ssb_output *output = begin("x", "some", &err);
	raise(SIGHUP);
	CHECK(output && ssb_output_commit(output, &err) && files(1) == 1, "an ignored hang-up stays ignored (nohup)");
	signal(SIGHUP, SIG_DFL);
}

static void test_refused(const char *path, int number)
{
	ssb_error err = {0};
	CHECK(!begin(path, "some", &err) && err.status == SSB_RUNTIME && strstr(err.text, strerror(number)), "%s", err.text);
}

static void test_not_regular(void)
{
	ssb_error err = {0};
	CHECK(ssb_output_commit(begin("/dev/null", "some", &err), &err), "/dev/null takes all");
	CHECK(mkfifo("fifo", 0600) == 0, "a FIFO");
	const int reader = open("fifo", O_RDONLY | O_NONBLOCK);
	char got[8] = "";
	CHECK(ssb_output_commit(begin("fifo", "some", &err), &err) && read(reader, got, 7) == 4 && !strcmp(got, "some"), "is written in place");
	close(reader);
	files(1);
}

int main(void)
{
	if (!mkdtemp(folder) || chdir(folder) != 0)
		return 1;
	test_commit();
	test_mode();
	test_link();
	test_several();
	test_size_limit();
	test_death("SIGTERM", die_of_term, SIGTERM);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	test_death("SIGQUIT", die_of_quit, SIGQUIT);
	test_death("SIGBUS", die_of_cut_map, SIGBUS);
	test_death("SIGINT, two files", die_of_interrupt, SIGINT);
	test_death("a closed reader", die_of_closed_reader, SIGPIPE);
	test_hangup_ignored();
	test_refused("/dev/full", ENOSPC);
	test_refused("nowhere/x", ENOENT);
	test_refused(".", EISDIR);
	test_refused("", ENOENT);
	test_not_regular();
	CHECK(files(0) == 0, "nothing is left over");
	if (chdir("/") == 0)
		rmdir(folder);
	return test_end();
}
