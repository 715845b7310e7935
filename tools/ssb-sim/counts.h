/* All counts of an acquisition: made pixel by pixel, as the forward model gives them, and read frame by frame, as a camera writes.
 *
 * The counts of a pixel over the scan (its plane) are kept in the narrowest type that holds them, in memory as far as --memory allows
 * and beyond that in an unnamed scratch file. */
#ifndef SSB_SIM_COUNTS_H
#define SSB_SIM_COUNTS_H

#include "formats/status.h"
#include "tools/ssb-sim/acquisition.h"
#include "tools/ssb-sim/camera.h"
#include "tools/ssb-sim/specimen.h"

typedef struct counts counts;

/* Simulate every pixel on a->threads threads. `folder` is where a scratch file may lie. */
counts *counts_simulate(const acquisition *a, const transmission *t, const bad_pixel *bad, const char *folder, ssb_error *err);
void counts_free(counts *c); /* NULL is allowed */

/* Counts that reached the type's largest value, which is the sentinel, and were set to the value below it. */
uint64_t counts_clipped(const counts *c);

/* Write frames first … first + n - 1 to `frames`, n x detector[0] x detector[1] elements of a->element_size bytes. */
void counts_frames(const counts *c, size_t first, size_t n, void *frames);

#endif
