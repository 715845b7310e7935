/* The Fourier ring correlation of ssb-recon: known images, and where curves cross their thresholds (tests/recon.bats compares with numpy). */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "tools/ssb-recon/frc.h"

enum { ROWS = 9, COLUMNS = 14 };
static const double sampling_A[2] = {0.5, 0.25};

/* A wave of (row, column) periods in both images, in the second of another phase. */
static void add_wave(double *images, int row, int column, double amplitude, double shift)
{
	for (int i = 0; i < 2; i++)
		for (int r = 0; r < ROWS; r++)
			for (int c = 0; c < COLUMNS; c++)
				images[(i * ROWS + r) * COLUMNS + c] += amplitude * cos(2 * M_PI * ((double)row * r / ROWS + (double)column * c / COLUMNS) + i * shift);
}

static void test_images(void)
{
	double images[2 * ROWS * COLUMNS] = {0};
	ring_correlation frc;
	ssb_error err;
	add_wave(images, 0, 1, 1, 0);         /* 0.286 1/A: ring 1 of 0.286 */
	add_wave(images, 0, 2, 1, M_PI / 3);  /* ring 2: cos 60 degrees */
	add_wave(images, -4, 0, 0.5, M_PI);   /* 0.889 1/A: ring 3, opposite */
	CHECK(frc_make(&frc, images, ROWS, COLUMNS, sampling_A, 1.1, &err), "the correlation is made");
	CHECK(frc.rings == 3, "three whole rings below 1.1 1/A (%zu)", frc.rings);
	CHECK(fabs(frc.width_per_A - 1 / (COLUMNS * sampling_A[1])) < 1e-12, "a ring is a step of the coarser axis (%g)", frc.width_per_A);
	CHECK(fabs(frc.correlation[0] - 1) < 1e-9 && fabs(frc.correlation[1] - 0.5) < 1e-9 && fabs(frc.correlation[2] + 1) < 1e-9,
	      "correlations 1, 0.5, -1: %g, %g, %g", frc.correlation[0], frc.correlation[1], frc.correlation[2]);
	double pixels = 0;
	for (int r = -4; r <= 4; r++)
		for (int c = -7; c < 7; c++) {
			const double q = hypot(r / (ROWS * sampling_A[0]), c / (COLUMNS * sampling_A[1])) / frc.width_per_A;
			pixels += q >= 1.5 && q < 2.5;
		}
	CHECK(frc.pixels[1] == pixels, "pixels of the whole plane in a ring: %g, counted %g", frc.pixels[1], pixels);
	frc_free(&frc);
	CHECK(frc_make(&frc, images, ROWS, COLUMNS, sampling_A, 0.4, &err) && frc.rings == 0, "no whole ring below a low limit");
	CHECK(!frc_crossing(&frc, NULL).above, "and nothing crosses");
	frc_free(&frc);
}

static ring_crossing crossing_of(double *correlation, size_t rings, const double *threshold)
{
	const ring_correlation frc = {.width_per_A = 0.5, .rings = rings, .correlation = correlation};
	return frc_crossing(&frc, threshold);
}

static void test_crossings(void)
{
	ring_crossing c = crossing_of((double[]){0.9, 0.643, -0.057, 0.9}, 4, NULL);
	CHECK(c.above && c.from_per_A == 0.5 && c.crosses && fabs(c.at_per_A - (1 + 0.5 * 0.5 / 0.7)) < 1e-12, "the first fall below 0.143, between two rings: %g",
	      c.at_per_A);
	c = crossing_of((double[]){0.1, 0.9, 0.2, 0.1}, 4, (double[]){0.6, 0.5, 0.4, 0.3});
	CHECK(c.from_per_A == 1 && c.crosses && fabs(c.at_per_A - (1 + 0.5 * 0.4 / 0.6)) < 1e-12, "a weak first ring is passed over: %g", c.at_per_A);
	c = crossing_of((double[]){0.9, 0.8}, 2, NULL);
	CHECK(c.above && !c.crosses, "a curve that stays above does not cross");
	c = crossing_of((double[]){0.1, -0.8}, 2, NULL);
	CHECK(!c.above && !c.crosses, "one that stays below does not either");
	c = crossing_of((double[]){0.9, NAN}, 2, NULL);
	CHECK(c.crosses && c.at_per_A == 0.5, "where nothing is there, it ends: %g", c.at_per_A);
	CHECK(fabs(frc_half_bit(1e12) - 0.2071 / 1.2071) < 1e-5 && fabs(frc_half_bit(4) - 1.1622 / 1.6622) < 1e-12, "the half-bit threshold");
}

static const char *result_of(double *correlation, const char *key, json_t **json)
{
	double pixels[] = {8, 16};
	ssb_error err;
	const ring_correlation frc = {.width_per_A = 0.5, .rings = 2, .correlation = correlation, .pixels = pixels};
	*json = frc_to_json(&frc, 1.3, "Nyquist", &err);
	return json_string_value(json_object_get(json_object_get(*json, key), "result"));
}

static void test_json(void)
{
	json_t *json;
	CHECK(!strcmp(result_of((double[]){0.99, 0.98}, "half_bit", &json), "does not cross below Nyquist"), "said where it does not cross");
	json_decref(json);
	CHECK(!strcmp(result_of((double[]){0, 0}, "fixed_0143", &json), "below it in every ring"), "said where it is nowhere above");
	json_decref(json);
	CHECK(!strcmp(result_of((double[]){0.9, NAN}, "half_bit", &json), "crosses") &&
	          json_is_null(json_array_get(json_object_get(json, "correlation"), 1)), "no number is null, never NaN");
	json_decref(json);
}

int main(void)
{
	test_images();
	test_crossings();
	test_json();
	return test_end();
}
