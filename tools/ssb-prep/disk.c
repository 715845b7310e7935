#include "tools/ssb-prep/disk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BRIGHT_RANK = 25, BRIGHT_FACTOR = 4, REFINEMENTS = 10 };

static const double EDGE_PX = 1.5; /* half the width of the disk's edge */
static const double UNEVEN = 0.03; /* variation of M over the inside of the disk from which brightness does not tell the edge */

/* Below this D is scattered pixels: a disk on half of the detector, whose threshold is its own mean. */
static const double least_solidity = 0.9;

#define ASK "give --centre and --radius"

/* What a pixel is to D. */
enum member { OUT, IN_D, KEPT };

static double mean_at(const pattern *p, size_t i)
{
	return (double)p->sum[i] / (double)p->frames;
}

static size_t pixels_of(const pattern *p)
{
	return p->shape[0] * p->shape[1];
}

static size_t row_of(const pattern *p, size_t i)
{
	return i / p->shape[1];
}

static size_t column_of(const pattern *p, size_t i)
{
	return i % p->shape[1];
}

static double distance(const pattern *p, size_t i, const double centre[2])
{
	return hypot((double)row_of(p, i) - centre[0], (double)column_of(p, i) - centre[1]);
}

/* Four times the 25th brightest pixel; infinite when fewer are lit. */
static double bright_limit(const pattern *p)
{
	uint64_t top[BRIGHT_RANK] = {0}; /* falling */
	for (size_t i = 0; i < pixels_of(p); i++) {
		int at = BRIGHT_RANK;
		while (p->usable[i] && at > 0 && p->sum[i] > top[at - 1])
			at--;
		if (at < BRIGHT_RANK) {
			memmove(top + at + 1, top + at, (size_t)(BRIGHT_RANK - 1 - at) * sizeof *top);
			top[at] = p->sum[i];
		}
	}
	const uint64_t least = top[BRIGHT_RANK - 1];
	return least ? BRIGHT_FACTOR * (double)least / (double)p->frames : INFINITY;
}

/* Marks D: M > mean + std, both without the pixels above `limit`, of which the number is returned. */
static size_t mark_above(const pattern *p, double limit, uint8_t *member)
{
	double n = 0, sum = 0, square = 0;
	size_t bright = 0;
	for (size_t i = 0; i < pixels_of(p); i++)
		if (p->usable[i] && mean_at(p, i) <= limit) {
			n++;
			sum += mean_at(p, i);
		} else
			bright += p->usable[i];
	const double mean = n > 0 ? sum / n : 0;
	for (size_t i = 0; i < pixels_of(p); i++)
		if (p->usable[i] && mean_at(p, i) <= limit)
			square += (mean_at(p, i) - mean) * (mean_at(p, i) - mean);
	const double level = mean + (n > 0 ? sqrt(square / n) : 0);
	for (size_t i = 0; i < pixels_of(p); i++)
		member[i] = p->usable[i] && mean_at(p, i) > level ? IN_D : OUT;
	return bright;
}

/* Centroid and radius of the pixels that are at least `least`; their number. */
static size_t measure(const pattern *p, const uint8_t *member, enum member least, double centre[2], double *radius)
{
	size_t size = 0;
	double row = 0, column = 0;
	for (size_t i = 0; i < pixels_of(p); i++)
		if (member[i] >= least) {
			size++;
			row += (double)row_of(p, i);
			column += (double)column_of(p, i);
		}
	centre[0] = size ? row / (double)size : 0;
	centre[1] = size ? column / (double)size : 0;
	*radius = sqrt((double)size / M_PI);
	return size;
}

/* Collects into `part` the pixels of D connected with `seed` (eight neighbours), taking them out of `left`; their number. */
static size_t take_part(const pattern *p, uint8_t *left, size_t seed, size_t *part)
{
	size_t size = 0;
	part[size++] = seed;
	left[seed] = OUT;
	for (size_t at = 0; at < size; at++) {
		const size_t row = row_of(p, part[at]), column = column_of(p, part[at]);
		for (size_t r = row - (row > 0); r <= row + 1 && r < p->shape[0]; r++)
			for (size_t c = column - (column > 0); c <= column + 1 && c < p->shape[1]; c++)
				if (left[r * p->shape[1] + c]) {
					left[r * p->shape[1] + c] = OUT;
					part[size++] = r * p->shape[1] + c;
				}
	}
	return size;
}

