/* G in one pass when it fits in memory, else in several over ranges of q, each transforming anew: the same numbers either way. */
#ifndef SSB_PREP_PASSES_H
#define SSB_PREP_PASSES_H

#include <complex.h>
#include "tools/ssb-prep/transform.h"

enum { CHUNK_BYTES = 4 << 20, CHUNKS_AT_ONCE = 16 /* when they are written */ };

typedef struct passes {
	transform *transform;
	size_t bins, pixels;            /* of the whole spectrum */
	double half_unit;               /* of G in halves; 0: single precision */
	size_t row_bytes;               /* of a bin */
	size_t chunk_bins;              /* of a stored chunk: about 4 MB of whole q in single precision */
	size_t bins_at_once;            /* whole chunks; all bins when they fit */
	size_t first, held, dropped;    /* the range that G holds now, and how many bins of it are given up */
	char *G;
	void **row;                     /* of each bin: where a pass puts it */
	transform_progress *progress;
} passes;

/* Memory to plan for, in bytes. */
typedef struct passes_memory {
	size_t most;    /* of G and scratch */
	size_t reserve; /* of `most`, what is needed beside */
	size_t cache;   /* of G, so that the mapped counts stay in the page cache: every block of pixels reads them again */
} passes_memory;

/* Plan for the fewest passes and `threads` or fewer. half_unit: as transform_new. Release with passes_free in any case. */
bool passes_plan(passes *p, const region *r, const bf_pixels *bf, const uint64_t *sum, const int32_t (*q_index)[2], size_t bins,
                 passes_memory memory, double half_unit, size_t threads, transform_progress *progress, ssb_error *err);
void passes_free(passes *p);

/* Bytes that passes_plan needs at least, with one thread, for G in single precision. */
size_t passes_least_memory(const size_t scan[2], size_t pixels, size_t bins);

/* Make the pass that begins with bin `first` the one held, unless it is: bins first … first + held. */
void passes_take(passes *p, size_t first);

/* Give back the memory of the held bins before `end`: their rows are lost. */
void passes_drop(passes *p, size_t end);

/* The first pass, which goes by all bins; power[bins]: sum_k |G|^2 of each, whatever the range. */
void passes_begin(passes *p, double *power);

/* The values of these bins, in single precision, to `out`, a row of B for each: the counts are transformed once more unless all are held. What is held
 * stays. */
bool passes_copy(passes *p, const size_t *bin, size_t count, float complex *out); /* false: no memory */

#endif
