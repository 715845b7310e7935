/* A sweep: the objective over a grid of one or two fit parameters, everything else held. */
#ifndef SSB_FIT_MAP_H
#define SSB_FIT_MAP_H

#include "tools/ssb-fit/fit.h"

enum { MAP_AXES = 2, MAP_MOST_VALUES = 100000 };

/* `count` >= 2 values from range[0] up to range[1], evenly spaced, in map_unit: nm for aberrations and thickness, deg for the
 * rotation, mrad for the tilt, 1 for the detector sampling, which is over the spectrum's. */
typedef struct map_axis {
	int parameter;
	double range[2];
	size_t count;
} map_axis;

typedef struct map_grid {
	map_axis axis[MAP_AXES];
	size_t axes;
} map_grid;

const char *map_unit(const map_axis *axis);
double map_value(const map_axis *axis, size_t i);

/* Parse "C10=-30nm:30nm:121,C12a=-5nm:5nm:41", all of it; SSB_USAGE otherwise. */
bool map_parse(map_grid *grid, const char *text, ssb_error *err);

size_t map_points(const map_grid *grid);

/* The value of axis `axis` at point `point` (row-major). */
double map_at(const map_grid *grid, size_t point, size_t axis);

/* The grid's values at one point, all else as in `held`. */
optics_parameters map_optics(const map_grid *grid, size_t point, const optics_parameters *held);

/* L over all bins, or (problem->objective) the published variance, at every point. Release with map_free. */
typedef struct map_result {
	bool variance;
	double *objective;     /* row-major; owned */
	size_t best;           /* the largest L, the smallest variance */
	double sigma2, multiplicity, signal_power; /* of L, over the bins used at the best point: see certificate.h */
} map_result;

/* Fails (SSB_USAGE) when the grid does not fit into problem->memory. */
bool map_run(const fit_problem *problem, const map_grid *grid, map_result *result, ssb_error *err);
void map_free(map_result *result);

/* NAN where the evidence holds no signal power. */
double map_explained(const map_result *result, size_t point);

#endif
