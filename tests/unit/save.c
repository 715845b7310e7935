/* Parts of ssb-save. With a folder as argument: writes the containers that tests/save.bats saves from. */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "tools/ssb-save/bytes.h"
#include "tools/ssb-save/picture.h"

/* ---- containers for tests/save.bats ---- */

static void finish(ssb_writer *writer, const void *elements, const char *path)
{
	ssb_error err = {SSB_OK, ""};
	if (!writer || (elements && !ssb_write_array(writer, elements, &err)) || !ssb_writer_finish(writer, &err)) {
		fprintf(stderr, "cannot write '%s': %s\n", path, err.text);
		exit(1);
	}
}

static ssb_array image(const char *name, enum ssb_dtype dtype, size_t rows, size_t columns, const char *unit)
{
	ssb_array array = {.dtype = dtype, .rank = 2, .shape = {rows, columns}, .chunk_elements = rows * columns};
	snprintf(array.name, sizeof array.name, "%s", name);
	snprintf(array.unit, sizeof array.unit, "%s", unit);
	return array;
}

static json_t *parameters(void)
{
	return json_pack("[{s:s, s:f, s:s, s:f, s:s}, {s:s, s:f, s:s, s:s}, {s:s, s:f, s:s, s:f, s:s}]", "name", "C10", "value", -12.5, "unit", "nm",
	                 "standard_error", 0.03, "status", "fitted", "name", "C12", "value", 2.25, "unit", "nm", "status", "fixed", "name", "rotation",
	                 "value", 29.5, "unit", "deg", "standard_error", 0.125, "status", "fitted");
}

/* phase[r, c] = (r + 100 c) / 1000 rad: no symmetry. One pixel of `hole` holds no number. */
static void write_phase(const char *folder, const char *name, size_t rows, size_t columns, double row_A, double column_A, bool hole)
{
	char path[400];
	ssb_error err;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	float *phase = malloc(rows * columns * sizeof *phase);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < columns; c++)
			phase[r * columns + c] = (float)(r + 100 * c) / 1000;
	if (hole)
		phase[columns + 2] = NAN;
	json_t *meta = json_pack("{s:s, s:[f,f], s:[i,i], s:f, s:b, s:o}", "estimator", "ls", "sampling_A", row_A, column_A, "scan_shape", (int)rows,
	                         (int)columns, "high_tension_kV", 300.0, "transposed", 0, "parameters", parameters());
	json_object_set_new(meta, "../key/of/a/path", json_real(1)); /* names no file in an archive */
	json_t *history = json_pack("[{s:s, s:s}]", "tool", "ssb-recon", "version", "0");
	const ssb_array array = image("phase", SSB_F4, rows, columns, "rad");
	finish(ssb_writer_open(path, SSB_PHASE, meta, history, &array, 1, &err), phase, path);
	json_decref(meta);
	json_decref(history);
	free(phase);
}

/* As ssb-recon makes it without a fit: the optics alone say what was applied. */
static void write_phase_of_options(const char *folder)
{
	char path[400];
	ssb_error err;
	const float phase[4] = {0, 1, 2, 3};
	snprintf(path, sizeof path, "%s/options.phase", folder);
	json_t *meta = json_pack("{s:[f,f], s:{s:f, s:f, s:b, s:[f,f]}}", "sampling_A", 0.25, 0.25, "optics", "C10_nm", -3.5, "rotation_deg", 10.0,
	                         "transposed", 1, "tilt_mrad", 1.0, 2.0);
	json_t *history = json_array();
	const ssb_array array = image("phase", SSB_F4, 2, 2, "rad");
	finish(ssb_writer_open(path, SSB_PHASE, meta, history, &array, 1, &err), phase, path);
	json_decref(meta);
	json_decref(history);
}

/* sum_pattern[r, c] = offset + r + 100 c of 33 x 47. */
static void write_region(const char *folder, const char *name, uint64_t offset)
{
	char path[400];
	ssb_error err;
	uint64_t counts[33 * 47];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		counts[i] = offset + i / 47 + 100 * (i % 47);
	json_t *meta = json_pack("{s:[i,i], s:i}", "detector_shape", 33, 47, "frames_summed", 7), *history = json_array();
	const ssb_array array = image("sum_pattern", SSB_U8, 33, 47, "counts");
	finish(ssb_writer_open(path, SSB_REGION, meta, history, &array, 1, &err), counts, path);
	json_decref(meta);
	json_decref(history);
}

static void write_fit(const char *folder)
{
	char path[400];
	ssb_error err;
	const double covariance[4] = {1, 0.5, 0.5, 2};
	snprintf(path, sizeof path, "%s/a.fit", folder);
	json_t *meta = json_pack("{s:o, s:{s:f}, s:s, s:[{s:s, s:s}]}", "parameters", parameters(), "objective", "explained", 0.5, "stopped",
	                         "converged", "warnings", "tool", "ssb-fit", "text", "an optimum on the edge");
	json_t *history = json_array();
	const ssb_array array = image("covariance", SSB_F8, 2, 2, "1");
	finish(ssb_writer_open(path, SSB_FIT, meta, history, &array, 1, &err), covariance, path);
	json_decref(meta);
	json_decref(history);
}

static void write_spectrum(const char *folder)
{
	char path[400];
	ssb_error err;
	snprintf(path, sizeof path, "%s/a.spectrum", folder);
	json_t *meta = json_object(), *history = json_array();
	finish(ssb_writer_open(path, SSB_SPECTRUM, meta, history, NULL, 0, &err), NULL, path);
	json_decref(meta);
	json_decref(history);
}

