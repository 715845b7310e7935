/* What is saved: an image (a phase, or the sum pattern of a region) or the table of a fit, with all that its container says. */
#ifndef SAVE_CONTENT_H
#define SAVE_CONTENT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/container.h"

typedef struct save_content {
	enum ssb_kind kind;     /* SSB_PHASE, SSB_REGION or SSB_FIT */
	size_t rows, columns;   /* of the image; of a fit's covariance (0 without one) */
	float *phase;           /* rad, of SSB_PHASE; owned */
	uint64_t *counts;       /* sum pattern, of SSB_REGION; owned */
	double *covariance;     /* A and rad, of SSB_FIT, NULL without one; owned */
	double sampling_A[2];   /* size of a pixel, (row, column); of SSB_PHASE */
	size_t not_finite;      /* pixels that hold no number */
	json_t *meta, *history; /* of the container, and with this stage's entry; owned */
	json_t *record;         /* kind, digest, shape, statistics, covariance, meta, history: all but the image; owned */
} save_content;

/* Read all of `reader`. A spectrum is SSB_BAD_INPUT. The digest of the container goes to `digest`. */
bool content_load(save_content *content, ssb_reader *reader, char digest[17], ssb_error *err);

/* Compose content->record; `history` (owned from here on) is the container's with this stage's entry. */
bool content_record(save_content *content, const char digest[17], json_t *history, ssb_error *err);

void content_free(save_content *content);

const char *content_name(const save_content *content); /* of the image: "phase", "sum_pattern" */
const char *content_unit(const save_content *content); /* of its values: "rad", "counts" */
double content_value(const save_content *content, size_t index); /* of the image, row-major */

/* The values below which `percent[0]` and `percent[1]` percent of the finite pixels lie (linear between neighbours in rank, as
 * numpy.percentile); 0 and 0 when there is none. */
bool content_percentiles(const save_content *content, const double percent[2], double value[2], ssb_error *err);

#endif
