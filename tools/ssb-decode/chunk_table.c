#include "tools/ssb-decode/chunk_table.h"

#include <stdlib.h>
#include <string.h>
#include "tools/ssb-decode/object_header.h"

enum { LAYOUT_TREE = 3, LAYOUT_INDEX = 4, CHUNKED = 2, NODE_HEAD = 24, LEVELS = 16 };

/* A set being read. The texts of errors go nowhere: whoever fails here leaves the set to HDF5. */
typedef struct table_walk {
	const chunk_grid *grid;
	chunk_table *table;
	bool described, is_tree;
	uint64_t tree;           /* address of the root */
	uint64_t nodes;          /* seen */
} table_walk;

static bool other(ssb_error *err)
{
	return ssb_fail(err, SSB_BAD_INPUT, "the chunk index is damaged or of a kind that is not supported");
}

/* Version 3: dimensions, address of the tree. The chunk shape is known from HDF5. */
static bool take_layout(void *context, unsigned kind, unsigned flags, byte_view m, ssb_error *err)
{
	table_walk *const w = context;
	if (kind != MESSAGE_LAYOUT)
		return true;
	const unsigned version = (unsigned)view_take(&m, 1), class = (unsigned)view_take(&m, 1);
	if (flags & MESSAGE_SHARED || w->described || class != CHUNKED || (version != LAYOUT_TREE && version != LAYOUT_INDEX))
		return other(err);
	w->described = true;
	w->is_tree = version == LAYOUT_TREE;
	const unsigned index_flags = w->is_tree ? 0 : (unsigned)view_take(&m, 1), dimensions = (unsigned)view_take(&m, 1);
	if (dimensions != w->grid->rank + 1)
		return other(err);
	if (w->is_tree) {
		w->tree = view_take(&m, 8);
		return !m.failed || other(err);
	}
	view_skip(&m, dimensions * view_take(&m, 1));
	return (w->grid->first_axis_grows || other(err)) && chunk_index_describe(&w->table->index, &m, index_flags, err);
}

/* ---- B-trees ---- */

/* The key in front of a chunk: stored size, filter mask, origin in elements, and one more for the bytes of an element. */
static bool take_chunk(table_walk *w, byte_view key, uint64_t address, ssb_error *err)
{
	stored_chunk chunk = {.address = address, .size = view_take(&key, 4), .mask = (uint32_t)view_take(&key, 4)};
	uint64_t number = 0;
	bool outside = false;
	for (unsigned i = 0; i < w->grid->rank; i++) {
		const uint64_t at = view_take(&key, 8), cell = at / w->grid->chunk[i];
		if (at % w->grid->chunk[i])
			return other(err);
		outside = outside || cell >= w->grid->cells[i]; /* of a set that was made smaller */
		number = number * w->grid->cells[i] + cell;
	}
	if (outside)
		return true;
	stored_chunk *const place = &w->table->index.chunk[number];
	if (place->size || chunk.size == 0)
		return other(err);
	*place = chunk;
	return true;
}

static bool read_node(table_walk *w, uint64_t address, unsigned level, ssb_error *err);

static bool take_children(table_walk *w, byte_view view, unsigned level, unsigned count, size_t key_bytes, ssb_error *err)
{
	bool ok = true;
	for (unsigned i = 0; ok && i < count; i++) {
		const byte_view key = {view.at, key_bytes, false};
		view_skip(&view, key_bytes);
		const uint64_t child = view_take(&view, 8);
		ok = level ? read_node(w, child, level - 1, err) : take_chunk(w, key, child, err);
	}
	return ok;
}

static bool read_node(table_walk *w, uint64_t address, unsigned level, ssb_error *err)
{
	const size_t key_bytes = 8 + 8 * ((size_t)w->grid->rank + 1);
	uint8_t head[NODE_HEAD];
	byte_view view = {head, sizeof head, false};
	if (!raw_peek(&w->table->file, address, head, sizeof head, err))
		return false;
	view_skip(&view, 4);
	const uint64_t type = view_take(&view, 1), its_level = view_take(&view, 1), count = view_take(&view, 2);
	if (memcmp(head, "TREE", 4) != 0 || type != 1 || its_level != level || ++w->nodes > w->table->index.chunks + LEVELS)
		return other(err);
	const size_t size = count * (key_bytes + 8);
	uint8_t *const bytes = malloc(size + 1);
	if (!bytes)
		return ssb_fail_errno(err, "chunk index");
	const bool ok = raw_peek(&w->table->file, address + NODE_HEAD, bytes, size, err) &&
	                take_children(w, (byte_view){bytes, size, false}, level, (unsigned)count, key_bytes, err);
	free(bytes);
	return ok;
}

static bool load_tree(table_walk *w, uint64_t chunks, ssb_error *err)
{
	chunk_index *const index = &w->table->index;
	uint8_t head[NODE_HEAD];
	if (chunks > w->table->file.size)
		return other(err);
	index->chunks = chunks;
	index->chunk = calloc(chunks + 1, sizeof *index->chunk);
	if (!index->chunk)
		return ssb_fail_errno(err, "index of %llu chunks", (unsigned long long)chunks);
	if (w->tree == UINT64_MAX)
		return true;
	return raw_peek(&w->table->file, w->tree, head, sizeof head, err) && head[5] < LEVELS && read_node(w, w->tree, head[5], err);
}

static bool load(table_walk *w, const h5_place *place, ssb_error *err)
{
	const chunk_grid *const grid = w->grid;
	H5O_info_t info;
	uint64_t chunks = 1, bytes = grid->element_size;
	for (unsigned i = 0; i < grid->rank; i++)
		if (__builtin_mul_overflow(chunks, grid->cells[i], &chunks) || __builtin_mul_overflow(bytes, grid->chunk[i], &bytes))
			return other(err);
	if (!raw_open(&w->table->file, place->path, err) ||
	    H5Oget_info_by_name2(place->file, place->object, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0 ||
	    !object_header_read(&w->table->file, info.addr, take_layout, w, err) || !w->described)
		return other(err);
	return w->is_tree ? load_tree(w, chunks, err) : chunk_index_load(&w->table->index, &w->table->file, chunks, bytes, err);
}

chunk_table *chunk_table_load(const h5_place *place, const chunk_grid *grid)
{
	ssb_error err;
	chunk_table *const table = calloc(1, sizeof *table);
	table_walk w = {.grid = grid, .table = table};
	if (!table)
		return NULL;
	table->file.descriptor = -1;
	if (load(&w, place, &err))
		return table;
	chunk_table_free(table);
	return NULL;
}

void chunk_table_free(chunk_table *table)
{
	if (!table)
		return;
	raw_close(&table->file);
	free(table->index.chunk);
	free(table);
}