/* Marks the largest connected part of D as kept. `part`, `best`: room for every pixel. */
static void keep_largest_part(const pattern *p, uint8_t *member, uint8_t *left, size_t *part, size_t *best)
{
	size_t most = 0;
	memcpy(left, member, pixels_of(p));
	for (size_t i = 0; i < pixels_of(p); i++) {
		const size_t size = left[i] ? take_part(p, left, i, part) : 0;
		if (size > most) {
			most = size;
			memcpy(best, part, size * sizeof *best);
		}
	}
	for (size_t i = 0; i < most; i++)
		member[best[i]] = KEPT;
}

static bool is_near(const disk *d, const pattern *p, size_t i)
{
	return distance(p, i, d->centre_px) <= 1.25 * d->radius_px + 1;
}

/* Keeps what of D is near the kept part's circle until centre and radius settle; counts what is not. */
static void keep_near(disk *d, const pattern *p, uint8_t *member)
{
	size_t before = 0, size = measure(p, member, KEPT, d->centre_px, &d->radius_px);
	for (int round = 0; round < 50 && size != before; round++) {
		before = size;
		for (size_t i = 0; i < pixels_of(p); i++)
			if (member[i])
				member[i] = is_near(d, p, i) ? KEPT : IN_D;
		size = measure(p, member, KEPT, d->centre_px, &d->radius_px);
	}
	d->elsewhere = 0;
	for (size_t i = 0; i < pixels_of(p); i++)
		d->elsewhere += member[i] == IN_D;
}

static bool reaches_beyond(const disk *d, const pattern *p)
{
	for (int a = 0; a < 2; a++)
		if (d->centre_px[a] - d->radius_px < -1 || d->centre_px[a] + d->radius_px > (double)p->shape[a])
			return true;
	return false;
}

static void measure_shape(disk *d, const pattern *p, const uint8_t *member)
{
	double n = 0, within = 0, usable = 0;
	memset(d->covariance_px2, 0, sizeof d->covariance_px2);
	for (size_t row = 0; row < p->shape[0]; row++)
		for (size_t column = 0; column < p->shape[1]; column++) {
			const size_t i = row * p->shape[1] + column;
			const double r = (double)row - d->centre_px[0], c = (double)column - d->centre_px[1];
			const bool inside = hypot(r, c) <= d->radius_px, kept = member[i] == KEPT;
			usable += p->usable[i] && inside;
			within += kept && inside;
			n += kept;
			d->covariance_px2[0] += kept * r * r;
			d->covariance_px2[1] += kept * r * c;
			d->covariance_px2[2] += kept * c * c;
		}
	for (int k = 0; k < 3; k++)
		d->covariance_px2[k] /= fmax(n, 1);
	d->solidity = within / fmax(usable, 1);
}

