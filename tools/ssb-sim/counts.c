#include "tools/ssb-sim/counts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tools/common/message.h"
#include "tools/ssb-sim/forward.h"
#include "tools/ssb-sim/random.h"

/* The counts of one pixel at every position. */
typedef struct plane {
	uint8_t width;    /* bytes per count: 1, 2, 4; 0: all are `value` */
	uint32_t value;
	void *memory;     /* NULL: in the scratch file at `offset` */
	size_t offset;
} plane;

struct counts {
	const acquisition *a;
	size_t positions, pixels;
	plane *plane;
	int scratch;                 /* file descriptor, -1: none */
	uint8_t *map;                /* of the scratch file, once everything is in it */
	atomic_size_t in_memory, in_scratch; /* bytes */
	size_t memory_limit;         /* of in_memory */
	_Atomic uint64_t clipped;
};

/* What one thread works with. */
typedef struct worker {
	forward_scratch *forward;
	float *mean;
	uint32_t *count;
	void *narrow;
} worker;

static size_t worker_bytes(const acquisition *a, const transmission *t)
{
	return forward_scratch_bytes(a, t) + a->scan[0] * a->scan[1] * (sizeof(float) + sizeof(uint32_t) + sizeof(uint16_t));
}

static void worker_free(worker *w)
{
	forward_scratch_free(w->forward);
	free(w->mean);
	free(w->count);
	free(w->narrow);
}

static bool worker_make(const forward *f, size_t positions, worker *w, ssb_error *err)
{
	*w = (worker){forward_scratch_new(f), malloc(positions * sizeof *w->mean), malloc(positions * sizeof *w->count),
	              malloc(positions * sizeof(uint16_t))};
	return (w->forward && w->mean && w->count && w->narrow) ||
	       ssb_fail(err, SSB_RUNTIME, "out of memory for a scan of %zu positions", positions);
}

static uint32_t sentinel(const acquisition *a)
{
	return UINT32_MAX >> (32 - 8 * a->element_size);
}

/* ---- keeping planes ---- */

static bool write_scratch(counts *c, const uint8_t *bytes, size_t size, size_t offset, ssb_error *err)
{
	while (size > 0) {
		const ssize_t n = pwrite(c->scratch, bytes, size, (off_t)offset);
		if (n < 0 && errno != EINTR)
			return ssb_fail_errno(err, "cannot write %zu bytes to a scratch file (raise --memory to do without)", size);
		if (n > 0) {
			bytes += n;
			offset += (size_t)n;
			size -= (size_t)n;
		}
	}
	return true;
}

static bool store(counts *c, plane *p, const void *bytes, size_t size, ssb_error *err)
{
	if (atomic_fetch_add(&c->in_memory, size) + size <= c->memory_limit) {
		p->memory = malloc(size);
		if (!p->memory)
			return ssb_fail(err, SSB_RUNTIME, "out of memory for counts: lower --memory to use a scratch file");
		memcpy(p->memory, bytes, size);
		return true;
	}
	atomic_fetch_sub(&c->in_memory, size);
	p->offset = atomic_fetch_add(&c->in_scratch, (size + 7) & ~(size_t)7); /* aligned for every type */
	return write_scratch(c, bytes, size, p->offset, err);
}

static uint32_t largest(const uint32_t *count, size_t n)
{
	uint32_t most = 0;
	for (size_t i = 0; i < n; i++)
		most = count[i] > most ? count[i] : most;
	return most;
}

/* Keep a plane in the narrowest type. */
static bool keep(counts *c, plane *p, worker *w, ssb_error *err)
{
	const uint32_t most = largest(w->count, c->positions);
	*p = (plane){.width = most == 0 ? 0 : most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : 4};
	if (p->width == 1)
		for (size_t i = 0; i < c->positions; i++)
			((uint8_t *)w->narrow)[i] = (uint8_t)w->count[i];
	if (p->width == 2)
		for (size_t i = 0; i < c->positions; i++)
			((uint16_t *)w->narrow)[i] = (uint16_t)w->count[i];
	return p->width == 0 || store(c, p, p->width == 4 ? w->count : w->narrow, p->width * c->positions, err);
}

/* ---- making them ---- */

/* The sentinel must never be a count. */
static void clip(counts *c, uint32_t *count)
{
	const uint32_t limit = sentinel(c->a) - 1;
	uint64_t clipped = 0;
	for (size_t i = 0; i < c->positions; i++) {
		clipped += count[i] > limit;
		count[i] = count[i] > limit ? limit : count[i];
	}
	if (clipped)
		atomic_fetch_add(&c->clipped, clipped);
}

