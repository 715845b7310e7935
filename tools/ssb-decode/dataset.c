#include "tools/ssb-decode/dataset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/ssb-decode/chunk_table.h"
#include "tools/ssb-decode/filters.h"
#include "tools/ssb-decode/newer_layout.h"

enum { SLAB_BYTES = 32 << 20, SLAB_CHUNKS = 4096 }; /* fetched before the threads decode them */

struct dataset {
	dataset_info info;
	hid_t id;                     /* -1 for a set that HDF5 cannot open */
	newer_set *newer;             /* then this is it */
	const h5_place *place;
	chunk_table *table;           /* of a set that HDF5 opened; NULL until asked for, or when only HDF5 can read its index */
	const chunk_index *index;     /* where the chunks are, if that is known, */
	const raw_file *file;         /* and the file they are in */
	bool index_sought;
	unsigned lead;                /* axes that count frames */
	bool chunked, ours;
	bool edges_plain;             /* chunks that cross the extent are not filtered, whatever their masks say */
	hsize_t chunk[H5S_MAX_RANK];
	uint64_t cells[H5S_MAX_RANK]; /* chunks along each axis */
	chunk_packing packing;
};

/* ---- what the set is ---- */

static void describe_type(hid_t type, dataset_info *info)
{
	info->class = H5Tget_class(type);
	info->element_size = H5Tget_size(type);
	snprintf(info->type, sizeof info->type, "%s", info->class == H5T_STRING ? "text" : "other");
	if (info->class != H5T_INTEGER && info->class != H5T_FLOAT)
		return;
	const bool is_unsigned = info->class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE;
	const char kind = info->class == H5T_FLOAT ? 'f' : is_unsigned ? 'u' : 'i';
	info->big_endian = H5Tget_order(type) == H5T_ORDER_BE && info->element_size > 1;
	snprintf(info->type, sizeof info->type, "%c%c%u", info->element_size == 1 ? '|' : info->big_endian ? '>' : '<', kind, (unsigned)info->element_size % 1000);
	info->counts = is_unsigned && (info->element_size == 1 || info->element_size == 2 || info->element_size == 4) &&
	               H5Tget_precision(type) == 8 * info->element_size && H5Tget_offset(type) == 0;
}

static bool describe_shape(dataset *set, hid_t space, ssb_error *err)
{
	dataset_info *const info = &set->info;
	hsize_t shape[H5S_MAX_RANK];
	const int rank = H5Sget_simple_extent_ndims(space);
	uint64_t elements = info->element_size, rows = 1, columns = 1;
	if (rank < 0 || H5Sget_simple_extent_dims(space, shape, NULL) < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "the extent is damaged");
	info->rank = (unsigned)rank;
	info->frames = H5Sget_simple_extent_type(space) == H5S_NULL ? 0 : 1;
	set->lead = rank > 2 ? (unsigned)rank - 2 : 0;
	for (unsigned i = 0; i < info->rank; i++) {
		info->shape[i] = shape[i];
		if (__builtin_mul_overflow(elements, shape[i], &elements))
			return ssb_fail(err, SSB_BAD_INPUT, "the extent is larger than any file");
		uint64_t *const part = i < set->lead ? &info->frames : i + 1 < info->rank ? &rows : &columns;
		*part *= shape[i];
	}
	info->rows = rows;
	info->columns = columns;
	if (elements == 0)
		info->frames = 0;
	return true;
}

static bool describe_chunks(dataset *set, hid_t creation, ssb_error *err)
{
	dataset_info *const info = &set->info;
	size_t raw_size = info->element_size;
	unsigned options = 0;
	set->chunked = true;
	if (H5Pget_chunk(creation, (int)info->rank, set->chunk) != (int)info->rank)
		return ssb_fail(err, SSB_BAD_INPUT, "the chunk shape is damaged");
	if (H5Pget_chunk_opts(creation, &options) < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "the chunk options are damaged");
	set->edges_plain = options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS;
	for (unsigned i = 0; i < info->rank; i++) {
		if (set->chunk[i] == 0 || __builtin_mul_overflow(raw_size, set->chunk[i], &raw_size) || raw_size > UINT32_MAX)
			return ssb_fail(err, SSB_BAD_INPUT, "the chunk shape is damaged");
		set->cells[i] = info->shape[i] / set->chunk[i] + (info->shape[i] % set->chunk[i] != 0);
	}
	if (!filters_judge(creation, info->element_size, &set->ours, &set->packing, err))
		return false;
	set->packing.raw_size = raw_size;
	return true;
}