/* Measures the disk and marks D's pixels as kept. */
static bool measure_disk(disk *d, const pattern *p, uint8_t *member, ssb_error *err)
{
	const size_t n = pixels_of(p);
	uint8_t *left = malloc(n);
	size_t *part = malloc(2 * n * sizeof *part);
	const bool ok = left && part;
	if (ok) {
		mark_above(p, INFINITY, member);
		measure(p, member, IN_D, d->plain_centre_px, &d->plain_radius_px);
		d->bright = mark_above(p, bright_limit(p), member);
		keep_largest_part(p, member, left, part, part + n);
		keep_near(d, p, member);
		measure_shape(d, p, member);
	}
	free(left);
	free(part);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

static bool check_disk(const disk *d, const pattern *p, ssb_error *err)
{
	if (d->radius_px <= 0)
		return ssb_fail(err, SSB_BAD_INPUT, "no bright-field disk: no pixel of the mean pattern is above its mean plus its standard "
		                "deviation (the pattern is flat, or the disk covers half of the detector or more): " ASK);
	if (d->solidity < least_solidity)
		return ssb_fail(err, SSB_BAD_INPUT, "no bright-field disk: the pixels above mean plus standard deviation fill %.0f %% of a circle "
		                "of their area (radius %.1f pixels): " ASK, 100 * d->solidity, d->radius_px);
	if (reaches_beyond(d, p))
		return ssb_fail(err, SSB_BAD_INPUT, "the detector's edge cuts the bright-field disk (centre %.1f,%.1f, radius %.1f pixels on a "
		                "detector of %zux%zu): " ASK, d->centre_px[0], d->centre_px[1], d->radius_px, p->shape[0], p->shape[1]);
	return true;
}

static void take_circle(disk *d, const pattern *p, uint8_t *member)
{
	for (size_t i = 0; i < pixels_of(p); i++)
		member[i] = p->usable[i] && distance(p, i, d->centre_px) <= d->radius_px ? KEPT : OUT;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Median of M over D. */
static bool median(const pattern *p, const uint8_t *member, double *value, ssb_error *err)
{
	double *values = malloc(pixels_of(p) * sizeof *values);
	size_t n = 0;
	if (!values)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; i < pixels_of(p); i++)
		if (member[i] == KEPT)
			values[n++] = mean_at(p, i);
	qsort(values, n, sizeof *values, by_value);
	*value = n ? (values[(n - 1) / 2] + values[n / 2]) / 2 : 0;
	free(values);
	return true;
}

/* R_edge: from the area where M is above half of its median over D. */
static bool measure_edge(disk *d, const pattern *p, const uint8_t *member, ssb_error *err)
{
	double middle = 0;
	size_t area = 0;
	if (!median(p, member, &middle, err))
		return false;
	for (size_t i = 0; i < pixels_of(p); i++)
		area += p->usable[i] && is_near(d, p, i) && mean_at(p, i) > middle / 2;
	d->edge_radius_px = sqrt((double)area / M_PI);
	return true;
}

/* Brightness of a pixel of the edge as a fraction of the disk's, at most 1; NAN where masked or beyond the detector. */
static double brightness(const pattern *p, long row, long column, double middle)
{
	if (row < 0 || column < 0 || row >= (long)p->shape[0] || column >= (long)p->shape[1])
		return NAN;
	const size_t i = (size_t)row * p->shape[1] + (size_t)column;
	return p->usable[i] ? fmin(1, mean_at(p, i) / middle) : NAN;
}

/* What a pixel counts for in the refined centroid: 1 inside the edge, usable or not, and 0 beyond; on the edge its brightness, or what a sharp
 * edge would have there: being round the origin, that does not pull. */
static double weight_at(const disk *d, double radius, const pattern *p, long row, long column, double middle)
{
	const double off = hypot((double)row - d->origin_px[0], (double)column - d->origin_px[1]) - radius;
	if (fabs(off) > EDGE_PX)
		return off < 0;
	const double value = brightness(p, row, column, middle);
	return isnan(value) ? fmin(1, fmax(0, 0.5 - off)) : value;
}

static void refine_once(disk *d, double *radius, const pattern *p, double middle)
{
	const double reach = *radius + EDGE_PX;
	double sum = 0, row = 0, column = 0;
	for (long r = lround(d->origin_px[0] - reach); r <= lround(d->origin_px[0] + reach); r++)
		for (long c = lround(d->origin_px[1] - reach); c <= lround(d->origin_px[1] + reach); c++) {
			const double weight = weight_at(d, *radius, p, r, c, middle);
			sum += weight;
			row += weight * (double)r;
			column += weight * (double)c;
		}
	if (sum > 0) {
		*radius = sqrt(sum / M_PI);
		d->origin_px[0] = row / sum;
		d->origin_px[1] = column / sum;
	}
}

/* Whether the inside of the disk varies by more than 3 % of its median beyond the noise: a strong specimen (6 % seen; weak ones 0.3 %).
 * By the mean deviation, of which a normal distribution has sqrt(2/pi) of the standard one: a dead or hot pixel alone does not decide. */
static bool is_uneven(const disk *d, const pattern *p, double middle)
{
	double n = 0, deviation = 0;
	for (size_t i = 0; i < pixels_of(p); i++)
		if (p->usable[i] && distance(p, i, d->centre_px) < d->radius_px - EDGE_PX) {
			n++;
			deviation += fmin(1, fabs(mean_at(p, i) / middle - 1));
		}
	return M_PI / 2 * pow(deviation / fmax(n, 1), 2) - 1 / (middle * (double)p->frames) > UNEVEN * UNEVEN;
}

/* Repeated because the edge is looked for around the origin, at a radius that holes make too small at first. Where the disk is lit unevenly
 * brightness does not tell its edge, and D's centroid is kept. */
static bool refine_origin(disk *d, const pattern *p, const uint8_t *member, ssb_error *err)
{
	double middle = 0, radius = d->radius_px;
	if (!median(p, member, &middle, err))
		return false;
	memcpy(d->origin_px, d->centre_px, sizeof d->origin_px);
	const int refinements = middle > 0 && !is_uneven(d, p, middle) ? REFINEMENTS : 0;
	for (int i = 0; i < refinements; i++)
		refine_once(d, &radius, p, middle);
	return true;
}

static void count_flagged(disk *d, const pattern *p)
{
	d->flagged = 0;
	for (size_t i = 0; i < pixels_of(p); i++)
		d->flagged += !p->usable[i] && distance(p, i, d->centre_px) <= d->radius_px;
}

static void hold(disk *d, const double *centre_px, const double *radius_px)
{
	for (int axis = 0; centre_px && axis < 2; axis++)
		d->centre_px[axis] = d->origin_px[axis] = centre_px[axis];
	if (radius_px)
		d->radius_px = *radius_px;
}

bool disk_find(disk *d, const pattern *p, const double *centre_px, const double *radius_px, ssb_error *err)
{
	*d = (disk){.measured = !centre_px || !radius_px};
	uint8_t *member = calloc(pixels_of(p), 1);
	if (!member)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	bool ok = !d->measured || (measure_disk(d, p, member, err) && check_disk(d, p, err) && refine_origin(d, p, member, err));
	if (ok) {
		hold(d, centre_px, radius_px);
		d->cut = reaches_beyond(d, p);
		if (!d->measured)
			take_circle(d, p, member);
		ok = d->cut || measure_edge(d, p, member, err);
		count_flagged(d, p);
	}
	free(member);
	return ok;
}

int32_t (*disk_pixels(const disk *d, const pattern *p, size_t *pixels, ssb_error *err))[2]
{
	int32_t(*list)[2] = malloc((pixels_of(p) ? pixels_of(p) : 1) * sizeof *list);
	*pixels = 0;
	if (!list) {
		ssb_fail(err, SSB_RUNTIME, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < pixels_of(p); i++)
		if (p->usable[i] && distance(p, i, d->centre_px) <= d->radius_px) {
			list[*pixels][0] = (int32_t)row_of(p, i);
			list[(*pixels)++][1] = (int32_t)column_of(p, i);
		}
	if (*pixels)
		return list;
	free(list);
	ssb_fail(err, SSB_BAD_INPUT, "no usable pixel lies within %.1f pixels of %.1f,%.1f", d->radius_px, d->centre_px[0], d->centre_px[1]);
	return NULL;
}

double disk_axes_ratio(const disk *d, const double sampling[2])
{
	const double rr = d->covariance_px2[0] * sampling[0] * sampling[0], cc = d->covariance_px2[2] * sampling[1] * sampling[1];
	const double rc = d->covariance_px2[1] * sampling[0] * sampling[1];
	const double middle = (rr + cc) / 2, spread = hypot((rr - cc) / 2, rc);
	return middle > spread ? sqrt((middle + spread) / (middle - spread)) : 1;
}
