/* Every truncation and every flipped bit of a small container, from a file and from a pipe; and the golden files. */
#include "tests/unit/containers.h"
#include "tests/unit/test.h"

enum { LIMIT = 1 << 20 };

static struct bytes sample(enum ssb_codec codec)
{
	char path[] = "/tmp/container.XXXXXX";
	ssb_error err;
	close(mkstemp(path));
	CHECK(write_sample(path, codec, &err), "the sample is written");
	struct bytes bytes = slurp(path);
	unlink(path);
	return bytes;
}

static void test_truncation(const struct bytes *whole, int as_pipe)
{
	uint64_t hash;
	size_t refused = 0;
	ssb_error err;
	for (size_t size = 0; size < whole->size; size++) {
		err.status = SSB_OK;
		if (!read_bytes(whole->data, size, as_pipe, LIMIT, &hash, &err) && err.status == SSB_BAD_INPUT)
			refused++;
		else
			printf("# %zu bytes: status %d, %s\n", size, err.status, err.text);
	}
	CHECK(read_bytes(whole->data, whole->size, as_pipe, LIMIT, &hash, &err), "%s: the whole is read", as_pipe ? "pipe" : "file");
	CHECK(refused == whole->size, "%s: bad input at each of %zu lengths", as_pipe ? "pipe" : "file", whole->size);
}

static void test_flips(const struct bytes *whole, int as_pipe)
{
	uint64_t hash;
	size_t refused = 0;
	ssb_error err;
	for (size_t bit = 0; bit < 8 * whole->size; bit++) {
		whole->data[bit / 8] ^= (unsigned char)(1U << bit % 8);
		err.status = SSB_OK;
		if (!read_bytes(whole->data, whole->size, as_pipe, LIMIT, &hash, &err) && err.status == SSB_BAD_INPUT)
			refused++;
		else
			printf("# bit %zu: status %d, %s\n", bit, err.status, err.text);
		whole->data[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
	CHECK(refused == 8 * whole->size, "%s: bad input at each of %zu flipped bits", as_pipe ? "pipe" : "file", 8 * whole->size);
}

/* A container whose reader passes over the payloads must still see their damage at the end. */
static void test_passed_over(const struct bytes *whole)
{
	char path[32], digest[17];
	int fd;
	ssb_error err;
	whole->data[whole->size - 128] ^= 1;
	ssb_reader *reader = ssb_reader_open(offer(whole->data, whole->size, 1, &fd, path), LIMIT, &err);
	CHECK(reader && !ssb_reader_finish(reader, digest, &err) && strstr(err.text, "chunk 1 of 'G' fails its checksum"),
	      "damage in a chunk that a pipe passes over: %s", err.text);
	ssb_reader_close(reader);
	close(fd);
	whole->data[whole->size - 128] ^= 1;
}

static bool same_arrays(ssb_reader *reader, const json_t *expected, ssb_error *err)
{
	bool ok = json_object_size(expected) == ssb_reader_arrays(reader);
	for (size_t i = 0; ok && i < ssb_reader_arrays(reader); i++) {
		uint64_t hash;
		char text[17];
		ok = hash_array(reader, i, &hash, err);
		snprintf(text, sizeof text, "%016llx", ok ? (unsigned long long)hash : 0);
		const char *wanted = json_string_value(json_object_get(expected, ssb_reader_array(reader, i)->name));
		ok = ok && wanted && strcmp(text, wanted) == 0;
	}
	return ok;
}

static void test_good(const char *name, const char *path, const json_t *expected)
{
	ssb_error err = {0};
	char digest[17] = "";
	ssb_reader *reader = ssb_reader_open(path, LIMIT, &err);
	const bool ok = reader && same_arrays(reader, json_object_get(expected, "arrays"), &err) && ssb_reader_finish(reader, digest, &err);
	CHECK(ok && strcmp(digest, json_string_value(json_object_get(expected, "digest"))) == 0, "%s: arrays and digest %s", name, err.text);
	ssb_reader_close(reader);
}

static void test_bad(const char *name, const char *path, const char *words)
{
	ssb_error err = {0};
	uint64_t hash;
	CHECK(!read_all(path, LIMIT, &hash, &err) && err.status == SSB_BAD_INPUT && strstr(err.text, words), "%s: %s", name, err.text);
}

static void test_golden(void)
{
	json_t *expected = json_load_file("tests/golden/format/expected.json", 0, NULL), *entry;
	const char *name;
	CHECK(json_object_size(expected) > 60, "there are golden files");
	json_object_foreach(expected, name, entry) {
		char source[256], path[32];
		snprintf(source, sizeof source, "tests/golden/format/%s", name);
		struct bytes bytes = slurp(source);
		const char *words = json_string_value(json_object_get(entry, "refused"));
		for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
			int fd;
			offer(bytes.data, bytes.size, as_pipe, &fd, path);
			if (words)
				test_bad(name, path, words);
			else
				test_good(name, path, entry);
			close(fd);
		}
		free(bytes.data);
	}
	json_decref(expected);
}

int main(void)
{
	for (enum ssb_codec codec = SSB_RAW; codec <= SSB_ZSTD; codec++) {
		struct bytes whole = sample(codec);
		for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
			test_truncation(&whole, as_pipe);
			test_flips(&whole, as_pipe);
		}
		test_passed_over(&whole);
		free(whole.data);
	}
	test_golden();
	return test_end();
}