static bool describe_storage(dataset *set, hid_t creation, ssb_error *err)
{
	const H5D_layout_t layout = H5Pget_layout(creation);
	if (layout == H5D_VIRTUAL)
		return ssb_fail(err, SSB_BAD_INPUT, "virtual sets are not supported yet: a missing source would read as zeros");
	if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
		return ssb_fail(err, SSB_BAD_INPUT, "the storage layout is damaged");
	if (layout == H5D_CONTIGUOUS && H5Pget_external_count(creation) > 0)
		return ssb_fail(err, SSB_BAD_INPUT, "values kept in other, raw files are not supported");
	return layout != H5D_CHUNKED || describe_chunks(set, creation, err);
}

static bool describe(dataset *set, hid_t type, hid_t space, hid_t creation, ssb_error *err)
{
	if (type < 0 || space < 0 || creation < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "the set's header is damaged");
	describe_type(type, &set->info);
	return describe_shape(set, space, err) && describe_storage(set, creation, err);
}

static bool describe_opened(dataset *set, ssb_error *err)
{
	const hid_t type = H5Dget_type(set->id), space = H5Dget_space(set->id), creation = H5Dget_create_plist(set->id);
	const bool ok = describe(set, type, space, creation, err);
	H5Pclose(creation);
	H5Sclose(space);
	H5Tclose(type);
	return ok;
}

static bool describe_newer(dataset *set, const h5_place *place, ssb_error *err)
{
	set->newer = newer_set_open(place, err);
	set->index = set->newer ? newer_set_index(set->newer) : NULL;
	set->file = set->newer ? newer_set_file(set->newer) : NULL;
	set->index_sought = true;
	if (!set->newer || !describe(set, newer_set_type(set->newer), newer_set_space(set->newer), newer_set_creation(set->newer), err))
		return false;
	return set->ours || ssb_fail(err, SSB_BAD_INPUT, "these filters in the newest layout need HDF5 2.0 or later");
}

dataset *dataset_open(const h5_place *place, ssb_error *err)
{
	char cause[H5_CAUSE_SIZE];
	bool ok;
	dataset *const set = calloc(1, sizeof *set);
	if (!set)
		return ssb_fail_errno(err, "set '%s'", place->object), NULL;
	set->place = place;
	const bool newer = newer_set_is(place);
	set->id = newer ? -1 : H5Dopen2(place->file, place->object, H5P_DEFAULT);
	if (newer)
		ok = describe_newer(set, place, err);
	else if (set->id >= 0)
		ok = describe_opened(set, err);
	else
		ok = ssb_fail(err, SSB_BAD_INPUT, "no dataset, or damaged: %s", h5_cause(cause));
	if (ok)
		return set;
	ssb_fail_prefix(err, "'%s:%s': ", place->path, place->object);
	dataset_close(set);
	return NULL;
}

void dataset_close(dataset *set)
{
	if (!set)
		return;
	if (set->id >= 0)
		H5Dclose(set->id);
	newer_set_close(set->newer);
	chunk_table_free(set->table);
	free(set);
}

const dataset_info *dataset_describe(const dataset *set)
{
	return &set->info;
}

uint64_t dataset_band(const dataset *set)
{
	uint64_t band = 1, in_chunk = 1;
	for (unsigned i = 0; set->chunked && i < set->lead; i++) {
		in_chunk *= set->chunk[i];
		band *= i == 0 ? set->chunk[i] : set->info.shape[i];
	}
	return in_chunk == 1 ? 1 : band;
}

/* ---- which chunks hold which frames ---- */

/* A wanted frame: the cell of the chunk grid's leading axes it lies in, its number among the frames of that chunk, and in the list. */
typedef struct seat { uint64_t cell, inside; size_t entry; } seat;

static int by_cell(const void *a, const void *b)
{
	const seat *const x = a, *const y = b;
	return x->cell != y->cell ? (x->cell > y->cell ? 1 : -1) : (x->entry > y->entry) - (x->entry < y->entry);
}

