#include "tools/ssb-sim/camera.h"

#include <stdlib.h>
#include "tools/ssb-sim/random.h"

const char *const camera_bad_name[BAD_KINDS] = {"dead", "hot", "sentinel"};
const uint32_t camera_bad_mask[BAD_KINDS] = {2, 8, 1};

static bool in_disk(const acquisition *a, size_t row, size_t column)
{
	const optics_geometry *g = &a->geometry;
	return hypot(((double)row - g->centre_px[0]) * g->sampling_rad[0], ((double)column - g->centre_px[1]) * g->sampling_rad[1])
	    <= g->semiangle_rad;
}

/* A random pixel that is not taken yet, inside the disk if wanted and found within a few tries. */
static size_t draw(const acquisition *a, const bool *taken, bool wanted, random_sequence *random)
{
	const size_t pixels = a->detector[0] * a->detector[1];
	for (int tries = 0;; tries++) {
		const size_t pixel = random_below(random, pixels);
		if (!taken[pixel] && (!wanted || tries > 1000 || in_disk(a, pixel / a->detector[1], pixel % a->detector[1])))
			return pixel;
	}
}

bad_pixel *camera_bad_pixels(const acquisition *a, ssb_error *err)
{
	bad_pixel *bad = malloc((a->bad_pixels + 1) * sizeof *bad);
	bool *taken = calloc(a->detector[0] * a->detector[1], sizeof *taken);
	random_sequence random = {a->seed, RANDOM_BAD_PIXELS, 0};
	for (size_t i = 0; bad && taken && i < a->bad_pixels; i++) {
		const size_t pixel = draw(a, taken, i % 2 == 0, &random);
		taken[pixel] = true;
		bad[i] = (bad_pixel){pixel / a->detector[1], pixel % a->detector[1], (enum bad_kind)(i % BAD_KINDS)};
	}
	const bool ok = bad && taken;
	free(taken);
	if (ok)
		return bad;
	free(bad);
	ssb_fail(err, SSB_RUNTIME, "out of memory for %zu bad pixels", a->bad_pixels);
	return NULL;
}

uint32_t *camera_pixel_mask(const acquisition *a, const bad_pixel *bad, ssb_error *err)
{
	uint32_t *mask = calloc(a->detector[0] * a->detector[1], sizeof *mask);
	if (!mask)
		ssb_fail(err, SSB_RUNTIME, "out of memory for the pixel mask");
	for (size_t i = 0; mask && i < a->bad_pixels; i++)
		mask[bad[i].row * a->detector[1] + bad[i].column] = camera_bad_mask[bad[i].kind];
	return mask;
}
