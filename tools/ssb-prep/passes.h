/* G in one pass when it fits in memory, else in several over ranges of q, each transforming anew: the same numbers either way. */
#ifndef SSB_PREP_PASSES_H
#define SSB_PREP_PASSES_H

#include "tools/ssb-prep/transform.h"

typedef struct passes {
	transform *transform;
	const int32_t (*q_index)[2];    /* borrowed */
	size_t bins, pixels;            /* of the whole spectrum */
	size_t chunk_bins;              /* of a stored chunk: about 4 MB of whole q */
	size_t bins_at_once;            /* whole chunks; all bins when they fit */
	size_t first, held;             /* the range that G holds now */
	float complex *G;
	transform_progress *progress;
} passes;

/* Plan for at most `memory` bytes of G and scratch, less `reserve` when one pass is not enough; `threads` or fewer. Release with
 * passes_free in any case. */
bool passes_plan(passes *p, const region *r, const bf_pixels *bf, const uint64_t *sum, const int32_t (*q_index)[2], size_t bins,
                 size_t memory, size_t reserve, size_t threads, transform_progress *progress, ssb_error *err);
void passes_free(passes *p);

/* Bytes that passes_plan needs at least, with one thread. */
size_t passes_least_memory(const size_t scan[2], size_t pixels);

/* Make the pass that begins with bin `first` the one held, unless it is: bins first … first + held. */
void passes_take(passes *p, size_t first);

#endif
