/* Spectra that are whole containers but contradict themselves: the evidence is refused and says why. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/test.h"
#include "tools/transfer/evidence.h"

enum { Q = 2, B = 3 };

static json_t *sample_meta(void)
{
	return json_pack("{s:f, s:f, s:[ff], s:[ff], s:f, s:[ii], s:[ff]}", "wavelength_A", 0.025, "semiangle_mrad", 30.0, "detector_sampling_mrad",
	                 3.0, 3.0, "bf_centre_px", 5.0, 5.0, "I0_counts", 2.0, "scan_shape", 4, 5, "scan_step_A", 0.3, 0.3);
}

static const double none[1], stored[Q] = {7, 8};
static enum ssb_dtype stored_as = SSB_C8; /* G */

/* excess: `none` for a file without, else `count` of them. */
static void write_excess(const char *path, json_t *meta, const double *excess, uint64_t count)
{
	const int32_t pixel[B][2] = {{5, 4}, {5, 5}, {6, 5}}, q[Q][2] = {{0, 0}, {0, 1}};
	const uint64_t sum[B] = {40, 41, 39};
	const float G[Q][B][2] = {{{40, 0}, {41, 0}, {39, 0}}};
	const uint16_t halves[Q][B][2] = {{{0x4d00, 0}, {0x4d20, 0}, {0x4ce0, 0}}}; /* 20, 20.5, 19.5 */
	const ssb_array array[] = {{"pixel_index", SSB_I4, SSB_RAW, 2, {B, 2}, B * 2, "px"},
	                           {"counts_sum", SSB_U8, SSB_RAW, 1, {B}, B, "counts"},
	                           {"q_index", SSB_I4, SSB_RAW, 2, {Q, 2}, Q * 2, "1"},
	                           {"G", stored_as, SSB_RAW, 2, {Q, B}, B, "counts"},
	                           {"excess", SSB_F8, SSB_RAW, 1, {count}, Q, "counts^2"}};
	const void *data[] = {pixel, sum, q, stored_as == SSB_C4 ? (const void *)halves : G, excess};
	const int arrays = excess == none ? 4 : 5;
	json_t *history = json_array();
	ssb_error err = {SSB_OK, ""};
	ssb_writer *writer = ssb_writer_open(path, SSB_SPECTRUM, meta, history, array, (size_t)arrays, &err);
	bool ok = writer;
	for (int i = 0; ok && i < arrays; i++)
		ok = ssb_write_array(writer, data[i], &err);
	if (!ok || !ssb_writer_finish(writer, &err))
		exit(fprintf(stderr, "%s\n", err.text));
	json_decref(history);
	json_decref(meta);
}

static void write_sample(const char *path, json_t *meta)
{
	write_excess(path, meta, none, 0);
}

/* A byte of the last bin is wrong: the others are read, that one is zeros and a failure, also when it was never asked for. */
static void check_damage(bool ask)
{
	enum { END_RECORD = 64, PAYLOAD = 64 };
	char path[] = "/tmp/evidence-XXXXXX";
	const int file = mkstemp(path);
	if (file < 0)
		exit(1);
	write_sample(path, sample_meta());
	ssb_error err = {SSB_OK, ""};
	const int damaged = open(path, O_WRONLY);
	if (pwrite(damaged, "x", 1, lseek(damaged, 0, SEEK_END) - END_RECORD - PAYLOAD) != 1)
		exit(1);
	close(damaged);
	close(file);
	ssb_reader *spectrum = ssb_reader_open_kind(path, SSB_SPECTRUM, 1 << 20, &err);
	evidence *e = spectrum ? evidence_load(spectrum, &err) : NULL;
	float complex scratch[B];
	CHECK(e && crealf(evidence_G(e, 0, 1, 1, scratch)[0]) == 41 && evidence_is_sound(e, &err), "a chunk before the damage is read %s", err.text);
	if (ask)
		CHECK(crealf(evidence_G(e, 1, 0, B, scratch)[0]) == 0 && !evidence_is_sound(e, &err), "the damaged chunk is not");
	CHECK(!evidence_verify(e, &err) && strstr(err.text, "chunk 1 of 'G' fails its checksum"), "the evidence as a whole: %s", err.text);
	evidence_free(e);
	ssb_reader_close(spectrum);
	unlink(path);
}

