#include "formats/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/frame.h"

struct ssb_output {
	char *path, *shown; /* as given, and for messages */
	char *target;    /* where commit puts it: the path with its symbolic links resolved */
	int fd;          /* -1 once closed */
	int slot;        /* of the temporary name, -1 for standard output and in-place outputs */
};

/* The names a dying process must remove: a signal handler can reach nothing but globals. A slot's name is written before it is
 * marked used and never freed, so the handler may run at any moment in any thread. */
enum { FREE, TAKEN, USED, SLOTS = 64 };
static char temporary[SLOTS][PATH_MAX];
static atomic_int slot_state[SLOTS];
static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGBUS}; /* SIGBUS: a mapped input was cut short */

static void remove_temporaries(int number)
{
	for (int i = 0; i < SLOTS; i++)
		if (atomic_load(&slot_state[i]) == USED)
			unlink(temporary[i]);
	signal(number, SIG_DFL);
	raise(number);
}

/* A signal that the parent ignores stays ignored (nohup), except SIGPIPE: a closed reader always ends the tool. A file that grows beyond
 * the limit (ulimit -f) is a failed write, which says so. */
static void watch_signals(void)
{
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
		struct sigaction before, action = {.sa_handler = remove_temporaries};
		sigemptyset(&action.sa_mask);
		if (sigaction(deadly[i], NULL, &before) == 0 && (before.sa_handler == SIG_DFL || deadly[i] == SIGPIPE))
			sigaction(deadly[i], &action, NULL);
	}
	sigset_t broken_pipe;
	sigemptyset(&broken_pipe);
	sigaddset(&broken_pipe, SIGPIPE);
	pthread_sigmask(SIG_UNBLOCK, &broken_pipe, NULL);
}

static int take_slot(void)
{
	for (int i = 0; i < SLOTS; i++) {
		int expected = FREE;
		if (atomic_compare_exchange_strong(&slot_state[i], &expected, TAKEN))
			return i;
	}
	errno = EMFILE;
	return -1;
}

static void release_slot(ssb_output *output)
{
	if (output->slot >= 0)
		atomic_store(&slot_state[output->slot], FREE);
	output->slot = -1;
}

/* In the target's folder, so that the rename stays within one file system. */
static bool open_temporary(ssb_output *output)
{
	const char *slash = strrchr(output->target, '/');
	const int folder = slash ? (int)(slash - output->target) + 1 : 0;
	output->slot = take_slot();
	if (output->slot < 0)
		return false;
	char *name = temporary[output->slot];
	for (int i = 0; i < 10000 && output->fd < 0; i++) {
		if (snprintf(name, PATH_MAX, "%.*s.ssb-%ld-%d.part", folder, output->target, (long)getpid(), i) >= PATH_MAX) {
			errno = ENAMETOOLONG;
			break;
		}
		output->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (output->fd < 0 && errno != EEXIST)
			break;
	}
	if (output->fd < 0)
		return false;
	atomic_store(&slot_state[output->slot], USED);
	return true;
}

static bool open_target(ssb_output *output)
{
	struct stat info;
	const bool exists = stat(output->path, &info) == 0;
	char *resolved = exists ? realpath(output->path, NULL) : NULL;
	output->target = resolved ? resolved : strdup(output->path);
	if (!output->target)
		return false;
	if (!*output->path || (exists && S_ISDIR(info.st_mode))) {
		errno = exists ? EISDIR : ENOENT;
		return false;
	}
	if (exists && !S_ISREG(info.st_mode)) {
		output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
		return output->fd >= 0;
	}
	if (!exists)
		return open_temporary(output);
	if (access(output->target, W_OK) != 0 || !open_temporary(output))
		return false;
	(void)fchmod(output->fd, info.st_mode & 0777); /* fails where the file system has no such permissions to keep */
	return true;
}

/* Standard output is duplicated: main still closes (and checks) the descriptor itself. */
static bool open_descriptor(ssb_output *output)
{
	if (strcmp(output->path, "-") != 0)
		return open_target(output);
	output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return output->fd >= 0;
}

ssb_output *ssb_output_open(const char *path, ssb_error *err)
{
	ssb_output *output = calloc(1, sizeof *output);
	if (output)
		*output = (ssb_output){.path = strdup(path), .shown = frame_shown(path, "standard output"), .fd = -1, .slot = -1 };
	if (!output || !output->path || !output->shown) {
		ssb_output_discard(output);
		ssb_fail_errno(err, "cannot write '%s'", path);
		return NULL;
	}
	watch_signals();
	if (!open_descriptor(output))
		ssb_fail_errno(err, "cannot write %s", output->shown);
	else if (isatty(output->fd))
		ssb_fail(err, SSB_USAGE, "refusing to write binary data to a terminal: name a file or use a pipe");
	else
		return output;
	ssb_output_discard(output);
	return NULL;
}

int ssb_output_descriptor(const ssb_output *output)
{
	return output->fd;
}

const char *ssb_output_temporary_name(const ssb_output *output)
{
	return output->slot >= 0 ? temporary[output->slot] : NULL;
}

/* At `offset`, or where the last one ended where that is NULL. */
static bool put(ssb_output *output, const char *bytes, size_t size, const uint64_t *offset, ssb_error *err)
{
	for (size_t done = 0; done < size;) {
		const ssize_t written = offset ? pwrite(output->fd, bytes + done, size - done, (off_t)(*offset + done))
		                               : write(output->fd, bytes + done, size - done);
		if (written < 0 && errno == EINTR)
			continue;
		if (written == 0)
			errno = EIO;
		if (written <= 0)
			return ssb_fail_errno(err, "cannot write %s", output->shown);
		done += (size_t)written;
	}
	return true;
}

bool ssb_output_write(ssb_output *output, const void *bytes, size_t size, ssb_error *err)
{
	return put(output, bytes, size, NULL, err);
}

bool ssb_output_write_at(ssb_output *output, const void *bytes, size_t size, uint64_t offset, ssb_error *err)
{
	return put(output, bytes, size, &offset, err);
}

bool ssb_output_has_places(const ssb_output *output)
{
	return output->slot >= 0;
}

bool ssb_output_go_to(ssb_output *output, uint64_t offset, ssb_error *err)
{
	return lseek(output->fd, (off_t)offset, SEEK_SET) >= 0 || ssb_fail_errno(err, "cannot write %s", output->shown);
}

bool ssb_output_close(ssb_output *output, ssb_error *err)
{
	const int fd = output->fd;
	output->fd = -1;
	if (fd >= 0 && close(fd) != 0)
		return ssb_fail_errno(err, "cannot write %s", output->shown);
	return true;
}

bool ssb_output_commit(ssb_output *output, ssb_error *err)
{
	bool ok = ssb_output_close(output, err);
	if (ok && output->slot >= 0 && rename(temporary[output->slot], output->target) != 0)
		ok = ssb_fail_errno(err, "cannot rename '%s' to '%s'", temporary[output->slot], output->target);
	if (ok)
		release_slot(output);
	ssb_output_discard(output);
	return ok;
}

void ssb_output_discard(ssb_output *output)
{
	if (!output)
		return;
	if (output->fd >= 0)
		close(output->fd);
	if (output->slot >= 0 && atomic_load(&slot_state[output->slot]) == USED)
		unlink(temporary[output->slot]);
	release_slot(output);
	free(output->target);
	free(output->path);
	free(output->shown);
	free(output);
}
