/* --profile: where the time of a run went, as one line of JSON on stderr at the end of a successful run.
 *
 *   {"tool": "ssb-prep", "threads": 2, "phases": [{"name": "read", …}, …], "wall_s": …, "cpu_s": …, "bytes_in": …, "bytes_out": …,
 *    "peak_rss_bytes": …}
 *
 * Every phase has wall_s, cpu_s, bytes_in and bytes_out, too, and their sums are the run's. Phases are named in the order of their first
 * beginning; one that begins again goes on. cpu_s is of all threads. bytes_in and bytes_out count what went through read and write of any
 * kind, files and pipes alike, and in bytes_in every byte of a mapped file once, when it is verified; they are left out where the kernel
 * does not count (/proc/self/io). peak_rss_bytes is the largest resident memory, what was mapped of files included.
 *
 * Work that overlaps belongs to the phase that the main thread is in, which alone may call these. */
#ifndef COMMON_PROFILE_H
#define COMMON_PROFILE_H

#include <stddef.h>

/* Of cli_parse, where --profile is given; without it the others do nothing. `tool` is borrowed for good. The first phase is "start". */
void profile_start(const char *tool, size_t threads);

/* End the phase before and begin or go on with `name` (borrowed for good, one of at most 16). */
void profile_phase(const char *name);

/* Of cli_end: the line. */
void profile_end(void);

#endif
