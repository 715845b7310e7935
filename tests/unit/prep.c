/* ssb-prep's own code on synthetic counts: the disk, the transform against a plain DFT, sums, the rotation. */
#include <complex.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"
#include "tools/ssb-prep/disk.h"
#include "tools/ssb-prep/dft.h"
#include "tools/ssb-prep/passes.h"
#include "tools/transfer/half.h"

static uint32_t seed = 1;

static double uniform(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed / 4294967296.0;
}

/* ---- disk ---- */

enum { SIDE = 40 };
static uint64_t sum[SIDE * SIDE];
static uint8_t usable[SIDE * SIDE];

static pattern draw(double row, double column, double radius, double level, double noise)
{
	for (int i = 0; i < SIDE * SIDE; i++) {
		const int r = i / SIDE, c = i % SIDE;
		const double in = fmin(1, fmax(0, radius - hypot(r - row, c - column) + 0.5));
		sum[i] = (uint64_t)(100 + level * in * (1 + noise * (uniform() - 0.5)));
		usable[i] = 1;
	}
	return (pattern){{SIDE, SIDE}, sum, usable, 100};
}

static void check_found(const char *name, const pattern *p, double row, double column, double radius)
{
	disk d;
	ssb_error err = {SSB_OK, ""};
	const bool found = disk_find(&d, p, NULL, NULL, &err);
	CHECK(found, "%s: a disk (%s)", name, err.text);
	CHECK(found && hypot(d.centre_px[0] - row, d.centre_px[1] - column) < 0.2 && fabs(d.radius_px - radius) < 0.3,
	      "%s: centre %.2f,%.2f radius %.2f", name, d.centre_px[0], d.centre_px[1], d.radius_px);
}

static void check_refused(const char *name, const pattern *p, const char *words)
{
	disk d;
	ssb_error err = {SSB_OK, ""};
	CHECK(!disk_find(&d, p, NULL, NULL, &err) && err.status == SSB_BAD_INPUT && strstr(err.text, words) &&
	      strstr(err.text, "--centre and --radius"), "%s: refused (%s)", name, err.text);
}

static void test_disk(void)
{
	pattern p = draw(17.3, 22.1, 9, 5000, 0.1);
	check_found("a disk alone", &p, 17.3, 22.1, 9);
	for (int i = 0; i < 4; i++)
		sum[(36 + i / 2) * SIDE + 2 + i % 2] = 12000;
	check_found("a spot elsewhere", &p, 17.3, 22.1, 9);
	for (int i = 0; i < 4; i++)
		sum[(38 + i / 2) * SIDE + 38 + i % 2] = 6000000;
	check_found("and a hot cluster", &p, 17.3, 22.1, 9);
	p = draw(17, 22, 9, 5000, 0.1);
	for (int i = 0; i < SIDE; i++)
		usable[17 * SIDE + i] = 0;
	sum[17 * SIDE + 3] = 90000000;
	check_found("a masked row", &p, 17, 22, 8.7);
	p = draw(5, 20, 9, 5000, 0.1);
	check_refused("cut by the edge", &p, "cuts");
	p = draw(20, 20, 18, 5000, 0.1);
	check_refused("on more than half of the detector", &p, "no bright-field disk");
	p = draw(19.5, 19.5, 16.2, 5000, 0.3);
	check_refused("on half of it: scattered pixels", &p, "no bright-field disk");
	p = draw(20, 20, 9, 0, 0);
	check_refused("a flat pattern", &p, "no bright-field disk");
	p.frames = 0;
	check_refused("no frame", &p, "no bright-field disk");
}

/* Normal, which is near enough at the hundreds of counts of a sum over the scan; twelve uniform numbers add up to it. */
static double noisy(double mean)
{
	double normal = -6;
	for (int i = 0; i < 12; i++)
		normal += uniform();
	return round(fmax(0, mean + sqrt(mean) * normal));
}

enum hole { NO_HOLE, ROW_HOLE, CORNER_HOLE, TWO_ROWS_HOLE, DEAD_PIXEL };

/* Holes in the edge of the disk: a gap off its centre, a quadrant's edge, gaps on both sides. */
static bool in_hole(enum hole hole, double r, double c)
{
	return hole == ROW_HOLE ? r > 4.2 && r < 6.2 : hole == CORNER_HOLE ? r > 4 && c > 4 : hole == TWO_ROWS_HOLE && fabs(fabs(r) - 4.5) < 0.6;
}