static seat *seats_of(const dataset *set, const uint64_t *frames, size_t count, ssb_error *err)
{
	seat *const seats = malloc((count + 1) * sizeof *seats);
	bool sorted = true;
	if (!seats)
		return ssb_fail_errno(err, "list of %zu frames", count), NULL;
	for (size_t i = 0; i < count; i++) {
		uint64_t rest = frames[i], cell = 0, inside = 0, cell_step = 1, inside_step = 1;
		for (unsigned axis = set->lead; axis-- > 0;) {
			const uint64_t at = rest % set->info.shape[axis];
			rest /= set->info.shape[axis];
			cell += at / set->chunk[axis] * cell_step;
			inside += at % set->chunk[axis] * inside_step;
			cell_step *= set->cells[axis];
			inside_step *= set->chunk[axis];
		}
		seats[i] = (seat){cell, inside, i};
		sorted = sorted && (i == 0 || seats[i - 1].cell <= cell);
	}
	if (!sorted)
		qsort(seats, count, sizeof *seats, by_cell);
	return seats;
}

/* A walk over all chunks that hold some of the seated frames: for each cell of the leading axes all chunks across the frame. */
typedef struct chunk_walk {
	const dataset *set;
	const seat *seats;
	size_t count;
	size_t first, end;       /* seats of the present cell */
	uint64_t part, parts;    /* chunk across the frame, and how many there are */
} chunk_walk;

static bool next_chunk(chunk_walk *w)
{
	if (++w->part < w->parts)
		return true;
	w->part = 0;
	w->first = w->end;
	while (w->end < w->count && w->seats[w->end].cell == w->seats[w->first].cell)
		w->end++;
	return w->first < w->count;
}

static chunk_walk walk_chunks(const dataset *set, const seat *seats, size_t count)
{
	chunk_walk w = {.set = set, .seats = seats, .count = count, .parts = 1};
	for (unsigned axis = set->lead; axis < set->info.rank; axis++)
		w.parts *= set->cells[axis];
	w.part = w.parts - 1; /* so that the first step takes the first cell */
	return w;
}

static void chunk_origin(const chunk_walk *w, hsize_t origin[H5S_MAX_RANK])
{
	uint64_t cell = w->seats[w->first].cell, part = w->part;
	for (unsigned axis = w->set->info.rank; axis-- > 0;) {
		uint64_t *const number = axis < w->set->lead ? &cell : &part;
		origin[axis] = *number % w->set->cells[axis] * w->set->chunk[axis];
		*number /= w->set->cells[axis];
	}
}

/* ---- where chunks are ---- */

/* From the set's index, which is read when first asked for; afterwards set->index says whether it could be. */
static void seek_index(dataset *set)
{
	hsize_t shape[H5S_MAX_RANK], most[H5S_MAX_RANK];
	if (set->index_sought)
		return;
	chunk_grid grid = {.rank = set->info.rank, .first_axis_grows = true, .element_size = set->info.element_size};
	const hid_t space = H5Dget_space(set->id);
	H5Sget_simple_extent_dims(space, shape, most);
	H5Sclose(space);
	for (unsigned i = 0; i < grid.rank; i++) {
		grid.chunk[i] = set->chunk[i];
		grid.cells[i] = set->cells[i];
		grid.first_axis_grows = grid.first_axis_grows && (i == 0 || most[i] == shape[i]);
	}
	set->table = chunk_table_load(set->place, &grid);
	set->index = set->table ? &set->table->index : NULL;
	set->file = set->table ? &set->table->file : NULL;
	set->index_sought = true;
}

/* The chunk the walk is at: size 0 when it was never written. What HDF5 says of it is its size alone. */
static bool find_chunk(const chunk_walk *w, stored_chunk *chunk, ssb_error *err)
{
	const dataset *const set = w->set;
	char cause[H5_CAUSE_SIZE];
	hsize_t origin[H5S_MAX_RANK], bytes = 0;
	if (set->index) {
		*chunk = set->index->chunk[w->seats[w->first].cell * w->parts + w->part];
		return true;
	}
	chunk_origin(w, origin);
	if (H5Dget_chunk_storage_size(set->id, origin, &bytes) < 0 && !strstr(h5_cause(cause), "not allocated"))
		return ssb_fail(err, SSB_BAD_INPUT, "the chunk index is damaged: %s", cause);
	*chunk = (stored_chunk){.size = bytes};
	return true;
}

