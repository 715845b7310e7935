#include "tools/common/profile.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/container.h"

enum { MOST_PHASES = 16, PROC_SIZE = 4096 };

typedef struct amounts { double wall_s, cpu_s; int64_t bytes_in, bytes_out; } amounts;

static struct {
	const char *tool; /* NULL: no --profile */
	size_t threads, phases, current;
	struct { const char *name; amounts spent; } phase[MOST_PHASES];
	amounts last;     /* since the process began, when the current phase did */
	int64_t own;      /* bytes that counting the bytes has read */
	bool bytes_unknown;
} profile;

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A file of /proc as text; its size. */
static size_t proc_text(const char *path, char text[PROC_SIZE])
{
	FILE *const file = fopen(path, "r");
	const size_t size = file ? fread(text, 1, PROC_SIZE - 1, file) : 0;
	if (file)
		fclose(file);
	text[size] = 0;
	return size;
}

/* The number behind `key`; -1 where there is none. */
static int64_t number_in(const char *text, const char *key)
{
	const char *const at = strstr(text, key);
	return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}

static amounts now(void)
{
	char text[PROC_SIZE];
	const size_t size = proc_text("/proc/self/io", text);
	const int64_t in = number_in(text, "rchar:"), out = number_in(text, "wchar:");
	profile.bytes_unknown |= in < 0 || out < 0;
	const amounts a = {seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID), in - profile.own + (int64_t)ssb_mapped_bytes(), out};
	profile.own += (int64_t)size;
	return a;
}

void profile_start(const char *tool, size_t threads)
{
	profile.tool = tool;
	profile.threads = threads;
	profile.phase[profile.phases++].name = "start";
	profile.last = now();
}

static void end_current(void)
{
	const amounts a = now(), *const last = &profile.last;
	amounts *const spent = &profile.phase[profile.current].spent;
	spent->wall_s += a.wall_s - last->wall_s;
	spent->cpu_s += a.cpu_s - last->cpu_s;
	spent->bytes_in += a.bytes_in - last->bytes_in;
	spent->bytes_out += a.bytes_out - last->bytes_out;
	profile.last = a;
}

void profile_phase(const char *name)
{
	size_t i = 0;
	if (!profile.tool)
		return;
	end_current();
	while (i < profile.phases && strcmp(profile.phase[i].name, name) != 0)
		i++;
	if (i == MOST_PHASES)
		abort();
	profile.phase[i].name = name;
	profile.phases += i == profile.phases;
	profile.current = i;
}

static void put(json_t *to, const amounts *a)
{
	json_object_set_new(to, "wall_s", json_real(round(a->wall_s * 1e6) / 1e6));
	json_object_set_new(to, "cpu_s", json_real(round(a->cpu_s * 1e6) / 1e6));
	if (profile.bytes_unknown)
		return;
	json_object_set_new(to, "bytes_in", json_integer(a->bytes_in));
	json_object_set_new(to, "bytes_out", json_integer(a->bytes_out));
}

void profile_end(void)
{
	char status[PROC_SIZE];
	amounts sum = {0};
	if (!profile.tool)
		return;
	end_current();
	json_t *const phases = json_array();
	for (size_t i = 0; i < profile.phases; i++) {
		const amounts *const spent = &profile.phase[i].spent;
		json_t *const phase = json_pack("{s:s}", "name", profile.phase[i].name);
		put(phase, spent);
		json_array_append_new(phases, phase);
		sum = (amounts){sum.wall_s + spent->wall_s, sum.cpu_s + spent->cpu_s, sum.bytes_in + spent->bytes_in,
		                sum.bytes_out + spent->bytes_out};
	}
	json_t *const line = json_pack("{s:s, s:I, s:o}", "tool", profile.tool, "threads", (json_int_t)profile.threads, "phases", phases);
	put(line, &sum);
	proc_text("/proc/self/status", status);
	json_object_set_new(line, "peak_rss_bytes", json_integer(number_in(status, "VmHWM:") * 1024));
	char *const text = json_dumps(line, JSON_REAL_PRECISION(9));
	if (text)
		fprintf(stderr, "%s\n", text);
	free(text);
	json_decref(line);
}
