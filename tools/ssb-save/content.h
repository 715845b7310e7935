/* What is saved: an image (a phase, the sum pattern of a region, or a map) or the table of a fit, with all that its container says. */
#ifndef SAVE_CONTENT_H
#define SAVE_CONTENT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/container.h"
#include "tools/ssb-save/map.h"

/* Which of a phase's images is wanted. */
typedef struct content_choice {
	const char *array; /* "phase", "thin", "halves"; NULL: the phase, with the others beside it */
	size_t page;       /* of a stack, from 1; 0: all */
} content_choice;

/* An array that a phase file has beside the one that is the image. */
typedef struct save_companion {
	const char *name;
	size_t pages;  /* of the image's rows and columns */
	float *values; /* rad; owned */
} save_companion;

enum { MOST_COMPANIONS = 2 };

typedef struct save_content {
	enum ssb_kind kind;     /* SSB_PHASE, SSB_REGION, SSB_FIT or SSB_MAP */
	const char *array;      /* name of the image: "phase", "thin", "halves", "sum_pattern", "objective" */
	size_t pages;           /* images of a stack, else 1 */
	size_t rows, columns;   /* of an image; of a fit's covariance (0 without one) */
	float *phase;           /* [pages][rows][columns], rad, of SSB_PHASE; owned */
	save_companion companion[MOST_COMPANIONS];
	size_t companions;
	const json_t *stack;    /* meta's, with one value for each page; NULL where pages are something else; borrowed from meta */
	uint64_t *counts;       /* sum pattern, of SSB_REGION; owned */
	double *covariance;     /* A and rad, of SSB_FIT, NULL without one; owned */
	double *objective;      /* of SSB_MAP, by its axes: one row of a map with one axis; owned */
	save_map map;           /* the axes and what the values mean */
	double sampling_A[2];   /* size of a pixel, (row, column); of SSB_PHASE */
	size_t not_finite;      /* pixels that hold no number */
	json_t *meta, *history; /* of the container, and with this stage's entry; owned */
	json_t *record;         /* kind, digest, shape, statistics, covariance, meta, history: all but the image; owned */
} save_content;

/* Read all of `reader`. A spectrum is SSB_BAD_INPUT, a choice that it does not have SSB_USAGE. The digest of the container goes to
 * `digest`. A page of a stack becomes an image as ssb-recon makes it at that value, its meta with it. */
bool content_load(save_content *content, ssb_reader *reader, const content_choice *choice, char digest[17], ssb_error *err);

/* Compose content->record; `history` (owned from here on) is the container's with this stage's entry. */
bool content_record(save_content *content, const char digest[17], json_t *history, ssb_error *err);

void content_free(save_content *content);

const char *content_name(const save_content *content); /* of the image: "phase", "sum_pattern" */
const char *content_unit(const save_content *content); /* of its values: "rad", "counts" */
size_t content_pixels(const save_content *content);    /* of all pages */
double content_value(const save_content *content, size_t index); /* of the image, page after page, row-major */
double content_page_value(const save_content *content, size_t page); /* what content->stack says */

/* The values below which `percent[0]` and `percent[1]` percent of the finite pixels lie (linear between neighbours in rank, as
 * numpy.percentile); 0 and 0 when there is none. */
bool content_percentiles(const save_content *content, const double percent[2], double value[2], ssb_error *err);

#endif