static bool absent_by_chunk(const dataset *set, const seat *seats, size_t count, uint8_t *absent, ssb_error *err)
{
	chunk_walk w = walk_chunks(set, seats, count);
	while (next_chunk(&w)) {
		stored_chunk chunk;
		if (!find_chunk(&w, &chunk, err))
			return false;
		for (size_t i = w.first; i < w.end && chunk.size == 0; i++)
			absent[seats[i].entry] = 1;
		if (chunk.size == 0)
			w.part = w.parts - 1; /* the others say nothing more */
	}
	return true;
}

/* One walk of the index tells whether any chunk at all is missing. */
static bool all_written(const dataset *set)
{
	uint64_t expected = 1;
	hsize_t written = 0;
	for (unsigned i = 0; i < set->info.rank; i++)
		expected *= set->cells[i];
	const hid_t space = H5Dget_space(set->id);
	const bool ok = H5Dget_num_chunks(set->id, space, &written) >= 0;
	H5Sclose(space);
	return ok && written == expected;
}

bool dataset_absent(dataset *set, const uint64_t *frames, size_t count, uint8_t *absent, ssb_error *err)
{
	memset(absent, 0, count);
	if (!set->chunked) {
		if (H5Dget_storage_size(set->id) == 0)
			memset(absent, 1, count);
		return true;
	}
	seek_index(set);
	if (!set->index && all_written(set))
		return true;
	seat *const seats = seats_of(set, frames, count, err);
	const bool ok = seats && absent_by_chunk(set, seats, count, absent, err);
	free(seats);
	return ok;
}

/* ---- reading through our own chunk decoder ---- */

/* Where a decoded chunk goes. */
typedef struct delivery {
	const dataset *set;
	const seat *seats;
	size_t first, end;       /* of the seats */
	size_t row, column;      /* of the chunk's corner in the frame */
	uint8_t *values;
} delivery;

static void deliver(const chunk_job *job, const uint8_t *raw)
{
	const delivery *const d = job->context;
	const dataset_info *const info = &d->set->info;
	const hsize_t *const chunk = d->set->chunk;
	const size_t size = info->element_size, chunk_rows = info->rank > 1 ? chunk[info->rank - 2] : 1, chunk_columns = chunk[info->rank - 1];
	if (job->target)
		return;
	const size_t rows = chunk_rows < info->rows - d->row ? chunk_rows : info->rows - d->row;
	const size_t columns = chunk_columns < info->columns - d->column ? chunk_columns : info->columns - d->column;
	for (size_t i = d->first; i < d->end; i++) {
		const uint8_t *const frame = raw + d->seats[i].inside * chunk_rows * chunk_columns * size;
		uint8_t *const target = d->values + (d->seats[i].entry * info->rows * info->columns + d->row * info->columns + d->column) * size;
		for (size_t r = 0; r < rows; r++)
			memcpy(target + r * info->columns * size, frame + r * chunk_columns * size, columns * size);
	}
}

/* Elements of the chunk from its first wanted frame to its last. */
static void wanted_elements(const chunk_walk *w, chunk_job *job)
{
	const dataset *const set = w->set;
	uint64_t low = w->seats[w->first].inside, high = low, frame = 1;
	for (size_t i = w->first; i < w->end; i++) {
		low = w->seats[i].inside < low ? w->seats[i].inside : low;
		high = w->seats[i].inside > high ? w->seats[i].inside : high;
	}
	for (unsigned axis = set->lead; axis < set->info.rank; axis++)
		frame *= set->chunk[axis];
	job->first = low * frame;
	job->count = (high + 1 - low) * frame;
}

/* A chunk that is one whole frame can be decoded in place. */
static bool is_frame(const dataset *set)
{
	for (unsigned axis = 0; axis < set->info.rank; axis++)
		if (set->chunk[axis] != (axis < set->lead ? 1 : set->info.shape[axis]))
			return false;
	return true;
}

const stored_chunk *dataset_frame_chunks(dataset *set, const raw_file **file, chunk_packing *packing)
{
	if (!set->chunked || !set->ours || set->info.big_endian || !is_frame(set))
		return NULL;
	seek_index(set);
	*file = set->file;
	*packing = set->packing;
	return set->index ? set->index->chunk : NULL;
}

