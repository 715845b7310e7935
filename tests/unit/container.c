/* Round trips of every dtype, codec and rank; files against pipes; what writer and reader refuse; the memory limit; threads.
 * With arguments raw|zstd PATH: writes the sample there (for the suites). */
#include "tests/unit/containers.h"
#include "tests/unit/test.h"

enum { LIMIT = 1 << 20 };

static json_t *meta, *history;
static char scratch[] = "/tmp/container.XXXXXX";

static bool write_arrays(const char *path, const ssb_array *arrays, size_t count, const void *elements, ssb_error *err)
{
	ssb_writer *writer = ssb_writer_open(path, SSB_FIT, meta, history, arrays, count, err);
	bool ok = writer != NULL;
	for (size_t i = 0; ok && i < count; i++)
		ok = ssb_write_array(writer, elements, err);
	if (ok)
		return ssb_writer_finish(writer, err);
	ssb_writer_discard(writer);
	return false;
}

/* What write_arrays puts into a pipe. */
static struct bytes piped(const ssb_array *arrays, size_t count, const void *elements)
{
	int ends[2];
	char path[32];
	ssb_error err;
	struct bytes bytes = {malloc(PIPE_BYTES), 0};
	if (pipe(ends) != 0 || !bytes.data)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
	const bool ok = write_arrays(path, arrays, count, elements, &err);
	close(ends[1]);
	const ssize_t got = read(ends[0], bytes.data, PIPE_BYTES);
	close(ends[0]);
	bytes.size = ok && got > 0 ? (size_t)got : 0;
	return bytes;
}

static bool same_entry(const ssb_array *a, const ssb_array *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 && a->dtype == b->dtype && a->codec == b->codec &&
	       a->rank == b->rank && a->chunk_elements == b->chunk_elements;
}

static bool same_back(const struct bytes *bytes, int as_pipe, const ssb_array *array, const unsigned char *elements)
{
	char path[32];
	int fd;
	uint64_t shape[SSB_MAX_RANK];
	ssb_error err;
	const size_t size = ssb_array_elements(array) * ssb_dtype_size(array->dtype);
	ssb_reader *reader = ssb_reader_open(offer(bytes->data, bytes->size, as_pipe, &fd, path), LIMIT, &err);
	void *back = reader ? ssb_load_array(reader, array->name, array->dtype, array->rank, shape, &err) : NULL;
	const bool same = back && memcmp(back, elements, size) == 0 && memcmp(shape, array->shape, array->rank * sizeof *shape) == 0 &&
	                  same_entry(ssb_reader_array(reader, 0), array);
	free(back);
	ssb_reader_close(reader);
	close(fd);
	return same;
}

static void test_round_trip(enum ssb_dtype dtype, enum ssb_codec codec, unsigned rank, int empty)
{
	static const uint64_t extents[SSB_MAX_RANK] = {3, 2, 5, 1, 4, 2};
	static unsigned char elements[240 * 16];
	ssb_array array = {"x", dtype, codec, rank, {0}, 7, "1"};
	ssb_error err;
	for (unsigned i = 0; i < rank; i++)
		array.shape[i] = i == rank / 2 && empty ? 0 : extents[i];
	for (size_t i = 0; i < sizeof elements; i++)
		elements[i] = (unsigned char)(i % 16 < 4 ? i * i / 16 : 1);
	const bool written = write_arrays(scratch, &array, 1, elements, &err);
	struct bytes file = slurp(scratch), pipe = piped(&array, 1, elements);
	CHECK(written && file.size == pipe.size && memcmp(file.data, pipe.data, file.size) == 0 &&
	              same_back(&file, 0, &array, elements) && same_back(&file, 1, &array, elements),
	      "%s %s of rank %u%s, from file and pipe", ssb_dtype_name(dtype), codec ? "zstd" : "raw", rank, empty ? ", empty" : "");
	free(file.data);
	free(pipe.data);
}

static void test_narrowing(void)
{
	static const uint64_t value[] = {0, 255, 7};
	for (enum ssb_dtype dtype = SSB_U1; dtype <= SSB_U8; dtype++)
		for (enum ssb_dtype stored = SSB_U1; stored <= dtype; stored++) {
			const size_t width = ssb_dtype_size(stored), wide = ssb_dtype_size(dtype);
			const ssb_array array = {"n", dtype, SSB_RAW, 1, {3}, 3, "counts"};
			unsigned char narrow[24], expected[24];
			ssb_error err = {0};
			for (size_t i = 0; i < 3; i++) {
				memcpy(narrow + i * width, &value[i], width);
				memcpy(expected + i * wide, &value[i], wide);
			}
			ssb_writer *writer = ssb_writer_open(scratch, SSB_FIT, meta, history, &array, 1, &err);
			const bool ok = writer && ssb_write_chunk(writer, narrow, stored, &err) && ssb_writer_finish(writer, &err);
			struct bytes file = slurp(scratch);
			CHECK(ok && same_back(&file, 0, &array, expected), "%s stored as %s %s", ssb_dtype_name(dtype), ssb_dtype_name(stored),
			      err.text);
			free(file.data);
		}
}