/* Draws of disks on a floor of one fiftieth, each with its own centre: how far off the refined centre and D's centroid are. */
static void test_centre(const char *name, size_t rows, size_t columns, double row, double column, double counts, enum hole hole, double most_bias)
{
	enum { DRAWS = 200, FRAMES = 1024 };
	double bias[2] = {0}, square[2] = {0}, plain = 0;
	for (int draws = 0; draws < DRAWS; draws++) {
		const double centre[2] = {row + uniform() - 0.5, column + uniform() - 0.5};
		for (size_t i = 0; i < rows * columns; i++) {
			const size_t at = i / columns;
			const double r = (double)at - centre[0], c = (double)(i % columns) - centre[1];
			sum[i] = (uint64_t)noisy(FRAMES * counts * fmin(1, 0.02 + fmin(1, fmax(0, 8 - hypot(r, c) + 0.5))));
			usable[i] = !in_hole(hole, r, c);
			if (hole == DEAD_PIXEL && fabs(r - 2) < 0.5 && fabs(c + 1) < 0.5)
				sum[i] = 0; /* and not flagged */
		}
		const pattern p = {{rows, columns}, sum, usable, FRAMES};
		disk d;
		ssb_error err = {SSB_OK, ""};
		if (!disk_find(&d, &p, NULL, NULL, &err)) {
			CHECK(false, "%s: %s", name, err.text);
			return;
		}
		for (int axis = 0; axis < 2; axis++) {
			const double off = d.origin_px[axis] - centre[axis];
			bias[axis] += off / DRAWS;
			square[axis] += off * off / DRAWS;
			plain += pow(d.centre_px[axis] - centre[axis], 2) / (2 * DRAWS);
		}
	}
	for (int axis = 0; axis < 2; axis++)
		CHECK(sqrt(square[axis]) < 0.01 && fabs(bias[axis]) < most_bias, "%s, axis %d: refined centre off by %.4f px rms, %.4f on average (D's %.4f rms)",
		      name, axis, sqrt(square[axis]), bias[axis], sqrt(plain));
	CHECK(sqrt(plain) > 0.02, "%s: D's centroid is the worse one: %.4f px rms", name, sqrt(plain));
}

static void test_given_disk(void)
{
	disk d;
	ssb_error err = {SSB_OK, ""};
	size_t pixels = 0;
	pattern p = draw(20, 20, 18, 5000, 0.1);
	const double centre[2] = {20, 20}, radius = 3;
	usable[20 * SIDE + 20] = 0;
	CHECK(disk_find(&d, &p, centre, &radius, &err) && !d.measured && d.radius_px == 3 && d.flagged == 1, "given centre and radius are taken");
	int32_t(*list)[2] = disk_pixels(&d, &p, &pixels, &err);
	CHECK(list && pixels == 28 && list[0][0] == 17 && list[0][1] == 20 && list[27][0] == 23, "29 pixels within 3, less a flagged one: %zu", pixels);
	free(list);
	const double outside[2] = {100, 100};
	CHECK(disk_find(&d, &p, outside, &radius, &err) && d.cut && d.edge_radius_px == 0, "a circle beyond the detector is cut");
	CHECK(!disk_pixels(&d, &p, &pixels, &err) && err.status == SSB_BAD_INPUT, "and holds no pixel (%s)", err.text);
	const double aspect[2] = {1, 2};
	d.covariance_px2[0] = 4, d.covariance_px2[1] = 0, d.covariance_px2[2] = 1;
	CHECK(fabs(disk_axes_ratio(&d, aspect) - 1) < 1e-12, "an ellipse in pixels is round in angle");
}

/* ---- counts ---- */

typedef struct synthetic {
	region r;
	const void *block[3];
	enum ssb_dtype type[3];
	uint8_t *u1;
	uint16_t *u2;
	uint32_t *u4;
	uint32_t *all; /* [frame][pixel] */
	int32_t (*pixel)[2];
	uint32_t *offset;
	uint64_t *total;
	bf_pixels bf;
} synthetic;

