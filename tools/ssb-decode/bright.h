/* Where the bright field is on the detector. */
#ifndef DECODE_BRIGHT_H
#define DECODE_BRIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rectangle of a grid: rows [origin[0], origin[0] + shape[0]), columns likewise. */
typedef struct box { size_t origin[2], shape[2]; } box;

/* The bounding box of D = {M > mean(M) + std(M)}, physics.md section 1, with M the summed pattern (rows × columns) and mean and std over its
 * pixels with flags == 0; *pixels is |D|. False when D is empty: the disk covers half of the detector, or there is none. */
bool bright_field(const uint64_t *pattern, const uint8_t *flags, size_t rows, size_t columns, box *bounds, size_t *pixels);

/* `inner` with `margin` pixels around it, cut at the detector's edge. */
box box_grown(const box *inner, size_t margin, size_t rows, size_t columns);

bool box_contains(const box *outer, const box *inner);

#endif