static void round_counts(const float *mean, size_t n, uint32_t *count)
{
	for (size_t i = 0; i < n; i++)
		count[i] = mean[i] < 4e9F ? (uint32_t)llrintf(mean[i]) : UINT32_MAX;
}

static bool simulate_bad(counts *c, size_t pixel, enum bad_kind kind, worker *w, ssb_error *err)
{
	if (kind != BAD_HOT) {
		c->plane[pixel] = (plane){.value = kind == BAD_DEAD ? 0 : sentinel(c->a)};
		return true;
	}
	const float mean = (float)fmin(100 * c->a->dose + 50, 0.75 * sentinel(c->a));
	for (size_t i = 0; i < c->positions; i++)
		w->mean[i] = mean;
	poisson_counts(c->a->seed, (uint32_t)pixel, w->mean, c->positions, w->count);
	for (size_t i = 0; i < c->positions; i++)
		w->count[i] = w->count[i] < sentinel(c->a) ? w->count[i] : sentinel(c->a) - 1;
	return keep(c, &c->plane[pixel], w, err);
}

static bool simulate_good(counts *c, const forward *f, size_t pixel, worker *w, ssb_error *err)
{
	const acquisition *a = c->a;
	const double nothing = 1e-6 / (a->dose * (double)c->positions); /* a millionth of a count in the whole scan */
	if (forward_pixel(f, w->forward, pixel / a->detector[1], pixel % a->detector[1], nothing, w->mean) == 0)
		return true;
	for (size_t i = 0; i < c->positions; i++)
		w->mean[i] *= (float)a->dose;
	if (a->poisson)
		poisson_counts(a->seed, (uint32_t)pixel, w->mean, c->positions, w->count);
	else
		round_counts(w->mean, c->positions, w->count);
	clip(c, w->count);
	return keep(c, &c->plane[pixel], w, err);
}

static const bad_pixel *find_bad(const acquisition *a, const bad_pixel *bad, size_t pixel)
{
	for (size_t i = 0; i < a->bad_pixels; i++)
		if (bad[i].row * a->detector[1] + bad[i].column == pixel)
			return &bad[i];
	return NULL;
}

static bool simulate_all(counts *c, const forward *f, const bad_pixel *bad, ssb_error *err)
{
	atomic_bool failed = false;
	atomic_size_t done = 0;
#pragma omp parallel num_threads((int)c->a->threads)
	{
		worker w;
		ssb_error own;
		bool ok = worker_make(f, c->positions, &w, &own);
#pragma omp for schedule(dynamic, 4)
		for (size_t pixel = 0; pixel < c->pixels; pixel++) {
			if (!ok || atomic_load(&failed))
				continue;
			const bad_pixel *b = find_bad(c->a, bad, pixel);
			ok = b ? simulate_bad(c, pixel, b->kind, &w, &own) : simulate_good(c, f, pixel, &w, &own);
			message_progress("simulating", atomic_fetch_add(&done, 1) + 1, c->pixels);
		}
		if (!ok && !atomic_exchange(&failed, true))
			*err = own;
		worker_free(&w);
	}
	message_progress("simulating", 0, 0);
	return !failed;
}

/* ---- the whole ---- */

/* Without a name, so that nothing is left behind whatever happens. */
static bool open_scratch(counts *c, const char *folder, ssb_error *err)
{
	c->scratch = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (c->scratch >= 0)
		return true;
	char name[4096];
	if (snprintf(name, sizeof name, "%s/.ssb-XXXXXX", folder) < (int)sizeof name)
		c->scratch = mkostemp(name, O_CLOEXEC);
	if (c->scratch < 0)
		return ssb_fail_errno(err, "cannot make a scratch file in '%s'", folder);
	unlink(name);
	return true;
}

static bool map_scratch(counts *c, ssb_error *err)
{
	if (c->in_scratch == 0)
		return true;
	void *map = mmap(NULL, c->in_scratch, PROT_READ, MAP_SHARED, c->scratch, 0);
	if (map == MAP_FAILED)
		return ssb_fail_errno(err, "cannot map the scratch file");
	c->map = map;
	return true;
}