/* Three blocks of frames, of one, two and four bytes; every pixel in the bright field. */
static void make(synthetic *s, size_t rows, size_t columns, size_t pixels)
{
	const size_t frames = rows * columns, third = (frames + 2) / 3, n = frames * pixels;
	memset(s, 0, sizeof *s);
	s->u1 = calloc(third * pixels, 1);
	s->u2 = calloc(third * pixels, 2);
	s->u4 = calloc(third * pixels, 4);
	s->all = calloc(n, sizeof *s->all);
	s->pixel = calloc(pixels, sizeof *s->pixel);
	s->offset = calloc(pixels, sizeof *s->offset);
	s->total = calloc(pixels, sizeof *s->total);
	for (size_t i = 0; i < n; i++) {
		const size_t block = i / pixels / third, at = i - block * third * pixels;
		s->all[i] = (uint32_t)((block == 0 ? 255 : block == 1 ? 65535 : 4e9) * uniform());
		if (block == 0)
			s->u1[at] = (uint8_t)s->all[i];
		else if (block == 1)
			s->u2[at] = (uint16_t)s->all[i];
		else
			s->u4[at] = s->all[i];
	}
	for (size_t b = 0; b < pixels; b++) {
		s->pixel[b][1] = (int32_t)b;
		s->offset[b] = (uint32_t)b;
	}
	s->block[0] = s->u1, s->block[1] = s->u2, s->block[2] = s->u4;
	s->type[0] = SSB_U1, s->type[1] = SSB_U2, s->type[2] = SSB_U4;
	s->r = (region){.scan = {rows, columns}, .detector = {1, pixels}, .window = {1, pixels}, .valid_positions = frames,
	                .counts = {frames, pixels, third, 3, s->block, s->type}, .scan_valid = malloc(frames)};
	memset(s->r.scan_valid, 1, frames);
	s->bf = (bf_pixels){pixels, (const int32_t(*)[2])s->pixel, s->offset};
}

static void invalidate(synthetic *s, size_t frame)
{
	s->r.scan_valid[frame] = 0;
	s->r.valid_positions--;
}

static void release(synthetic *s)
{
	free(s->u1);
	free(s->u2);
	free(s->u4);
	free(s->all);
	free(s->pixel);
	free(s->offset);
	free(s->total);
	free(s->r.scan_valid);
}

static void test_sums(void)
{
	synthetic s;
	frame_sums sums;
	ssb_error err = {SSB_OK, ""};
	make(&s, 5, 7, 40);
	invalidate(&s, 11);
	CHECK(frame_sums_make(&sums, &s.r, &s.bf, &err), "sums of frames");
	size_t wrong = 0;
	for (size_t b = 0; b < 40; b++) {
		uint64_t total = 0;
		for (size_t i = 0; i < 35; i++)
			total += i == 11 ? 0 : s.all[i * 40 + b];
		wrong += sums.pixel[b] != total;
	}
	CHECK(!wrong, "each pixel's sum is exact in 64 bits: %zu wrong", wrong);
	double row = 0, counts = 0;
	for (size_t b = 0; b < 40; b++) {
		row += (double)b * s.all[b];
		counts += s.all[b];
	}
	CHECK((double)sums.position[0] == counts && fabs(sums.centre_of_mass[0][1] - row / counts) < 1e-12, "a frame's counts and centre of mass");
	CHECK(sums.position[11] == 0 && isnan(sums.centre_of_mass[11][0]), "a missing frame has none");
	frame_sums_free(&sums);
	release(&s);
}

/* ---- transform ---- */

/* G(q, b) of the fluctuations by the definition, in double. */
static double complex plain_dft(const synthetic *s, size_t b, double mean, size_t qr, size_t qc)
{
	const size_t rows = s->r.scan[0], columns = s->r.scan[1];
	double complex sum_over_scan = 0;
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < columns; c++) {
			const double turn = fmod((double)(qr * r) / (double)rows, 1) + fmod((double)(qc * c) / (double)columns, 1);
			if (s->r.scan_valid[r * columns + c])
				sum_over_scan += (s->all[(r * columns + c) * s->bf.count + b] - mean) * CMPLX(cos(2 * M_PI * turn), -sin(2 * M_PI * turn));
		}
	return sum_over_scan;
}

