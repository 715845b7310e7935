/* The files of an acquisition: NAME_data_00000n.h5, NAME_master.h5, NAME_truth.json, NAME_truth_phase.npy. All or none. */
#ifndef SSB_SIM_ACQUISITION_FILES_H
#define SSB_SIM_ACQUISITION_FILES_H

#include <jansson.h>
#include "formats/status.h"
#include "tools/ssb-sim/acquisition.h"
#include "tools/ssb-sim/camera.h"
#include "tools/ssb-sim/counts.h"

enum { MOST_DATA_FILES = 60 }; /* all are open under temporary names until the last one is whole */

/* Data files that a->frames_per_file makes of this scan. */
size_t acquisition_data_files(const acquisition *a);

/* The folder part of `name` ("." if none). Fails when nothing can be written there: better known before than after the simulation.
 * Caller frees. */
char *acquisition_folder(const char *name, ssb_error *err);

/* What is known of the acquisition, units in every key. New reference. */
json_t *acquisition_truth(const acquisition *a, const char *name, const bad_pixel *bad, uint64_t clipped);

/* Write everything; `phase` is the truth phase, truth_upsample x finer than the scan. */
bool acquisition_write(const acquisition *a, const char *name, const counts *c, const bad_pixel *bad, const float *phase, ssb_error *err);

#endif
