/* A map: the objective of a fit over a grid of one or two parameters (formats/SPEC.md, kind 5). */
#ifndef SAVE_MAP_H
#define SAVE_MAP_H

#include <jansson.h>
#include <stddef.h>
#include "formats/container.h"

enum { MAP_AXES = 2 };

/* `count` >= 2 rising values; texts and values are borrowed from the map's meta. */
typedef struct map_axis {
	const char *name, *unit; /* "C10", "nm" */
	const json_t *values;
	size_t count;
	double first, last;
} map_axis;

typedef struct save_map {
	size_t axes;
	map_axis axis[MAP_AXES];
	bool variance;        /* the smallest value is the best, else the largest */
	double noise, signal; /* of a likelihood L: (L - noise) / signal is the explained fraction; 0 and 1 where that is not known */
} save_map;

/* The axes of the array `objective` and the meaning of its values; *values (owned by the caller) are read from `reader`. */
bool map_load(save_map *map, const json_t *meta, ssb_reader *reader, double **values, ssb_error *err);

double map_axis_value(const map_axis *axis, size_t i);

/* The point whose value is the best of the finite ones. */
size_t map_best(const save_map *map, const double *values);

/* What a picture shows for a value, and what that is called: the explained fraction where it is known. */
double map_shown(const save_map *map, double value);
const char *map_shown_name(const save_map *map);

#endif