/* G in halves: what rounding `G` gives. */
static void check_halves(synthetic *s, int32_t (*q)[2], size_t bins, size_t pixels, const float complex *G)
{
	const double unit = 64;
	const size_t values = 2 * pixels;
	passes p;
	ssb_error err = {SSB_OK, ""};
	uint16_t *halves = malloc(bins * values * sizeof *halves);
	float *expected = malloc(values * sizeof *expected);
	half_round((const float *)G, bins * values, (float)(1 / unit), halves);
	CHECK(passes_plan(&p, &s->r, &s->bf, s->total, (const int32_t(*)[2])q, bins, (passes_memory){SIZE_MAX, 0, SIZE_MAX}, unit, 2, NULL, &err),
	      "halves: planned");
	passes_take(&p, 0);
	CHECK(!memcmp(p.G, halves, bins * values * sizeof *halves), "halves: G");
	const size_t bin[] = {bins - 1, 0, bins / 2};
	float complex copy[3][LANES + 7];
	size_t wrong = !passes_copy(&p, bin, 3, copy[0]);
	for (size_t b = 0; b < 3; b++) {
		half_expand(halves + bin[b] * values, values, (float)unit, expected);
		wrong += memcmp(expected, copy[0] + b * pixels, pixels * sizeof copy[0][0]) != 0;
	}
	CHECK(!wrong, "halves: copies of single bins");
	passes_free(&p);
	free(halves);
	free(expected);
}

static void test_transform(size_t rows, size_t columns, bool holes)
{
	enum { PIXELS = LANES + 7 }; /* more than one block */
	synthetic s;
	ssb_error err = {SSB_OK, ""};
	const size_t half = columns / 2 + 1, bins = rows * half;
	make(&s, rows, columns, PIXELS);
	if (holes) {
		invalidate(&s, 3);
		invalidate(&s, rows * columns - 1);
	}
	for (size_t i = 0; i < rows * columns * PIXELS; i++)
		s.total[i % PIXELS] += s.r.scan_valid[i / PIXELS] ? s.all[i] : 0;
	int32_t(*q)[2] = malloc(bins * sizeof *q);
	float complex *G = malloc(bins * PIXELS * sizeof *G);
	for (size_t i = 0; i < bins; i++)
		q[i][0] = (int32_t)(i / half), q[i][1] = (int32_t)(i % half);
	passes p;
	CHECK(passes_plan(&p, &s.r, &s.bf, s.total, (const int32_t(*)[2])q, bins, (passes_memory){SIZE_MAX, 0, SIZE_MAX}, 0, 2, NULL, &err), "%zux%zu: planned",
	      rows, columns);
	double *power = malloc(bins * sizeof *power), off = 0;
	passes_begin(&p, power);
	CHECK(p.held == bins, "all bins in one pass");
	memcpy(G, p.G, bins * PIXELS * sizeof *G);
	passes_free(&p);
	for (size_t i = 0; i < bins; i++) {
		double squares = 0;
		for (size_t b = i * PIXELS; b < (i + 1) * PIXELS; b++)
			squares += creal(G[b]) * creal(G[b]) + cimag(G[b]) * cimag(G[b]);
		off = fmax(off, fabs(power[i] - squares) / squares);
	}
	CHECK(off <= 1e-12, "the power of each bin (off by %.1e of it)", off);

	double worst = 0;
	const double u = 0x1p-24, bound = u * (1 + 7 * log2((double)(rows * columns)));
	for (size_t b = 0; b < PIXELS; b += 6) {
		double error = 0, norm = 0;
		for (size_t i = 1; i < bins; i++) {
			const double complex exact = plain_dft(&s, b, (double)s.total[b] / (double)s.r.valid_positions, i / half, i % half);
			error += pow(cabs(G[i * PIXELS + b] - exact), 2);
			norm += pow(cabs(exact), 2);
		}
		worst = fmax(worst, sqrt(error / norm));
	}
	CHECK(worst <= bound, "%zux%zu%s: error %.2f u of the norm, at most %.0f u", rows, columns, holes ? " with holes" : "", worst / u, bound / u);
	CHECK(worst <= 3 * u * sqrt(log2((double)(rows * columns))), "and no more than rounding that is independent");
	size_t wrong = 0;
	for (size_t b = 0; b < PIXELS; b++)
		wrong += G[b] != (float)s.total[b];
	CHECK(!wrong, "q = 0 is the exact sum");

	transform *t = transform_new(&s.r, &s.bf, s.total, (const int32_t(*)[2])q, bins, 0, 1, &err);
	const size_t from = bins / 3, some = bins / 2;
	float complex *part = malloc(some * PIXELS * sizeof *part);
	void **row = calloc(bins, sizeof *row);
	for (size_t i = 0; i < some; i++)
		row[from + i] = part + i * PIXELS;
	transform_run(t, row, NULL, NULL);
	CHECK(!memcmp(part, G + from * PIXELS, some * PIXELS * sizeof *part), "some bins alone, on one thread: the same bytes");
	transform_free(t);
	check_halves(&s, q, bins, PIXELS, G);
	free(row);
	free(power);
	free(part);
	free(q);
	free(G);
	release(&s);
}