static int write_containers(const char *folder)
{
	write_phase(folder, "a.phase", 33, 47, 0.25, 0.25, false);
	write_phase(folder, "oblong.phase", 33, 47, 0.3, 0.2, false);
	write_phase(folder, "hole.phase", 33, 47, 0.25, 0.25, true);
	write_phase(folder, "tiny.phase", 1, 2, 0.25, 0.25, false);
	write_phase(folder, "wide.phase", 40, 1100, 0.25, 0.25, false);
	write_phase_of_options(folder);
	write_region(folder, "a.region", 0);
	write_region(folder, "bright.region", 1u << 30);
	write_region(folder, "huge.region", (uint64_t)1 << 60);
	write_fit(folder);
	write_spectrum(folder);
	return 0;
}

/* ---- the parts ---- */

static void test_bytes(void)
{
	bytes out = {0};
	ssb_error err;
	CHECK(bytes_append(&out, "abc", 3, &err) && bytes_put(&out, 6, "x", 1, &err) && out.size == 7 && !memcmp(out.data, "abc\0\0\0x", 7),
	      "bytes beyond the end leave zeros between");
	CHECK(bytes_put(&out, 1, "B", 1, &err) && out.size == 7 && out.data[1] == 'B', "bytes within are replaced");
	CHECK(!bytes_put(&out, SIZE_MAX, "xy", 2, &err), "a size that overflows fails");
	bytes_free(&out);
}

static void test_percentiles(void)
{
	enum { ROWS = 37, COLUMNS = 41, PIXELS = ROWS * COLUMNS };
	float values[PIXELS];
	ssb_error err;
	double limits[2];
	save_content content = {.kind = SSB_PHASE, .pages = 1, .rows = ROWS, .columns = COLUMNS, .phase = values};
	for (size_t i = 0; i < PIXELS; i++)
		values[i] = (float)(i * 577 % PIXELS); /* 0 … PIXELS - 1, shuffled */
	CHECK(content_percentiles(&content, (double[]){0, 100}, limits, &err) && limits[0] == 0 && limits[1] == PIXELS - 1, "the extremes");
	CHECK(content_percentiles(&content, (double[]){25, 99.5}, limits, &err) && fabs(limits[0] - 0.25 * (PIXELS - 1)) < 1e-9 &&
	          fabs(limits[1] - 0.995 * (PIXELS - 1)) < 1e-9, "between two ranks: %.17g %.17g", limits[0], limits[1]);
	for (size_t i = 0; i < PIXELS; i++)
		values[i] = i < 3 ? NAN : 4;
	CHECK(content_percentiles(&content, (double[]){0.5, 99.5}, limits, &err) && limits[0] == 4 && limits[1] == 4, "equal values, some without a number");
	for (size_t i = 0; i < PIXELS; i++)
		values[i] = INFINITY;
	CHECK(content_percentiles(&content, (double[]){0.5, 99.5}, limits, &err) && limits[0] == 0 && limits[1] == 0, "no finite value at all");
}

static double lightness(const double color[3])
{
	double linear[3];
	for (int c = 0; c < 3; c++)
		linear[c] = color[c] <= 0.04045 ? color[c] / 12.92 : pow((color[c] + 0.055) / 1.055, 2.4);
	return 116 * cbrt(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]) - 16;
}

static void test_colormaps(void)
{
	const char *const names[] = {"gray", "viridis", "magma", "coolwarm"};
	for (int map = 0; map < 4; map++) {
		double before = -100, color[3], worst = 0;
		int inside = 1;
		for (int i = 0; i <= 1000; i++) {
			const double t = i / 1000.0;
			colormap_color(map, t, color);
			for (int c = 0; c < 3; c++)
				inside &= color[c] >= 0 && color[c] <= 1;
			const double light = map == 3 && t > 0.5 ? -lightness(color) : lightness(color);
			if (map == 3 && i == 501)
				before = -200;
			worst = fmin(worst, light - before);
			before = light;
		}
		CHECK(inside && worst >= 0, "%s: colours in range, lightness goes one way (%g)", names[map], worst);
	}
}

static void scale(double limit_A, double length_A, const char *expected)
{
	char label[16];
	const double length = scalebar_length(limit_A, label);
	CHECK(fabs(length - length_A) < 1e-12 * length_A && !strcmp(label, expected), "at most %g A: '%s' (%s, %g)", limit_A, expected, label, length);
}

static void test_scalebar(void)
{
	scale(4.9, 2, "2 Å");
	scale(5, 5, "5 Å");
	scale(9.99, 5, "5 Å");
	scale(12, 10, "1 nm");
	scale(73, 50, "5 nm");
	scale(2100, 2000, "200 nm");
	scale(0.6, 0.5, "50 pm");
	scale(0.012, 0.01, "1 pm");
	save_picture small = {.width = 20, .height = 20, .tile = {20, 20}, .across = 1, .channels = 1, .maximum = 255, .samples = calloc(400, 2)};
	CHECK(!scalebar_draw(&small, 6, "5 Å"), "no scale bar where there is no room");
	free(small.samples);
	save_picture large = {.width = 300, .height = 300, .tile = {300, 300}, .across = 1, .channels = 1, .maximum = 255, .samples = calloc(90000, 2)};
	CHECK(scalebar_draw(&large, 60, "50 pm") && !scalebar_draw(&large, 60, "0;5 pm"), "nor a label that can only be drawn in part");
	free(large.samples);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return write_containers(argv[1]);
	test_bytes();
	test_percentiles();
	test_colormaps();
	test_scalebar();
	return test_end();
}
