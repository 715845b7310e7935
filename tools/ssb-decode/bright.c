#include "tools/ssb-decode/bright.h"

#include <math.h>

/* mean(M) + std(M) over the unflagged pixels. */
static double threshold(const uint64_t *pattern, const uint8_t *flags, size_t count)
{
	double sum = 0, squares = 0;
	size_t used = 0;
	for (size_t i = 0; i < count; i++)
		if (!flags[i]) {
			sum += (double)pattern[i];
			used++;
		}
	const double mean = used ? sum / (double)used : 0;
	for (size_t i = 0; i < count; i++)
		if (!flags[i])
			squares += ((double)pattern[i] - mean) * ((double)pattern[i] - mean);
	return mean + (used ? sqrt(squares / (double)used) : 0);
}

bool bright_field(const uint64_t *pattern, const uint8_t *flags, size_t rows, size_t columns, box *bounds, size_t *pixels)
{
	const double limit = threshold(pattern, flags, rows * columns);
	size_t low[2] = {rows, columns}, high[2] = {0, 0};
	*pixels = 0;
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < columns; c++) {
			const size_t at[2] = {r, c};
			if (flags[r * columns + c] || !((double)pattern[r * columns + c] > limit))
				continue;
			for (size_t axis = 0; axis < 2; axis++) {
				low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
				high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
			}
			++*pixels;
		}
	if (*pixels == 0)
		return false;
	*bounds = (box){{low[0], low[1]}, {high[0] - low[0] + 1, high[1] - low[1] + 1}};
	return true;
}

box box_grown(const box *inner, size_t margin, size_t rows, size_t columns)
{
	const size_t limit[2] = {rows, columns};
	box grown;
	for (size_t axis = 0; axis < 2; axis++) {
		const size_t end = inner->origin[axis] + inner->shape[axis] + margin;
		grown.origin[axis] = inner->origin[axis] > margin ? inner->origin[axis] - margin : 0;
		grown.shape[axis] = (end < limit[axis] ? end : limit[axis]) - grown.origin[axis];
	}
	return grown;
}

bool box_contains(const box *outer, const box *inner)
{
	for (size_t axis = 0; axis < 2; axis++)
		if (inner->origin[axis] < outer->origin[axis] ||
		    inner->origin[axis] + inner->shape[axis] > outer->origin[axis] + outer->shape[axis])
			return false;
	return true;
}
