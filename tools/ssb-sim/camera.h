/* Pixels of a camera that do not count. All are flagged in its pixel mask. */
#ifndef SSB_SIM_CAMERA_H
#define SSB_SIM_CAMERA_H

#include "formats/status.h"
#include "tools/ssb-sim/acquisition.h"

enum bad_kind { BAD_DEAD, BAD_HOT, BAD_SENTINEL, BAD_KINDS };

/* Name, and the bits of the camera's pixel mask: 1 gap (read as the type's largest value), 2 dead, 8 noisy. */
extern const char *const camera_bad_name[BAD_KINDS];
extern const uint32_t camera_bad_mask[BAD_KINDS];

typedef struct bad_pixel { size_t row, column; enum bad_kind kind; } bad_pixel;

/* a->bad_pixels different pixels, the kinds in turn, every other one inside the bright-field disk as long as that has room. Caller
 * frees. */
bad_pixel *camera_bad_pixels(const acquisition *a, ssb_error *err);

/* The pixel mask, detector[0] x detector[1]. Caller frees. */
uint32_t *camera_pixel_mask(const acquisition *a, const bad_pixel *bad, ssb_error *err);

#endif