/* Loads what `meta` (taken over) describes: refused with these words, or accepted (NULL). */
static void check_load(json_t *meta, const char *words)
{
	char path[] = "/tmp/evidence-XXXXXX";
	const int file = mkstemp(path);
	if (file < 0)
		exit(1);
	close(file);
	write_sample(path, meta);
	ssb_error err = {SSB_OK, ""};
	ssb_reader *spectrum = ssb_reader_open_kind(path, SSB_SPECTRUM, 1 << 20, &err);
	evidence *e = spectrum ? evidence_load(spectrum, &err) : NULL;
	if (words)
		CHECK(!e && err.status == SSB_BAD_INPUT && strstr(err.text, words), "refused: %s", err.text);
	else
		CHECK(e && e->bins == Q && e->pixels == B && evidence_sigma2(e) == 40, "the sample itself is accepted %s", err.text);
	evidence_free(e);
	ssb_reader_close(spectrum);
	unlink(path);
}

/* The excess of every bin is taken from the file, else from G; one that cannot be is refused. */
static void check_excess(const double *excess, uint64_t count, double expected, const char *words)
{
	char path[] = "/tmp/evidence-XXXXXX";
	const int file = mkstemp(path);
	if (file < 0)
		exit(1);
	close(file);
	write_excess(path, sample_meta(), excess, count);
	ssb_error err = {SSB_OK, ""};
	ssb_reader *spectrum = ssb_reader_open_kind(path, SSB_SPECTRUM, 1 << 20, &err);
	evidence *e = spectrum ? evidence_load(spectrum, &err) : NULL;
	if (words)
		CHECK(!e && err.status == SSB_BAD_INPUT && strstr(err.text, words), "refused: %s", err.text);
	else
		CHECK(e && evidence_excess(e, 1) == expected, "excess %g %s", expected, err.text);
	evidence_free(e);
	ssb_reader_close(spectrum);
	unlink(path);
}

/* The same G in halves, in units of 2: what is read is G, from a bin's start or within it. */
static void check_halves(double scale, const char *words)
{
	char path[] = "/tmp/evidence-XXXXXX";
	const int file = mkstemp(path);
	if (file < 0)
		exit(1);
	close(file);
	json_t *meta = sample_meta();
	if (scale)
		json_object_set_new(meta, "G_scale", json_real(scale));
	stored_as = SSB_C4;
	write_sample(path, meta);
	stored_as = SSB_C8;
	ssb_error err = {SSB_OK, ""};
	float complex scratch[B];
	ssb_reader *spectrum = ssb_reader_open_kind(path, SSB_SPECTRUM, 1 << 20, &err);
	evidence *e = spectrum ? evidence_load(spectrum, &err) : NULL;
	if (words)
		CHECK(!e && err.status == SSB_BAD_INPUT && strstr(err.text, words), "refused: %s", err.text);
	else {
		CHECK(e && crealf(evidence_G(e, 0, 0, B, scratch)[0]) == 40 && crealf(scratch[2]) == 39, "halves of a bin %s", err.text);
		CHECK(crealf(evidence_G(e, 0, 1, 1, scratch)[0]) == 41 && evidence_excess(e, 1) == -120, "within a bin, and the next");
	}
	evidence_free(e);
	ssb_reader_close(spectrum);
	unlink(path);
}

static json_t *with(const char *key, json_t *value)
{
	json_t *meta = sample_meta();
	json_object_set_new(meta, key, value);
	return meta;
}

int main(void)
{
	check_load(sample_meta(), NULL);
	check_load(with("scan_shape", json_pack("[ii]", 4, 0)), "4 x 0 positions");
	check_load(with("scan_shape", json_pack("[II]", (json_int_t)1 << 32, (json_int_t)1 << 32)), "positions cannot be");
	check_load(with("filled_positions", json_integer(20)), "no position has a frame");
	check_excess(none, 0, -120, NULL);
	check_excess(stored, Q, 8, NULL);
	check_excess(stored, 1, 0, "'excess' does not fit");
	check_excess((const double[]){1, INFINITY}, Q, 0, "entry 1 is not finite");
	check_halves(2, NULL);
	check_halves(0, "G_scale");
	check_halves(-1, "G_scale");
	check_halves(1e-50, "beyond single precision");
	check_damage(false);
	check_damage(true);
	return test_end();
}