/* Chunks on their way: what to decode, where each goes, where each comes from. */
typedef struct slab {
	chunk_job job[SLAB_CHUNKS];
	delivery to[SLAB_CHUNKS];
	stored_chunk chunk[SLAB_CHUNKS];
	hsize_t origin[SLAB_CHUNKS][H5S_MAX_RANK];
	size_t count, bytes;
} slab;

static bool add_chunk(slab *s, const chunk_walk *w, uint8_t *values, ssb_error *err)
{
	const dataset *const set = w->set;
	const size_t frame_bytes = set->info.rows * set->info.columns * set->info.element_size, i = s->count;
	hsize_t *const origin = s->origin[i];
	chunk_origin(w, origin);
	if (!find_chunk(w, &s->chunk[i], err))
		return false;
	const uint64_t bytes = s->chunk[i].size;
	if (!chunk_check_size(&set->packing, bytes, err))
		return false;
	s->to[i] = (delivery){set, w->seats, w->first, w->end, set->info.rank > 1 ? origin[set->info.rank - 2] : 0,
	                      origin[set->info.rank - 1], values};
	s->job[i] = (chunk_job){.stored_size = bytes, .context = &s->to[i]};
	wanted_elements(w, &s->job[i]);
	if (is_frame(set))
		s->job[i].target = values + w->seats[w->first].entry * frame_bytes;
	s->bytes += bytes;
	s->count++;
	return true;
}

static bool fetch_chunk(const dataset *set, const stored_chunk *chunk, const hsize_t *origin, uint32_t *mask, uint8_t *bytes, ssb_error *err)
{
	char cause[H5_CAUSE_SIZE];
	*mask = chunk->mask;
	if (set->index)
		return raw_peek(set->file, chunk->address, bytes, chunk->size, err);
	return H5Dread_chunk(set->id, H5P_DEFAULT, origin, mask, bytes) >= 0 ||
	       ssb_fail(err, SSB_BAD_INPUT, "its chunk cannot be read: %s", h5_cause(cause));
}

static bool crosses_extent(const dataset *set, const hsize_t *origin)
{
	for (unsigned axis = 0; axis < set->info.rank; axis++)
		if (set->chunk[axis] > set->info.shape[axis] - origin[axis])
			return true;
	return false;
}

static bool fetch_slab(const dataset *set, slab *s, chunk_decoder *decoder, size_t *failed, ssb_error *err)
{
	uint8_t *at = chunk_decoder_arena(decoder, s->bytes + 1, err);
	*failed = 0;
	for (size_t i = 0; at && i < s->count; i++) {
		uint32_t mask = 0;
		*failed = i;
		if (!fetch_chunk(set, &s->chunk[i], s->origin[i], &mask, at, err))
			return false;
		s->job[i].stored = at;
		s->job[i].plain = mask & 1 || (set->edges_plain && crosses_extent(set, s->origin[i]));
		at += s->job[i].stored_size;
	}
	return at;
}

/* Put the frame of seat `first` in front of the error. */
static bool name_frame(const chunk_walk *w, size_t first, const uint64_t *frames, uint64_t number_of_first, ssb_error *err)
{
	const uint64_t number = frames[w->seats[first].entry] + number_of_first;
	return ssb_fail_prefix(err, "frame %" PRIu64 ": ", number);
}

static bool read_slabs(const dataset *set, chunk_walk *w, slab *s, const uint64_t *frames, uint8_t *values, uint64_t number_of_first,
                       chunk_decoder *decoder, ssb_error *err)
{
	bool more = next_chunk(w);
	while (more) {
		size_t failed = 0;
		s->count = s->bytes = 0;
		do {
			if (!add_chunk(s, w, values, err))
				return name_frame(w, w->first, frames, number_of_first, err);
			more = next_chunk(w);
		} while (more && s->count < SLAB_CHUNKS && s->bytes < SLAB_BYTES);
		if (!fetch_slab(set, s, decoder, &failed, err) ||
		    !chunk_decoder_run(decoder, &set->packing, s->job, s->count, deliver, &failed, err))
			return name_frame(w, s->to[failed].first, frames, number_of_first, err);
	}
	return true;
}

