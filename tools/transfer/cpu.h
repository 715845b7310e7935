/* The CPU backend's functions (see backend.h for what each does), one file each. */
#ifndef TRANSFER_CPU_H
#define TRANSFER_CPU_H

#include "tools/transfer/backend.h"
#include "tools/transfer/kernel.h"

bool cpu_sums(const evidence *e, const optics_parameters *p, const frequency *f, size_t count, bool with_U, sums *out, ssb_error *err);
bool cpu_derivatives(const evidence *e, const optics_parameters *p, const int *parameter, size_t n, const frequency *f, size_t count,
                     const double *weight, const sums *known, likelihood *out, ssb_error *err);
bool cpu_search(const evidence *e, const optics_parameters *p, const size_t *bin, const double *m, size_t bins, const candidate *c,
                size_t count, double *score, ssb_error *err);
bool cpu_mean_phase(const evidence *e, const optics_parameters *p, size_t factor, double *image, double *variance, ssb_error *err);

/* Derivatives are summed task by task, each by one thread, then over the tasks in order: how many bins a task has, whatever the number of
 * threads. */
static inline size_t bins_per_task(size_t count)
{
	enum { LEAST_BINS = 64, MOST_TASKS = 256 };
	return count / MOST_TASKS > LEAST_BINS ? (count + MOST_TASKS - 1) / MOST_TASKS : LEAST_BINS;
}

/* How many bins a thread takes at a time where each has a sum of its own: of many bins so many that threads seldom meet in a chunk of G, which both
 * would then verify. */
static inline int bins_per_turn(size_t count)
{
	enum { LEAST_BINS = 16, MOST_BINS = 512, TURNS = 128 };
	return count < TURNS * LEAST_BINS ? LEAST_BINS : count < TURNS * MOST_BINS ? (int)(count / TURNS) : MOST_BINS;
}

#endif
