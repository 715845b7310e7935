/* The chunk reader. With arguments FILE SET: all values of the set to standard output, in the machine's byte order (for the suites);
 * without: sets of every chunk shape, written here, read back frame by frame. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/test.h"
#include "tools/bitshuffle/bitshuffle.h"
#include "tools/ssb-decode/chunk_table.h"
#include "tools/ssb-decode/dataset.h"

enum { ROWS = 5, COLUMNS = 7, OUTER = 4, INNER = 6, FRAMES = OUTER * INNER, PIXELS = ROWS * COLUMNS };

static uint16_t value(uint64_t frame, size_t pixel)
{
	return (uint16_t)(frame * 1000 + pixel);
}

/* Writes a set with that chunk shape (NULL: contiguous), leaving out every frame of `hole` (FRAMES: none). */
static void write_set(hid_t file, const char *name, const hsize_t *chunk, bool deflate, size_t hole)
{
	const hsize_t shape[4] = {OUTER, INNER, ROWS, COLUMNS}, one[4] = {1, 1, ROWS, COLUMNS};
	const hid_t space = H5Screate_simple(4, shape, NULL), memory = H5Screate_simple(4, one, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
	if (chunk)
		H5Pset_chunk(plist, 4, chunk);
	if (deflate)
		H5Pset_deflate(plist, 1);
	const hid_t set = H5Dcreate2(file, name, H5T_STD_U16BE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
	for (size_t f = 0; f < FRAMES; f++) {
		uint16_t pixels[PIXELS];
		const hsize_t start[4] = {f / INNER, f % INNER, 0, 0};
		for (size_t p = 0; p < PIXELS; p++)
			pixels[p] = value(f, p);
		H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
		if (f != hole)
			H5Dwrite(set, H5T_NATIVE_UINT16, memory, space, H5P_DEFAULT, pixels);
	}
	H5Dclose(set);
	H5Pclose(plist);
	H5Sclose(memory);
	H5Sclose(space);
}

static bool reads_back(dataset *set, const uint64_t *frames, size_t count)
{
	static uint16_t values[FRAMES * PIXELS];
	ssb_error err;
	chunk_decoder *decoder = chunk_decoder_new(&err);
	bool same = dataset_read(set, frames, count, values, 0, decoder, &err);
	for (size_t i = 0; i < count * PIXELS; i++)
		same = same && values[i] == value(frames[i / PIXELS], i % PIXELS);
	chunk_decoder_free(decoder);
	return same;
}

static void shapes(const char *path, hid_t file)
{
	static const hsize_t chunks[][4] = {{1, 1, 5, 7}, {1, 2, 5, 7}, {4, 6, 5, 7}, {3, 4, 2, 3}, {1, 1, 1, 1}, {2, 5, 5, 7}, {1, 6, 4, 7}};
	static const uint64_t some[] = {1, 2, 3, 7, 11, 12, 13, 22};
	uint64_t all[FRAMES];
	for (size_t i = 0; i < FRAMES; i++)
		all[i] = i;
	for (size_t i = 0; i < 2 * sizeof chunks / sizeof *chunks + 1; i++) {
		h5_place place = {.file = file};
		ssb_error err;
		snprintf(place.path, sizeof place.path, "%s", path);
		snprintf(place.object, sizeof place.object, "/set%zu", i);
		write_set(file, place.object, i ? chunks[(i - 1) / 2] : NULL, i % 2 == 0 && i, FRAMES);
		dataset *set = dataset_open(&place, &err);
		CHECK(set && reads_back(set, all, FRAMES) && reads_back(set, some, sizeof some / sizeof *some), "chunk shape %zu", i);
		dataset_close(set);
	}
}

static void holes(const char *path, hid_t file)
{
	static const hsize_t one[4] = {1, 1, 5, 7}, four[4] = {1, 4, 3, 7};
	uint8_t absent[FRAMES];
	uint64_t all[FRAMES];
	ssb_error err = {SSB_OK, ""};
	h5_place place = {.file = file, .object = "/hole"};
	snprintf(place.path, sizeof place.path, "%s", path);
	for (size_t i = 0; i < FRAMES; i++)
		all[i] = i;
	write_set(file, "/hole", one, false, 9);
	dataset *set = dataset_open(&place, &err);
	CHECK(set && dataset_absent(set, all, FRAMES, absent, &err) && absent[9] && !absent[8] && !absent[10], "the frame never written is found");
	CHECK(set && !reads_back(set, all, FRAMES) && reads_back(set, all + 10, 5), "and never read as zeros");
	dataset_close(set);
	write_set(file, "/hole4", four, false, FRAMES);
	strcpy(place.object, "/hole4");
	set = dataset_open(&place, &err);
	CHECK(set && dataset_band(set) == INNER, "bands of whole chunks");
	dataset_close(set);
}

/* A set of SIDE × SIDE chunks, of which some were never written, in a file of HDF5's oldest or newest format, that may grow or not: each
 * chunk's place is the one that HDF5 gives. The tree of the oldest format has three levels at that size. */
static void places(bool newest, bool grows, bool filtered)
{
	enum { SIDE = 70, ROW_BYTES = 3 };
	char path[] = "/tmp/ssb-places-XXXXXX";
	const hsize_t shape[2] = {SIDE, ROW_BYTES * SIDE}, most[2] = {grows ? H5S_UNLIMITED : SIDE, ROW_BYTES * SIDE}, chunk[2] = {1, ROW_BYTES};
	const chunk_grid grid = {2, {1, ROW_BYTES}, {SIDE, SIDE}, true, 1};
	const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, shape, most);
	h5_place place = {.object = "/set"};
	unsigned wrong = 0;
	close(mkstemp(path));
	snprintf(place.path, sizeof place.path, "%s", path);
	if (newest)
		H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
	place.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
	H5Pset_chunk(creation, 2, chunk);
	if (filtered)
		H5Pset_deflate(creation, 1);
	const hid_t set = H5Dcreate2(place.file, "set", H5T_NATIVE_UINT8, space, H5P_DEFAULT, creation, H5P_DEFAULT);
	for (hsize_t i = 0; i < SIDE * SIDE; i++) {
		const hsize_t origin[2] = {i / SIDE, i % SIDE * ROW_BYTES};
		if (i % 7 != 3)
			H5Dwrite_chunk(set, H5P_DEFAULT, filtered ? 1 : 0, origin, ROW_BYTES, "abc");
	}
	H5Fflush(place.file, H5F_SCOPE_GLOBAL);
	chunk_table *const table = chunk_table_load(&place, &grid);
	for (hsize_t i = 0; table && i < SIDE * SIDE; i++) {
		const hsize_t origin[2] = {i / SIDE, i % SIDE * ROW_BYTES};
		unsigned mask = 0;
		haddr_t address = 0;
		hsize_t bytes = 0;
		H5Dget_chunk_info_by_coord(set, origin, &mask, &address, &bytes);
		const stored_chunk *const ours = &table->index.chunk[i];
		wrong += ours->size != bytes || (bytes && (ours->address != address || ours->mask != mask)) || !bytes != (i % 7 == 3);
	}
	CHECK(table && wrong == 0, "places of chunks:%s format%s%s", newest ? " newest" : " oldest", grows ? ", may grow" : "", filtered ? ", filtered" : "");
	chunk_table_free(table);
	H5Dclose(set);
	H5Fclose(place.file);
	H5Sclose(space);
	H5Pclose(creation);
	H5Pclose(access);
	unlink(path);
}

/* A set whose writer asked for chunks across the edge of the extent not to be filtered: their masks do not say so. */
static void plain_edges(const char *path)
{
	enum { CHUNK = 5, IN_CHUNK = CHUNK * PIXELS };
	const hsize_t shape[3] = {FRAMES, ROWS, COLUMNS}, chunk[3] = {CHUNK, ROWS, COLUMNS};
	const unsigned parameters[5] = {0, 0, sizeof(uint16_t), 0, BITSHUFFLE_LZ4};
	const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, NULL);
	uint16_t pixels[IN_CHUNK] = {0};
	uint8_t *packed = malloc(bitshuffle_bound(sizeof pixels, sizeof *pixels));
	uint64_t all[FRAMES];
	ssb_error err;
	h5_place place = {.object = "/set"};
	snprintf(place.path, sizeof place.path, "%s", path);
	H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
	H5Pset_chunk(creation, 3, chunk);
	H5Pset_filter(creation, 32008, H5Z_FLAG_OPTIONAL, 5, parameters);
	H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
	place.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
	const hid_t set = H5Dcreate2(place.file, "set", H5T_NATIVE_UINT16, space, H5P_DEFAULT, creation, H5P_DEFAULT);
	for (hsize_t first = 0; first < FRAMES; first += CHUNK) {
		const hsize_t origin[3] = {first, 0, 0};
		const bool whole = first + CHUNK <= FRAMES;
		for (size_t i = 0; i < IN_CHUNK; i++)
			pixels[i] = value(first + i / PIXELS, i % PIXELS);
		const size_t stored = bitshuffle_encode((const uint8_t *)pixels, sizeof pixels, sizeof *pixels, packed);
		H5Dwrite_chunk(set, H5P_DEFAULT, 0, origin, whole ? stored : sizeof pixels, whole ? (const void *)packed : pixels);
	}
	for (size_t i = 0; i < FRAMES; i++)
		all[i] = i;
	H5Dclose(set);
	H5Fflush(place.file, H5F_SCOPE_GLOBAL);
	dataset *read = dataset_open(&place, &err);
	CHECK(read && reads_back(read, all, FRAMES), "chunks across the edge, not filtered");
	dataset_close(read);
	H5Fclose(place.file);
	H5Sclose(space);
	H5Pclose(creation);
	H5Pclose(access);
	free(packed);
}

