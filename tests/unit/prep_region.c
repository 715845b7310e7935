/* Regions that are whole containers but contradict themselves: ssb-prep refuses each and says why. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/test.h"
#include "tools/ssb-prep/spectrum.h"

enum { R = 4, C = 5, SIDE = 20, FRAME = SIDE * SIDE };

/* What a sample is made of; each test spoils one thing. */
typedef struct sample {
	json_t *meta;
	ssb_array array[5];
	uint8_t scan_valid[R * C], flags[FRAME];
	uint16_t counts[R * C][FRAME];
	uint64_t sum[FRAME], largest[FRAME];
} sample;

static sample s;
static char path[64];

static void begin(void)
{
	s = (sample){
		.meta = json_pack("{s:[ii], s:[ii], s:[ii], s:[ii], s:i, s:s}", "scan_shape", R, C, "scan_origin", 0, 0, "detector_shape", SIDE,
		                  SIDE, "detector_origin", 0, 0, "frames_summed", R * C, "flagged_pixels", "left out"),
		.array = {
			{"scan_valid", SSB_U1, SSB_RAW, 2, {R, C}, R * C, "1"},
			{"counts", SSB_U2, SSB_RAW, 4, {R, C, SIDE, SIDE}, 3 * FRAME, "counts"},
			{"sum_pattern", SSB_U8, SSB_RAW, 2, {SIDE, SIDE}, FRAME, "counts"},
			{"largest_count", SSB_U8, SSB_RAW, 2, {SIDE, SIDE}, FRAME, "counts"},
			{"pixel_flags", SSB_U1, SSB_RAW, 2, {SIDE, SIDE}, FRAME, "1"},
		},
	};
	memset(s.scan_valid, 1, sizeof s.scan_valid);
	for (int i = 0; i < R * C; i++)
		for (int p = 0; p < FRAME; p++) {
			const int row = p / SIDE, column = p % SIDE;
			s.counts[i][p] = hypot(row - 9, column - 10) < 5.5 ? (uint16_t)(50 + i * p % 7) : 0;
			s.sum[p] += s.counts[i][p];
			s.largest[p] = s.counts[i][p] > s.largest[p] ? s.counts[i][p] : s.largest[p];
		}
}

static void write_sample(void)
{
	const void *data[] = {s.scan_valid, s.counts, s.sum, s.largest, s.flags};
	json_t *history = json_array();
	ssb_error err = {SSB_OK, ""};
	ssb_writer *writer = ssb_writer_open(path, SSB_REGION, s.meta, history, s.array, 5, &err);
	for (int i = 0; writer && i < 5; i++)
		if (!ssb_write_array(writer, data[i], &err))
			break;
	if (!writer || !ssb_writer_finish(writer, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	json_decref(history);
	json_decref(s.meta);
}

/* Load and prepare the sample with these settings; the status. */
static enum ssb_status attempt(const settings *given, ssb_error *err)
{
	region r;
	spectrum spectrum_ = {0};
	*err = (ssb_error){SSB_OK, ""};
	write_sample();
	const bool ok = region_load(&r, path, given->memory, err) && spectrum_prepare(&spectrum_, &r, given, NULL, err);
	spectrum_free(&spectrum_);
	region_close(&r);
	return ok ? SSB_OK : err->status;
}

static const settings usual = {.kilovolt = 300, .semiangle_mrad = 30, .step_A = {0.3, 0.3}, .transposition = TRANSPOSITION_OPEN,
                               .memory = 1 << 28, .threads = 1};

static void check_refused(const char *what, const char *words)
{
	ssb_error err;
	CHECK(attempt(&usual, &err) == SSB_BAD_INPUT && strstr(err.text, words), "%s: %s", what, err.text);
}

static void test_header(void)
{
	const char *keys[] = {"scan_shape", "scan_origin", "detector_shape", "detector_origin", "frames_summed", "flagged_pixels"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		begin();
		json_object_del(s.meta, keys[i]);
		check_refused("a key is missing", keys[i]);
		begin();
		json_object_set_new(s.meta, keys[i], json_integer(-1));
		check_refused("a key is of another type", keys[i]);
	}
	begin();
	json_object_set_new(s.meta, "scan_shape", json_pack("[ii]", C, R));
	check_refused("scan shape swapped", "the header says");
	begin();
	json_object_set_new(s.meta, "scan_shape", json_pack("[ii]", 0, C));
	check_refused("no scan", "empty");
	begin();
	json_object_set_new(s.meta, "detector_origin", json_pack("[ii]", 0, 1));
	check_refused("counts beyond the detector", "outside of the detector");
	begin();
	json_object_set_new(s.meta, "detector_origin", json_pack("[II]", (json_int_t)0, (json_int_t)INT64_MAX));
	check_refused("counts far beyond it", "outside of the detector");
	begin();
	json_object_set_new(s.meta, "frames_summed", json_integer(R * C - 1));
	check_refused("another number of frames", "19 frames");
	begin();
	json_object_set_new(s.meta, "flagged_pixels", json_string("maybe"));
	check_refused("an unknown policy", "'maybe'");
}

static void test_arrays(void)
{
	begin();
	strcpy(s.array[4].name, "flags");
	check_refused("an array is missing", "pixel_flags");
	begin();
	s.array[1].chunk_elements = FRAME + 1;
	check_refused("frames cut by chunks", "whole frames");
	begin();
	s.array[1].dtype = SSB_I4, s.array[1].shape[3] /= 2;
	check_refused("signed counts", "i4");
	begin();
	s.scan_valid[7] = 2;
	check_refused("validity is neither", "position 7");
	begin();
	s.sum[9 * SIDE + 10] += 1;
	check_refused("sum pattern and counts disagree", "9,10");
}

static void test_flags(void)
{
	ssb_error err;
	begin();
	s.flags[9 * SIDE + 10] = 4;
	s.sum[9 * SIDE + 10] = 0;
	CHECK(attempt(&usual, &err) == SSB_OK, "a flagged pixel is left out, whatever it sums to (%s)", err.text);
	begin();
	s.flags[9 * SIDE + 10] = 4;
	s.sum[9 * SIDE + 10] = 0;
	json_object_set_new(s.meta, "flagged_pixels", json_string("used"));
	check_refused("but not when flagged pixels are used", "9,10");
}

int main(void)
{
	ssb_error err;
	snprintf(path, sizeof path, "/tmp/prep_region.%ld", (long)getpid());
	begin();
	CHECK(attempt(&usual, &err) == SSB_OK, "the sample is good (%s)", err.text);
	test_header();
	test_arrays();
	test_flags();
	remove(path);
	return test_end();
}