/* A chunk of `stored` elements in an array of `dtype` must be refused, with nothing left behind. */
static void test_wrong_type(enum ssb_dtype dtype, enum ssb_dtype stored)
{
	const ssb_array array = {"n", dtype, SSB_RAW, 1, {1}, 1, "1"};
	const uint64_t element[2] = {0};
	ssb_error err = {0};
	ssb_writer *writer = ssb_writer_open(scratch, SSB_FIT, meta, history, &array, 1, &err);
	CHECK(writer && !ssb_write_chunk(writer, element, stored, &err) && err.status == SSB_RUNTIME, "no %s in %s: %s",
	      ssb_dtype_name(stored), ssb_dtype_name(dtype), err.text);
	ssb_writer_discard(writer);
}

static void test_wrong_count(void)
{
	const ssb_array array = {"n", SSB_F4, SSB_RAW, 1, {4}, 2, "1"};
	const float elements[4] = {0};
	ssb_error err = {0};
	ssb_writer *writer = ssb_writer_open("/tmp/never-written", SSB_FIT, meta, history, &array, 1, &err);
	CHECK(ssb_write_chunk(writer, elements, SSB_F4, &err) && !ssb_writer_finish(writer, &err) && access("/tmp/never-written", F_OK) != 0,
	      "a missing chunk: %s", err.text);
	writer = ssb_writer_open("/tmp/never-written", SSB_FIT, meta, history, &array, 1, &err);
	CHECK(ssb_write_array(writer, elements, &err) && !ssb_write_chunk(writer, elements, SSB_F4, &err), "a surplus chunk: %s", err.text);
	ssb_writer_discard(writer);
	CHECK(access("/tmp/never-written", F_OK) != 0, "nothing is left of it");
}

static void test_wrong_arrays(const char *what, ssb_array first, ssb_array second)
{
	const ssb_array arrays[2] = {first, second};
	ssb_error err = {0};
	ssb_writer *writer = ssb_writer_open("/tmp/never-written", SSB_FIT, meta, history, arrays, 2, &err);
	CHECK(!writer && err.status == SSB_RUNTIME && strstr(err.text, what), "%s: %s", what, err.text);
	ssb_writer_discard(writer);
}

static void test_limit(enum ssb_codec codec, int as_pipe, size_t limit, const char *words)
{
	char path[32];
	int fd;
	ssb_error err = {0};
	CHECK(write_sample(scratch, codec, &err), "a sample");
	struct bytes file = slurp(scratch);
	ssb_reader *reader = ssb_reader_open(offer(file.data, file.size, as_pipe, &fd, path), limit, &err);
	const void *elements = NULL;
	enum ssb_dtype stored;
	bool ok = reader != NULL;
	for (uint64_t i = 0; ok && i < 2; i++)
		ok = ssb_reader_chunk(reader, 2, i, &elements, &stored, &err);
	CHECK(words ? !ok && err.status == SSB_RUNTIME && strstr(err.text, words) : ok, "%s %s within %zu bytes: %s",
	      codec ? "zstd" : "raw", as_pipe ? "pipe" : "file", limit, err.text);
	CHECK(!ok || (uintptr_t)elements % 64 == 0, "elements are aligned to 64 bytes");
	ssb_reader_close(reader);
	close(fd);
	free(file.data);
}

/* On a pipe an earlier chunk is still there after a later one was asked for. */
static void test_order(void)
{
	char path[32];
	int fd;
	ssb_error err = {0};
	const void *late = NULL, *early = NULL;
	enum ssb_dtype stored;
	CHECK(write_sample(scratch, SSB_ZSTD, &err), "a sample");
	struct bytes file = slurp(scratch);
	ssb_reader *reader = ssb_reader_open(offer(file.data, file.size, 1, &fd, path), LIMIT, &err);
	CHECK(reader && ssb_reader_chunk(reader, 2, 1, &late, &stored, &err) && ((const float *)late)[15] == 11.5F, "the last chunk first");
	CHECK(ssb_reader_chunk(reader, 0, 0, &early, &stored, &err) && stored == SSB_U1 && ((const uint8_t *)early)[19] == 19,
	      "then the first");
	CHECK(!ssb_reader_chunk(reader, 0, 3, &early, &stored, &err), "there is no chunk 3: %s", err.text);
	ssb_reader_close(reader);
	close(fd);
	free(file.data);
}