static int dump(const char *path, const char *object)
{
	h5_place place;
	bool absent;
	ssb_error err;
	dataset *set = h5_follow(path, object, &place, &absent, &err) ? dataset_open(&place, &err) : NULL;
	chunk_decoder *decoder = set ? chunk_decoder_new(&err) : NULL;
	bool ok = decoder;
	if (ok) {
		const dataset_info *const info = dataset_describe(set);
		const size_t bytes = info->frames * info->rows * info->columns * info->element_size;
		void *const values = malloc(bytes + 1);
		uint64_t *const all = calloc(info->frames + 1, sizeof *all);
		for (uint64_t i = 0; i < info->frames; i++)
			all[i] = i;
		ok = dataset_read(set, all, info->frames, values, 0, decoder, &err) && fwrite(values, 1, bytes, stdout) == bytes;
		free(all);
		free(values);
	}
	if (!ok)
		fprintf(stderr, "%s\n", err.text);
	chunk_decoder_free(decoder);
	dataset_close(set);
	h5_leave(&place);
	return !ok;
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/ssb-dataset-XXXXXX";
	h5_setup();
	if (argc == 3)
		return dump(argv[1], argv[2]);
	close(mkstemp(path));
	const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	shapes(path, file);
	holes(path, file);
	for (unsigned i = 0; i < 8; i++)
		places(i & 1, i & 2, i & 4);
	H5Fclose(file);
	plain_edges(path);
	unlink(path);
	return test_end();
}