/* Passes as memory says: as many bins as fit beside scratch, as the page cache leaves, whole chunks; threads where they pay. */
static void test_plan(void)
{
	enum { BINS = 6400, PIXELS = 9000 };
	synthetic s;
	ssb_error err = {SSB_OK, ""};
	make(&s, 16, 20, 37);
	int32_t(*q)[2] = calloc(BINS, sizeof *q);
	const bf_pixels wide = {PIXELS, s.bf.index, s.bf.offset}; /* planned, not transformed */
	uint64_t *total = calloc(PIXELS, sizeof *total);
	const size_t row = PIXELS * sizeof(float complex), scratch = transform_scratch(s.r.scan), all = BINS * row;
	const size_t beside = passes_least_memory(s.r.scan, PIXELS, BINS) - 58 * row + scratch; /* with two threads */
	const struct { passes_memory memory; size_t bins; } cases[] = {
		{{SIZE_MAX, 0, SIZE_MAX}, BINS},
		{{2 * all + beside, all, SIZE_MAX}, BINS},
		{{all / 2 + beside, 0, SIZE_MAX}, 3190}, /* 55 chunks of 58 bins */
		{{all / 2 + beside, 100 * row, SIZE_MAX}, 3074},
		{{SIZE_MAX, 0, all / 4}, 1566},
		{{scratch, 0, SIZE_MAX}, 58},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		passes p;
		const bool ok = passes_plan(&p, &s.r, &wide, total, (const int32_t(*)[2])q, BINS, cases[i].memory, 0, 2, NULL, &err);
		CHECK(ok && p.bins_at_once == cases[i].bins, "plan %zu: %zu bins at once, not %zu", i, p.bins_at_once,
		      cases[i].bins);
		passes_free(&p);
	}
	free(q);
	free(total);
	release(&s);
}

/* A line of n points against the definition, in double; the lanes do not mix. */
static void check_dft(size_t n)
{
	dft *d = dft_new(n);
	point *x = aligned_alloc(64, n * sizeof *x), *work = aligned_alloc(64, n * sizeof *work);
	uint32_t state = 1;
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < LANES; k++) {
			x[i].re[k] = (float)(state >> 16) - 32768;
			state = state * 1664525 + 1013904223;
			x[i].im[k] = (float)(state >> 16) - 32768;
			state = state * 1664525 + 1013904223;
		}
	point *given = malloc(n * sizeof *given);
	memcpy(given, x, n * sizeof *given);
	const point *X = dft_run(d, x, work);
	double error = 0, norm = 0;
	for (size_t q = 0; q < n; q++)
		for (int k = 0; k < LANES; k += 21) {
			double complex exact = 0;
			for (size_t i = 0; i < n; i++)
				exact += CMPLX(given[i].re[k], given[i].im[k]) * cexp(-2 * M_PI * I * (double)(q * i % n) / (double)n);
			error += pow(cabs(exact - CMPLX(X[q].re[k], X[q].im[k])), 2);
			norm += pow(cabs(exact), 2);
		}
	CHECK(sqrt(error / norm) <= 0x1p-24 * (0.1 + 2 * sqrt(log2((double)n))), "a line of %zu: error %.2f u", n, 0x1p24 * sqrt(error / norm));
	dft_free(d);
	free(x);
	free(work);
	free(given);
}

static void test_dft(void)
{
	for (size_t n = 1; n <= 66; n++)
		check_dft(n);
	check_dft(343);
	check_dft(360);
	check_dft(512);
}

/* ---- rotation ---- */

