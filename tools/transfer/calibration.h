/* Whether the parameters of a fit hold for a spectrum. */
#ifndef TRANSFER_CALIBRATION_H
#define TRANSFER_CALIBRATION_H

#include <jansson.h>
#include "formats/status.h"

/* Refuse (SSB_BAD_INPUT, with both numbers) a fit whose wavelength, semiangle or detector sampling are not the spectrum's: its
 * parameters are physical, and hold for every scan of the same instrument, whatever its region, shape and step, but for no other
 * calibration. `fit` and `spectrum` are the containers' meta objects (formats/SPEC.md). */
bool calibration_same(const json_t *fit, const char *fit_path, const json_t *spectrum, const char *spectrum_path, ssb_error *err);

#endif
