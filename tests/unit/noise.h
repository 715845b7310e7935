/* Evidence that is noise, for comparing one way to sum with another. */
#ifndef UNIT_NOISE_H
#define UNIT_NOISE_H

#include "tests/unit/vectors.h"

/* A disk of 100 pixels across, so that rows are taken in pieces, with every 37th pixel masked; evidence that is noise. */
static evidence *noise_evidence(void)
{
	enum { SIDE = 104, SCAN = 4 };
	KEEP_BEGIN;
	evidence *e = calloc(1, sizeof *e);
	int32_t(*pixel)[2] = malloc(SIDE * SIDE * sizeof *pixel), (*q)[2] = malloc(SCAN * SCAN * sizeof *q);
	*e = (evidence){.geometry = {.wavelength_A = 0.0197, .semiangle_rad = 0.025, .sampling_rad = {0.5e-3, 0.51e-3}, .centre_px = {51.7, 52.2}},
	                .scan = {SCAN, SCAN}, .step_A = {1.1, 0.9}, .I0_counts = 1, .pixel = pixel, .q_index = q};
	for (int i = 0, row = 0; i < SIDE * SIDE; i++, row = i / SIDE)
		if (hypot(row - 51.7, i % SIDE - 52.2) < 50.3 && i % 37) {
			pixel[e->pixels][0] = i / SIDE;
			pixel[e->pixels++][1] = i % SIDE;
		}
	for (int r = 0; r < SCAN; r++)
		for (int c = 0; c <= SCAN / 2; c++) {
			q[e->bins][0] = r;
			q[e->bins++][1] = c;
		}
	float complex *G = malloc(e->bins * e->pixels * sizeof *G);
	const float complex **row = malloc(e->bins * sizeof *row);
	unsigned long long state = 1;
	for (size_t i = 0; i < 2 * e->bins * e->pixels; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		((float *)G)[i] = (float)(state >> 40) / 0x1p24f - 0.5f;
	}
	for (size_t i = 0; i < e->bins; i++)
		row[i] = G + i * e->pixels;
	e->row = row;
	KEEP_END;
	return e;
}

#endif