/* The gradient of a few waves, turned into the detector frame of a known rotation. */
static void test_deflection(double rotation_deg, bool transposed)
{
	enum { ROWS = 18, COLUMNS = 23 };
	static double v[ROWS * COLUMNS][2];
	const size_t scan[2] = {ROWS, COLUMNS};
	const double step[2] = {0.4, 0.3}, sampling[2] = {1, 0.8}, angle = rotation_deg * M_PI / 180;
	const int wave[3][2] = {{1, 2}, {3, -1}, {0, 2}};
	for (int i = 0; i < ROWS * COLUMNS; i++) {
		const int at[2] = {i / COLUMNS, i % COLUMNS};
		double scan_frame[2] = {0, 0};
		for (int w = 0; w < 3; w++) {
			const double q[2] = {wave[w][0] / (ROWS * step[0]), wave[w][1] / (COLUMNS * step[1])};
			const double phase = 2 * M_PI * (q[0] * step[0] * at[0] + q[1] * step[1] * at[1]) + w;
			for (int axis = 0; axis < 2; axis++)
				scan_frame[axis] -= q[axis] * sin(phase) * (w + 1);
		}
		/* k_scan = rotation(k_detector): the inverse, then pixels */
		const double r = scan_frame[0] * cos(angle) + scan_frame[1] * sin(angle), c = -scan_frame[0] * sin(angle) + scan_frame[1] * cos(angle);
		v[i][0] = 10 + (transposed ? c : r) / sampling[0];
		v[i][1] = 12 + (transposed ? r : c) / sampling[1];
	}
	deflection d;
	ssb_error err = {SSB_OK, ""};
	CHECK(deflection_find(&d, (const double(*)[2])v, scan, step, 1.5, sampling, &err) && d.found, "rotation %g: found", rotation_deg);
	const double off = remainder(d.rotation_deg[transposed] - rotation_deg, 180);
	CHECK(fabs(off) < 1e-6 && d.residual[transposed] < 1e-12 && d.residual[!transposed] > 0.05, "rotation %g%s: %.6f, residuals %.2g %.2g",
	      rotation_deg, transposed ? " transposed" : "", d.rotation_deg[transposed], d.residual[0], d.residual[1]);
	v[40][0] = v[40][1] = NAN;
	CHECK(deflection_find(&d, (const double(*)[2])v, scan, step, 1.5, sampling, &err) &&
	      fabs(remainder(d.rotation_deg[transposed] - rotation_deg, 180)) < 3, "a frame without counts does little: %.2f", d.rotation_deg[transposed]);
	memset(v, 0, sizeof v);
	CHECK(deflection_find(&d, (const double(*)[2])v, scan, step, 1.5, sampling, &err) && !d.found, "no deflection, no rotation");
}

int main(void)
{
	test_disk();
	test_centre("20 counts", 32, 32, 15.5, 15.5, 20, NO_HOLE, 0.002);
	test_centre("2 counts", 32, 32, 15.5, 15.5, 2, NO_HOLE, 0.002);
	test_centre("off the centre of an oblong detector", 24, 40, 14, 29, 2, NO_HOLE, 0.002);
	test_centre("off the centre of a tall detector", 40, 24, 29, 10, 2, NO_HOLE, 0.002);
	test_centre("at the detector's edge", 32, 32, 8, 15.5, 20, NO_HOLE, 0.007); /* half of the floor around the disk is missing */
	test_centre("a masked gap", 32, 32, 15.5, 15.5, 20, ROW_HOLE, 0.002);
	test_centre("a masked quarter of the edge", 32, 32, 15.5, 15.5, 20, CORNER_HOLE, 0.002);
	test_centre("gaps on both sides", 32, 32, 15.5, 15.5, 20, TWO_ROWS_HOLE, 0.002);
	test_centre("a dead pixel inside that nobody flagged", 32, 32, 15.5, 15.5, 20, DEAD_PIXEL, 0.002);
	test_given_disk();
	test_sums();
	test_transform(16, 20, false);
	test_transform(15, 21, false);
	test_transform(7, 13, true);
	test_transform(4, 4, false);
	test_transform(11, 26, false);
	test_transform(64, 18, true);
	test_dft();
	test_plan();
	test_deflection(30, false);
	test_deflection(-75, true);
	return test_end();
}
