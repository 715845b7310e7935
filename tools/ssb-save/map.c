#include "tools/ssb-save/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/meta.h"

double map_axis_value(const map_axis *axis, size_t i)
{
	return json_number_value(json_array_get(axis->values, i));
}

static bool load_axis(map_axis *axis, const json_t *entry, uint64_t extent, ssb_error *err)
{
	axis->values = json_object_get(entry, "values");
	axis->count = json_array_size(axis->values);
	if (!meta_text(entry, "name", &axis->name, err) || !meta_text(entry, "unit", &axis->unit, err))
		return ssb_fail_prefix(err, "axes: ");
	if (axis->count != extent || axis->count < 2)
		return ssb_fail(err, SSB_BAD_INPUT, "axis %s has %zu values for %llu of the array", axis->name, axis->count, (unsigned long long)extent);
	for (size_t i = 0; i < axis->count; i++)
		if (!json_is_number(json_array_get(axis->values, i)) || (i > 0 && !(map_axis_value(axis, i) > map_axis_value(axis, i - 1))))
			return ssb_fail(err, SSB_BAD_INPUT, "the values of axis %s do not rise", axis->name);
	axis->first = map_axis_value(axis, 0);
	axis->last = map_axis_value(axis, axis->count - 1);
	return true;
}

static bool load_meaning(save_map *map, const json_t *meta, ssb_error *err)
{
	const char *objective;
	double sigma2, multiplicity;
	const json_t *noise = json_object_get(meta, "noise");
	map->signal = 1;
	if (!meta_text(meta, "objective", &objective, err))
		return false;
	map->variance = !strcmp(objective, "variance");
	if (map->variance || !noise)
		return true;
	if (!meta_number(noise, "sigma2", &sigma2, err) || !meta_number(noise, "multiplicity", &multiplicity, err) ||
	    !meta_number(noise, "signal_power", &map->signal, err))
		return ssb_fail_prefix(err, "noise: ");
	map->noise = map->signal > 0 ? sigma2 * multiplicity : 0;
	map->signal = map->signal > 0 ? map->signal : 1;
	return true;
}

bool map_load(save_map *map, const json_t *meta, ssb_reader *reader, double **values, ssb_error *err)
{
	const json_t *axes = json_object_get(meta, "axes");
	uint64_t shape[SSB_MAX_RANK];
	*map = (save_map){.axes = json_array_size(axes)};
	if (map->axes < 1 || map->axes > MAP_AXES)
		return ssb_fail(err, SSB_BAD_INPUT, "the header has no list of one or two 'axes'");
	if (!(*values = ssb_load_array(reader, "objective", SSB_F8, (unsigned)map->axes, shape, err)))
		return false;
	for (size_t i = 0; i < map->axes; i++)
		if (!load_axis(&map->axis[i], json_array_get(axes, i), shape[i], err))
			return false;
	return load_meaning(map, meta, err);
}

size_t map_best(const save_map *map, const double *values)
{
	const size_t points = map->axis[0].count * (map->axes > 1 ? map->axis[1].count : 1);
	size_t best = 0;
	for (size_t i = 0; i < points; i++)
		if (isfinite(values[i]) && (!isfinite(values[best]) || (map->variance ? values[i] < values[best] : values[i] > values[best])))
			best = i;
	return best;
}

double map_shown(const save_map *map, double value)
{
	return (value - map->noise) / map->signal;
}

const char *map_shown_name(const save_map *map)
{
	return map->variance ? "variance" : map->noise > 0 ? "explained fraction of the signal" : "likelihood";
}
