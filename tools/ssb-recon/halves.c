#include "tools/ssb-recon/halves.h"

#include <stdlib.h>

static bool belongs(const evidence *e, size_t b, int parity)
{
	return ((e->pixel[b][0] + e->pixel[b][1]) & 1) == parity;
}

double half_bytes(const evidence *e)
{
	return (double)e->bins * ((double)e->pixels / 2) * sizeof(float complex);
}

/* Which pixels, with their sums. */
static bool take_pixels(evidence *half, const evidence *e, int parity)
{
	int32_t (*pixel)[2] = malloc(e->pixels * sizeof *pixel);
	double *counts = malloc(e->pixels * sizeof *counts);
	half->pixel = (const int32_t (*)[2])pixel;
	half->counts = counts;
	half->pixels = 0;
	for (size_t b = 0; pixel && counts && b < e->pixels; b++) {
		if (!belongs(e, b, parity))
			continue;
		pixel[half->pixels][0] = e->pixel[b][0];
		pixel[half->pixels][1] = e->pixel[b][1];
		counts[half->pixels++] = e->counts[b];
	}
	return pixel && counts;
}

/* One block of memory, which the first row points to. */
static bool take_rows(evidence *half, const evidence *e, int parity)
{
	float complex *G = calloc(e->bins * half->pixels + 1, sizeof *G);
	const float complex **row = calloc(e->bins, sizeof *row);
	float complex *scratch = malloc(e->pixels * sizeof *scratch);
	half->row = row;
	const bool ok = G && row && scratch;
	if (!ok)
		free(G);
	for (size_t i = 0; ok && i < e->bins; i++) {
		const float complex *all = evidence_G(e, i, 0, e->pixels, scratch);
		row[i] = G;
		for (size_t b = 0; b < e->pixels; b++)
			if (belongs(e, b, parity))
				*G++ = all[b];
	}
	free(scratch);
	return ok;
}

evidence *half_make(const evidence *e, int parity, ssb_error *err)
{
	evidence *half = malloc(sizeof *half);
	if (!half) {
		ssb_fail(err, SSB_RUNTIME, "out of memory");
		return NULL;
	}
	*half = *e;
	half->device = NULL;
	half->row = NULL;
	bool ok = take_pixels(half, e, parity) || ssb_fail(err, SSB_RUNTIME, "out of memory");
	if (ok && half->pixels == 0)
		ok = ssb_fail(err, SSB_BAD_INPUT, "a bright field of %zu pixel%s has no two halves", e->pixels, e->pixels == 1 ? "" : "s");
	if (ok && !take_rows(half, e, parity))
		ok = ssb_fail(err, SSB_RUNTIME, "out of memory for half of the spectrum");
	if (ok && evidence_is_sound(e, err))
		return half;
	half_free(half);
	return NULL;
}

void half_free(evidence *half)
{
	if (!half)
		return;
	if (half->row)
		free((void *)half->row[0]);
	free((void *)half->row);
	free((void *)half->pixel);
	free((void *)half->counts);
	free(half);
}
