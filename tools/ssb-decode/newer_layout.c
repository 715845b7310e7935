#include "tools/ssb-decode/newer_layout.h"

#include <stdlib.h>
#include <string.h>
#include "tools/ssb-decode/object_header.h"

enum { LAYOUT_VERSION = 5, CHUNKED = 2, EDGES_PLAIN = 1 };

struct newer_set {
	raw_file file;
	bool probing;           /* only the layout's version is asked for */
	unsigned layout_version;
	hid_t type, space, creation;
	unsigned rank;
	hsize_t shape[H5S_MAX_RANK], most[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
	uint64_t cells[H5S_MAX_RANK];
	chunk_index index;
};

static bool damaged(ssb_error *err, const char *what)
{
	return ssb_fail(err, SSB_BAD_INPUT, "its %s is damaged or of a kind that is not supported", what);
}

/* ---- messages of the object header ---- */

static bool take_space(newer_set *set, byte_view m, ssb_error *err)
{
	const unsigned version = (unsigned)view_take(&m, 1), rank = (unsigned)view_take(&m, 1), flags = (unsigned)view_take(&m, 1);
	view_take(&m, version == 1 ? 5 : 1);
	if ((version != 1 && version != 2) || rank == 0 || rank > H5S_MAX_RANK || set->rank)
		return damaged(err, "extent");
	for (unsigned i = 0; i < rank; i++)
		set->most[i] = set->shape[i] = view_take(&m, 8);
	for (unsigned i = 0; i < rank && flags & 1; i++)
		set->most[i] = view_take(&m, 8);
	set->rank = rank;
	set->space = H5Screate_simple((int)rank, set->shape, NULL);
	return (!m.failed && set->space >= 0) || damaged(err, "extent");
}

/* H5Tdecode wants the message behind two bytes of its own. */
static bool take_type(newer_set *set, byte_view m, ssb_error *err)
{
	enum { LONGEST = 256 };
	uint8_t encoded[2 + LONGEST] = {MESSAGE_TYPE, 0};
	if (m.left < 8 || m.left > LONGEST || set->type >= 0)
		return damaged(err, "element type");
	memcpy(encoded + 2, m.at, m.left);
	const unsigned class = encoded[2] & 15;
	if (class != H5T_INTEGER && class != H5T_FLOAT)
		return damaged(err, "element type");
	set->type = H5Tdecode(encoded);
	return set->type >= 0 || damaged(err, "element type");
}

static bool take_filters(newer_set *set, byte_view m, ssb_error *err)
{
	enum { MOST = 32 };
	if (view_take(&m, 1) != 2)
		return damaged(err, "filter pipeline");
	for (unsigned count = (unsigned)view_take(&m, 1); count > 0; count--) {
		unsigned values[MOST];
		const H5Z_filter_t id = (H5Z_filter_t)view_take(&m, 2);
		const uint64_t name = id < 256 ? 0 : view_take(&m, 2), flags = view_take(&m, 2), number = view_take(&m, 2);
		view_skip(&m, name);
		for (uint64_t i = 0; i < number; i++)
			values[i < MOST ? i : MOST - 1] = (unsigned)view_take(&m, 4);
		if (m.failed || number > MOST || H5Pset_filter(set->creation, id, (flags & 1) | H5Z_FLAG_OPTIONAL, number, values) < 0)
			return damaged(err, "filter pipeline");
	}
	return true;
}

static bool take_layout(newer_set *set, byte_view m, ssb_error *err)
{
	const unsigned version = (unsigned)view_take(&m, 1), class = (unsigned)view_take(&m, 1), flags = (unsigned)view_take(&m, 1);
	if (version != LAYOUT_VERSION || class != CHUNKED)
		return damaged(err, "layout");
	const unsigned dimensions = (unsigned)view_take(&m, 1), width = (unsigned)view_take(&m, 1);
	if (dimensions < 2 || dimensions > H5S_MAX_RANK + 1 || width < 1 || width > 8)
		return damaged(err, "layout");
	for (unsigned i = 0; i + 1 < dimensions; i++)
		set->chunk[i] = view_take(&m, width);
	view_take(&m, width); /* the element size */
	if (H5Pset_chunk(set->creation, (int)dimensions - 1, set->chunk) < 0 ||
	    (flags & EDGES_PLAIN && H5Pset_chunk_opts(set->creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) < 0))
		return damaged(err, "layout");
	return chunk_index_describe(&set->index, &m, flags, err);
}

static bool take_ours(void *context, unsigned kind, unsigned flags, byte_view m, ssb_error *err)
{
	newer_set *const set = context;
	if (set->probing && kind == MESSAGE_LAYOUT)
		set->layout_version = (unsigned)view_take(&m, 1);
	if (set->probing)
		return true;
	const bool ours = kind == MESSAGE_SPACE || kind == MESSAGE_TYPE || kind == MESSAGE_FILTERS || kind == MESSAGE_LAYOUT;
	if (ours && flags & MESSAGE_SHARED)
		return damaged(err, "object header");
	switch (kind) {
	case MESSAGE_SPACE: return take_space(set, m, err);
	case MESSAGE_TYPE: return take_type(set, m, err);
	case MESSAGE_FILTERS: return take_filters(set, m, err);
	case MESSAGE_LAYOUT: return take_layout(set, m, err);
	default: return true;
	}
}

static bool read_header(newer_set *set, uint64_t address, ssb_error *err)
{
	return object_header_read(&set->file, address, take_ours, set, err) &&
	       (set->probing || (set->rank && set->type >= 0 && set->index.kind) || damaged(err, "object header"));
}

/* The index counts chunks in C order over the largest extent; only the first axis may grow, so the present extent orders them alike. */
static bool read_index(newer_set *set, ssb_error *err)
{
	uint64_t count = 1, bytes = H5Tget_size(set->type);
	for (unsigned i = 0; i < set->rank; i++) {
		if (set->chunk[i] == 0 || (i > 0 && set->most[i] != set->shape[i]) || __builtin_mul_overflow(bytes, set->chunk[i], &bytes))
			return damaged(err, "chunk shape");
		set->cells[i] = set->shape[i] / set->chunk[i] + (set->shape[i] % set->chunk[i] != 0);
		if (__builtin_mul_overflow(count, set->cells[i], &count))
			return damaged(err, "extent");
	}
	return chunk_index_load(&set->index, &set->file, count, bytes, err);
}

static bool open_header(newer_set *set, const h5_place *place, ssb_error *err)
{
	H5O_info_t info;
	if (!raw_open(&set->file, place->path, err))
		return false;
	if (H5Oget_info_by_name2(place->file, place->object, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
		return damaged(err, "object header");
	return read_header(set, info.addr, err);
}

bool newer_set_is(const h5_place *place)
{
	newer_set set = {.probing = true};
	ssb_error err;
	const bool read = open_header(&set, place, &err);
	raw_close(&set.file);
	return read && set.layout_version == LAYOUT_VERSION;
}

newer_set *newer_set_open(const h5_place *place, ssb_error *err)
{
	newer_set *const set = calloc(1, sizeof *set);
	if (!set)
		return ssb_fail_errno(err, "set '%s'", place->object), NULL;
	set->type = set->space = -1;
	set->creation = H5Pcreate(H5P_DATASET_CREATE);
	if (open_header(set, place, err) && read_index(set, err))
		return set;
	newer_set_close(set);
	return NULL;
}

void newer_set_close(newer_set *set)
{
	if (!set)
		return;
	H5Tclose(set->type);
	H5Sclose(set->space);
	H5Pclose(set->creation);
	raw_close(&set->file);
	free(set->index.chunk);
	free(set);
}

hid_t newer_set_type(const newer_set *set) { return set->type; }
hid_t newer_set_space(const newer_set *set) { return set->space; }
hid_t newer_set_creation(const newer_set *set) { return set->creation; }

const raw_file *newer_set_file(const newer_set *set) { return &set->file; }
const chunk_index *newer_set_index(const newer_set *set) { return &set->index; }