static counts *counts_new(const acquisition *a, const transmission *t, ssb_error *err)
{
	const size_t workers = a->threads * worker_bytes(a, t);
	if (workers > a->memory) {
		ssb_fail(err, SSB_RUNTIME, "a scan of %zu x %zu positions takes %zu bytes on %zu threads, more than --memory allows",
		         a->scan[0], a->scan[1], workers, a->threads);
		return NULL;
	}
	counts *c = malloc(sizeof *c);
	if (c)
		*c = (counts){
			.a = a, .positions = a->scan[0] * a->scan[1], .pixels = a->detector[0] * a->detector[1], .scratch = -1,
			.plane = calloc(a->detector[0] * a->detector[1], sizeof *c->plane),
			.memory_limit = a->memory - workers,
		};
	if (c && c->plane)
		return c;
	free(c);
	ssb_fail(err, SSB_RUNTIME, "out of memory for %zu x %zu pixels", a->detector[0], a->detector[1]);
	return NULL;
}

static bool simulate(counts *c, const transmission *t, const bad_pixel *bad, const char *folder, ssb_error *err)
{
	if (c->memory_limit / c->pixels / c->positions < c->a->element_size && !open_scratch(c, folder, err))
		return false;
	forward *f = forward_new(c->a, t, err);
	const bool ok = f && simulate_all(c, f, bad, err) && map_scratch(c, err);
	forward_free(f);
	return ok;
}

counts *counts_simulate(const acquisition *a, const transmission *t, const bad_pixel *bad, const char *folder, ssb_error *err)
{
	counts *c = counts_new(a, t, err);
	if (c && simulate(c, t, bad, folder, err))
		return c;
	counts_free(c);
	return NULL;
}

void counts_free(counts *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->pixels; i++)
		free(c->plane[i].memory);
	if (c->map)
		munmap(c->map, c->in_scratch);
	if (c->scratch >= 0)
		close(c->scratch);
	free(c->plane);
	free(c);
}

uint64_t counts_clipped(const counts *c)
{
	return c->clipped;
}

/* Counts first … first + n - 1 of a pixel. */
static void read_plane(const counts *c, const plane *p, size_t first, size_t n, uint32_t *count)
{
	const uint8_t *at = p->width == 0 ? NULL : (p->memory ? (const uint8_t *)p->memory : c->map + p->offset) + first * p->width;
	switch (p->width) {
	case 0:
		for (size_t i = 0; i < n; i++)
			count[i] = p->value;
		break;
	case 1:
		for (size_t i = 0; i < n; i++)
			count[i] = at[i];
		break;
	case 2:
		for (size_t i = 0; i < n; i++)
			count[i] = ((const uint16_t *)at)[i];
		break;
	default:
		memcpy(count, at, n * sizeof *count);
	}
}

enum { TILE = 64 }; /* pixels, and frames: a tile stays in the first cache */

/* Frames first … first + n - 1 (n <= TILE) of `width` pixels from `pixel` on, to `frames` (the first of them). The last column pads
 * the rows, so that a column does not fall into one cache set. */
static void transpose_tile(const counts *c, size_t pixel, size_t width, size_t first, size_t n, uint8_t *frames)
{
	uint32_t tile[TILE][TILE + 1], column[TILE];
	const size_t element = c->a->element_size;
	for (size_t p = 0; p < width; p++) {
		read_plane(c, &c->plane[pixel + p], first, n, column);
		for (size_t i = 0; i < n; i++)
			tile[i][p] = column[i];
	}
	for (size_t i = 0; i < n; i++) {
		uint8_t *row = frames + (i * c->pixels + pixel) * element;
		for (size_t p = 0; p < width && element == 1; p++)
			row[p] = (uint8_t)tile[i][p];
		for (size_t p = 0; p < width && element == 2; p++)
			((uint16_t *)row)[p] = (uint16_t)tile[i][p];
		if (element == 4)
			memcpy(row, tile[i], width * element);
	}
}

void counts_frames(const counts *c, size_t first, size_t n, void *frames)
{
#pragma omp parallel for schedule(static) num_threads((int)c->a->threads)
	for (size_t pixel = 0; pixel < c->pixels; pixel += TILE)
		for (size_t at = 0; at < n; at += TILE)
			transpose_tile(c, pixel, c->pixels - pixel < TILE ? c->pixels - pixel : TILE, first + at, n - at < TILE ? n - at : TILE,
			               (uint8_t *)frames + at * c->pixels * c->a->element_size);
}