static void test_find(void)
{
	size_t index;
	uint64_t hash;
	ssb_error err = {0};
	ssb_reader *reader = ssb_reader_open_kind(scratch, SSB_REGION, LIMIT, &err);
	CHECK(reader && ssb_reader_find(reader, "G", SSB_C8, 1, &index, &err) && index == 2, "G is found");
	CHECK(!ssb_reader_find(reader, "H", 0, 0, &index, &err) && err.status == SSB_BAD_INPUT, "H is not: %s", err.text);
	CHECK(!ssb_reader_find(reader, "G", SSB_F4, 1, &index, &err) && err.status == SSB_BAD_INPUT, "%s", err.text);
	CHECK(!ssb_reader_find(reader, "G", SSB_C8, 2, &index, &err) && err.status == SSB_BAD_INPUT, "%s", err.text);
	ssb_reader_close(reader);
	CHECK(!ssb_reader_open_kind(scratch, SSB_PHASE, LIMIT, &err) && err.status == SSB_BAD_INPUT, "%s", err.text);
	CHECK(!read_all("/tmp", LIMIT, &hash, &err) && err.status == SSB_BAD_INPUT, "%s", err.text);
	CHECK(!read_all("/nowhere/x", LIMIT, &hash, &err) && err.status == SSB_BAD_INPUT, "%s", err.text);
}

/* Many threads ask for the same and for different chunks: all see the same elements. */
static void test_threads(enum ssb_codec codec)
{
	enum { CHUNKS = 200, ELEMENTS = 100 };
	static uint32_t elements[CHUNKS * ELEMENTS];
	const ssb_array array = {"n", SSB_U4, codec, 2, {CHUNKS, ELEMENTS}, ELEMENTS, "1"};
	const void *seen[4 * CHUNKS] = {NULL};
	ssb_error err = {0};
	size_t wrong = 0;
	for (uint32_t i = 0; i < CHUNKS * ELEMENTS; i++)
		elements[i] = i / 3;
	CHECK(write_arrays(scratch, &array, 1, elements, &err), "%d chunks written", CHUNKS);
	ssb_reader *reader = ssb_reader_open(scratch, LIMIT, &err);
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : wrong)
	for (int i = 0; i < 4 * CHUNKS; i++) {
		enum ssb_dtype stored;
		ssb_error mine;
		const uint64_t chunk = (uint64_t)i / 4;
		wrong += !ssb_reader_chunk(reader, 0, chunk, &seen[i], &stored, &mine) ||
		         memcmp(seen[i], elements + chunk * ELEMENTS, ELEMENTS * sizeof *elements) != 0;
	}
	for (int i = 1; i < 4 * CHUNKS; i++)
		wrong += i % 4 != 0 && seen[i] != seen[i - 1];
	CHECK(wrong == 0, "%s chunks by several threads", codec ? "zstd" : "raw");
	ssb_reader_close(reader);
}

enum { MANY = 41, LONG = 100, SHORT = 37 };

static const ssb_array many = {"n", SSB_U4, SSB_RAW, 1, {(MANY - 1) * LONG + SHORT}, LONG, "1"};

static bool write_at_once(const char *path, const uint32_t *elements, size_t at_once, ssb_error *err)
{
	const ssb_array two[] = {many, {"after", SSB_U4, SSB_RAW, 1, {1}, 1, "1"}};
	ssb_writer *writer = ssb_writer_open(path, SSB_FIT, meta, history, two, 2, err);
	const void *chunk[MANY];
	for (size_t i = 0; i < MANY; i++)
		chunk[i] = elements + i * LONG;
	bool ok = writer;
	for (size_t i = 0; ok && i < MANY; i += at_once)
		ok = ssb_write_chunks(writer, chunk + i, i + at_once < MANY ? at_once : MANY - i, SSB_U4, err);
	if (ok && ssb_write_chunk(writer, elements, SSB_U4, err))
		return ssb_writer_finish(writer, err);
	ssb_writer_discard(writer);
	return false;
}

/* Many chunks at once are the bytes of one by one, in a file (by places) and in a FIFO, which is written in place (in order). */
static void test_chunks_at_once(void)
{
	static uint32_t elements[MANY * LONG];
	ssb_error err = {0};
	for (uint32_t i = 0; i < MANY * LONG; i++)
		elements[i] = i * i;
	const bool written = write_at_once(scratch, elements, 1, &err);
	struct bytes one = slurp(scratch);
	CHECK(written && one.size > sizeof elements, "one by one %s", err.text);
	for (size_t at_once = 7; at_once <= MANY; at_once += MANY - 7) {
		char path[32];
		int ends[2];
		CHECK(write_at_once(scratch, elements, at_once, &err), "%zu at once %s", at_once, err.text);
		struct bytes file = slurp(scratch), pipe_bytes = {malloc(PIPE_BYTES), 0};
		CHECK(file.size == one.size && !memcmp(file.data, one.data, one.size), "%zu at once into a file", at_once);
		if (pipe(ends) != 0 || !pipe_bytes.data)
			abort();
		snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
		CHECK(write_at_once(path, elements, at_once, &err), "%zu at once into a pipe %s", at_once, err.text);
		CHECK(read(ends[0], pipe_bytes.data, PIPE_BYTES) == (ssize_t)one.size && !memcmp(pipe_bytes.data, one.data, one.size), "the same bytes");
		close(ends[0]);
		close(ends[1]);
		free(file.data);
		free(pipe_bytes.data);
	}
	free(one.data);
}

