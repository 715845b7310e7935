/* The evidence of half of the bright-field pixels. */
#ifndef SSB_RECON_HALVES_H
#define SSB_RECON_HALVES_H

#include "tools/transfer/evidence.h"

/* The pixels with (row + column) % 2 = `parity` (0, 1), a checkerboard on the detector: both halves cover the disk evenly, and their counts
 * are independent. A copy: half of the spectrum's size. NULL: out of memory, or (SSB_BAD_INPUT) no such pixel. End with half_free. */
evidence *half_make(const evidence *e, int parity, ssb_error *err);
void half_free(evidence *half); /* NULL is allowed */

/* Bytes that half_make takes, about. */
double half_bytes(const evidence *e);

#endif