static bool read_chunks(dataset *set, const uint64_t *frames, size_t count, uint8_t *values, uint64_t number_of_first,
                        chunk_decoder *decoder, ssb_error *err)
{
	seek_index(set);
	seat *const seats = seats_of(set, frames, count, err);
	slab *const s = calloc(1, sizeof *s);
	bool ok = false;
	if (seats && s) {
		chunk_walk w = walk_chunks(set, seats, count);
		ok = read_slabs(set, &w, s, frames, values, number_of_first, decoder, err);
	} else {
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	}
	free(s);
	free(seats);
	return ok;
}

/* ---- reading through HDF5 ---- */

/* How many of the frames from `at` on follow each other along the last leading axis. */
static size_t run_length(const dataset *set, const uint64_t *frames, size_t count)
{
	const uint64_t along = set->info.shape[set->lead - 1];
	size_t length = 1;
	while (length < count && frames[length] == frames[0] + length && frames[length] % along != 0)
		length++;
	return length;
}

static herr_t select_frames(const dataset *set, hid_t space, const uint64_t *frames, size_t count)
{
	hsize_t start[H5S_MAX_RANK], extent[H5S_MAX_RANK];
	herr_t status = 0;
	if (set->lead == 0)
		return H5Sselect_all(space);
	for (size_t i = 0, length; i < count && status >= 0; i += length) {
		uint64_t rest = frames[i];
		length = run_length(set, frames + i, count - i);
		for (unsigned axis = set->info.rank; axis-- > 0;) {
			const bool leads = axis < set->lead;
			start[axis] = leads ? rest % set->info.shape[axis] : 0;
			extent[axis] = leads ? (axis + 1 == set->lead ? length : 1) : set->info.shape[axis];
			rest = leads ? rest / set->info.shape[axis] : rest;
		}
		status = H5Sselect_hyperslab(space, i ? H5S_SELECT_OR : H5S_SELECT_SET, start, NULL, extent, NULL);
	}
	return status;
}

/* Numbers in the machine's own format where it has one of that size (it has no half floats), else as they are in the file. */
static hid_t memory_type(const dataset *set)
{
	const hid_t type = H5Dget_type(set->id);
	if (set->info.class != H5T_INTEGER && set->info.class != H5T_FLOAT)
		return type;
	const hid_t native = H5Tget_native_type(type, H5T_DIR_ASCEND);
	const bool same = native >= 0 && H5Tget_size(native) == set->info.element_size;
	H5Tclose(same ? type : native);
	return same ? native : type;
}

static bool read_by_library(dataset *set, const uint64_t *frames, size_t count, void *values, uint64_t number_of_first, ssb_error *err)
{
	char cause[H5_CAUSE_SIZE];
	const hsize_t elements = count * set->info.rows * set->info.columns;
	const hid_t type = memory_type(set), space = H5Dget_space(set->id), memory = H5Screate_simple(1, &elements, NULL);
	const bool ok = select_frames(set, space, frames, count) >= 0 && H5Dread(set->id, type, memory, space, H5P_DEFAULT, values) >= 0;
	const uint64_t first = frames[0] + number_of_first, last = frames[count - 1] + number_of_first;
	if (!ok)
		ssb_fail(err, SSB_BAD_INPUT, "frames %" PRIu64 " to %" PRIu64 ": %s", first, last, h5_cause(cause));
	H5Sclose(memory);
	H5Sclose(space);
	H5Tclose(type);
	return ok;
}

void elements_swap(uint8_t *values, size_t count, size_t size)
{
#pragma omp parallel for
	for (size_t i = 0; i < count; i++)
		for (size_t a = 0, b = size - 1; a < b; a++, b--) {
			const uint8_t byte = values[i * size + a];
			values[i * size + a] = values[i * size + b];
			values[i * size + b] = byte;
		}
}

bool dataset_read(dataset *set, const uint64_t *frames, size_t count, void *values, uint64_t number_of_first, chunk_decoder *decoder,
                  ssb_error *err)
{
	if (count == 0)
		return true;
	if (!set->ours)
		return read_by_library(set, frames, count, values, number_of_first, err);
	if (!read_chunks(set, frames, count, values, number_of_first, decoder, err))
		return false;
	if (set->info.big_endian)
		elements_swap(values, count * set->info.rows * set->info.columns, set->info.element_size);
	return true;
}