static void test_too_many_at_once(void)
{
	const uint32_t element[4] = {0};
	const void *const chunk[3] = {element, element, element};
	for (enum ssb_codec codec = SSB_RAW; codec <= SSB_ZSTD; codec++) {
		const ssb_array two = {"n", SSB_U4, codec, 1, {4}, 2, "1"};
		ssb_error err = {0};
		ssb_writer *writer = ssb_writer_open("/tmp/never-written", SSB_FIT, meta, history, &two, 1, &err);
		CHECK(!ssb_write_chunks(writer, chunk, codec ? 2 : 3, SSB_U4, &err) && err.status == SSB_RUNTIME, "at once: %s", err.text);
		ssb_writer_discard(writer);
	}
}

static void test_refusals(void)
{
	const ssb_array fine = {"n", SSB_F4, SSB_RAW, 1, {4}, 2, "1"};
	const ssb_array nameless = {"", SSB_F4, SSB_RAW, 1, {4}, 2, "1"};
	const ssb_array odd = {"a b", SSB_F4, SSB_RAW, 1, {4}, 2, "1"};
	const ssb_array huge = {"m", SSB_F4, SSB_RAW, 3, {UINT64_C(1) << 40, UINT64_C(1) << 21, 1}, 2, "1"};
	const ssb_array chunkless = {"m", SSB_F4, SSB_RAW, 1, {4}, 0, "1"};
	const ssb_array deep = {"m", SSB_F4, SSB_RAW, 7, {1, 1, 1, 1, 1, 1}, 1, "1"};
	const ssb_array typeless = {"m", 0, SSB_RAW, 1, {4}, 2, "1"};
	test_wrong_arrays("twice", fine, fine);
	test_wrong_arrays("array name ''", fine, nameless);
	test_wrong_arrays("array name 'a b'", fine, odd);
	test_wrong_arrays("more elements than", fine, huge);
	test_wrong_arrays("chunks of 0 elements", fine, chunkless);
	test_wrong_arrays("7 dimensions", fine, deep);
	test_wrong_arrays("unknown dtype", fine, typeless);
	test_wrong_type(SSB_U2, SSB_U4);
	test_wrong_type(SSB_U4, SSB_I4);
	test_wrong_type(SSB_I4, SSB_U2);
	test_wrong_type(SSB_F4, SSB_U1);
	test_wrong_type(SSB_C8, SSB_F8);
	test_wrong_type(SSB_C8, SSB_C4);
	test_wrong_type(SSB_C4, SSB_F4);
	test_wrong_count();
}

static int write_for_suite(const char *codec, const char *path)
{
	ssb_error err = {0};
	if (!write_sample(path, strcmp(codec, "zstd") == 0 ? SSB_ZSTD : SSB_RAW, &err))
		fprintf(stderr, "container: %s\n", err.text);
	return (int)err.status;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return write_for_suite(argv[1], argv[2]);
	meta = json_pack("{s:s, s:f}", "title", "\xc3\x85 and \"quotes\"", "step_A", 0.1);
	history = json_pack("[{s:s}]", "tool", "ssb-test");
	close(mkstemp(scratch));
	for (enum ssb_dtype dtype = SSB_U1; dtype <= SSB_C4; dtype++)
		for (enum ssb_codec codec = SSB_RAW; codec <= SSB_ZSTD; codec++)
			for (unsigned rank = 0; rank <= SSB_MAX_RANK; rank++)
				for (int empty = 0; empty <= (rank > 0); empty++)
					test_round_trip(dtype, codec, rank, empty);
	test_narrowing();
	test_refusals();
	test_limit(SSB_RAW, 0, 0, NULL);
	test_limit(SSB_ZSTD, 0, 64, "raise --memory)");
	test_limit(SSB_ZSTD, 0, LIMIT, NULL);
	test_limit(SSB_RAW, 1, 600, "read from a file");
	test_limit(SSB_RAW, 1, LIMIT, NULL);
	test_limit(SSB_ZSTD, 1, LIMIT, NULL);
	test_order();
	test_find();
	test_threads(SSB_RAW);
	test_threads(SSB_ZSTD);
	test_chunks_at_once();
	test_too_many_at_once();
	unlink(scratch);
	json_decref(meta);
	json_decref(history);
	return test_end();
}
