#include "tools/ssb-decode/chunk_index.h"

#include <stdlib.h>

enum { SINGLE = 1, FIXED_ARRAY = 3, EXTENSIBLE_ARRAY = 4, SINGLE_FILTERED = 2, MOST_SUPERBLOCKS = 64 };
enum { FILTERED_REST = 12 }; /* bytes of a filtered chunk's element beside its size: address and mask */

static const uint64_t UNDEFINED = UINT64_MAX;

static bool damaged(ssb_error *err)
{
	return ssb_fail(err, SSB_BAD_INPUT, "the chunk index is damaged");
}

bool chunk_index_describe(chunk_index *index, byte_view *message, unsigned layout_flags, ssb_error *err)
{
	index->kind = (unsigned)view_take(message, 1);
	if (index->kind == SINGLE && layout_flags & SINGLE_FILTERED) {
		index->only.size = view_take(message, 8);
		index->only.mask = (uint32_t)view_take(message, 4);
	} else if (index->kind == FIXED_ARRAY) {
		index->page_bits = (unsigned)view_take(message, 1);
	} else if (index->kind == EXTENSIBLE_ARRAY) {
		view_skip(message, 4); /* the array's header has these as well */
		index->page_bits = (unsigned)view_take(message, 1);
	} else if (index->kind != SINGLE) {
		return ssb_fail(err, SSB_BAD_INPUT, "a chunk index of kind %u is not supported", index->kind);
	}
	index->address = view_take(message, 8);
	return (!message->failed && index->page_bits < 32) || damaged(err);
}

/* ---- what both arrays have ---- */

/* An array being read. */
typedef struct array_walk {
	chunk_index *index;
	const raw_file *file;
	bool filtered;
	size_t element_bytes;
	uint64_t header;        /* address, repeated in every block */
	uint64_t elements;      /* that the array has */
	unsigned offset_bytes;  /* of the block offsets of extensible arrays */
	/* extensible arrays only */
	unsigned in_index_block, smallest_block, first_superblock_pointers, superblocks;
} array_walk;

static void take_elements(array_walk *w, byte_view *view, uint64_t first, uint64_t count)
{
	for (uint64_t n = first; n < first + count; n++) {
		stored_chunk chunk = {.address = view_take(view, 8), .size = w->index->chunk_bytes};
		if (w->filtered) {
			chunk.size = view_take(view, w->element_bytes - FILTERED_REST);
			chunk.mask = (uint32_t)view_take(view, 4);
		}
		if (chunk.address == UNDEFINED || view->failed)
			chunk = (stored_chunk){0};
		if (n < w->index->chunks)
			w->index->chunk[n] = chunk;
	}
}

/* A page of elements with its own checksum. */
static bool read_page(array_walk *w, uint64_t address, uint64_t first, uint64_t count, ssb_error *err)
{
	raw_block page;
	if (!raw_read(w->file, address, 0, count * w->element_bytes, NULL, &page, err))
		return false;
	take_elements(w, &page.view, first, count);
	free(page.bytes);
	return true;
}

static bool page_is_there(const uint8_t *bits, uint64_t page)
{
	return bits[page / 8] & 0x80 >> page % 8;
}

/* Version, client and the address of the array's header, which begin every block. */
static bool check_prefix(const array_walk *w, byte_view *view, ssb_error *err)
{
	const uint64_t version = view_take(view, 1), client = view_take(view, 1);
	return (version == 0 && client == w->filtered && view_take(view, 8) == w->header) || damaged(err);
}

static bool take_array_header(array_walk *w, byte_view *view, ssb_error *err)
{
	const uint64_t version = view_take(view, 1), client = view_take(view, 1);
	w->filtered = client == 1;
	w->element_bytes = view_take(view, 1);
	const bool fits = w->filtered ? w->element_bytes > FILTERED_REST && w->element_bytes <= FILTERED_REST + 8 : w->element_bytes == 8;
	return (version == 0 && client <= 1 && fits) || damaged(err);
}

/* ---- fixed array ---- */

static bool read_fixed_pages(array_walk *w, uint64_t address, const uint8_t *bits, uint64_t pages, ssb_error *err)
{
	const uint64_t in_page = 1ull << w->index->page_bits;
	for (uint64_t p = 0; p < pages; p++) {
		const uint64_t first = p * in_page, count = w->elements - first < in_page ? w->elements - first : in_page;
		if (page_is_there(bits, p) && !read_page(w, address + p * (in_page * w->element_bytes + 4), first, count, err))
			return false;
	}
	return true;
}

static bool load_fixed(array_walk *w, ssb_error *err)
{
	raw_block block;
	if (!raw_read(w->file, w->header, 4, 20, "FAHD", &block, err))
		return false;
	bool ok = take_array_header(w, &block.view, err);
	const unsigned page_bits = (unsigned)view_take(&block.view, 1);
	w->elements = view_take(&block.view, 8);
	const uint64_t address = view_take(&block.view, 8);
	free(block.bytes);
	if (!ok || page_bits != w->index->page_bits || w->elements > w->file->size)
		return damaged(err);
	if (address == UNDEFINED)
		return true;
	const uint64_t in_page = 1ull << page_bits, pages = w->elements > in_page ? (w->elements + in_page - 1) >> page_bits : 0;
	const uint64_t bits = (pages + 7) / 8, content = 10 + bits + (pages ? 0 : w->elements * w->element_bytes);
	if (!raw_read(w->file, address, 4, content, "FADB", &block, err))
		return false;
	ok = check_prefix(w, &block.view, err);
	if (ok && pages)
		ok = read_fixed_pages(w, address + 4 + content + 4, block.view.at, pages, err);
	else if (ok)
		take_elements(w, &block.view, 0, w->elements);
	free(block.bytes);
	return ok;
}

/* ---- extensible array ---- */

/* Super block number u has 2^(u/2) data blocks of 2^((u+1)/2) times the smallest block's elements. */
static uint64_t data_blocks(unsigned u)
{
	return 1ull << u / 2;
}

static uint64_t block_elements(const array_walk *w, unsigned u)
{
	return (uint64_t)w->smallest_block << (u + 1) / 2;
}

static uint64_t block_pages(const array_walk *w, unsigned u)
{
	const uint64_t in_page = 1ull << w->index->page_bits;
	return block_elements(w, u) > in_page ? block_elements(w, u) >> w->index->page_bits : 0;
}

/* A data block of super block u that begins with element `first`. `bits` tells which of its pages exist. */
static bool read_data_block(array_walk *w, uint64_t address, unsigned u, uint64_t first, const uint8_t *bits, uint64_t bit, ssb_error *err)
{
	raw_block block;
	const uint64_t pages = block_pages(w, u), in_page = 1ull << w->index->page_bits;
	const uint64_t prefix = 10 + w->offset_bytes, content = prefix + (pages ? 0 : block_elements(w, u) * w->element_bytes);
	if (address == UNDEFINED || first >= w->index->chunks)
		return true;
	if (!raw_read(w->file, address, 4, content, "EADB", &block, err))
		return false;
	bool ok = check_prefix(w, &block.view, err);
	view_skip(&block.view, w->offset_bytes);
	if (ok && !pages)
		take_elements(w, &block.view, first, block_elements(w, u));
	free(block.bytes);
	for (uint64_t p = 0; ok && p < pages; p++)
		if (page_is_there(bits, bit + p) && first + p * in_page < w->index->chunks)
			ok = read_page(w, address + 4 + content + 4 + p * (in_page * w->element_bytes + 4), first + p * in_page, in_page, err);
	return ok;
}

static bool read_super_block(array_walk *w, uint64_t address, unsigned u, uint64_t first, ssb_error *err)
{
	raw_block block;
	const uint64_t blocks = data_blocks(u), bits_each = (block_pages(w, u) + 7) / 8;
	const uint64_t content = 10 + w->offset_bytes + blocks * bits_each + blocks * 8;
	if (address == UNDEFINED || first >= w->index->chunks)
		return true;
	if (!raw_read(w->file, address, 4, content, "EASB", &block, err))
		return false;
	bool ok = check_prefix(w, &block.view, err);
	view_skip(&block.view, w->offset_bytes);
	const uint8_t *const bits = block.view.at;
	view_skip(&block.view, blocks * bits_each);
	for (uint64_t b = 0; ok && b < blocks; b++)
		ok = read_data_block(w, view_take(&block.view, 8), u, first + b * block_elements(w, u), bits, b * block_pages(w, u), err);
	free(block.bytes);
	return ok;
}

/* The index block: the first elements themselves, then the data blocks of the first super blocks, then the other super blocks. */
static bool read_index_block(array_walk *w, uint64_t address, ssb_error *err)
{
	raw_block block;
	unsigned direct = 0;
	while (1u << direct < w->first_superblock_pointers)
		direct++;
	direct *= 2; /* super blocks without a block of their own */
	const uint64_t pointers = 2 * (w->first_superblock_pointers - 1) + w->superblocks - direct;
	if (!raw_read(w->file, address, 4, 10 + w->in_index_block * w->element_bytes + 8 * pointers, "EAIB", &block, err))
		return false;
	bool ok = check_prefix(w, &block.view, err);
	uint64_t first = w->in_index_block;
	take_elements(w, &block.view, 0, w->in_index_block);
	for (unsigned u = 0; ok && u < w->superblocks; u++) {
		if (u < direct)
			for (uint64_t b = 0; ok && b < data_blocks(u); b++)
				ok = block_pages(w, u) == 0 ? read_data_block(w, view_take(&block.view, 8), u, first + b * block_elements(w, u), NULL, 0, err)
				                            : damaged(err);
		else
			ok = read_super_block(w, view_take(&block.view, 8), u, first, err);
		first += data_blocks(u) * block_elements(w, u);
	}
	free(block.bytes);
	return ok;
}

static bool is_power_of_two(unsigned n)
{
	return n && !(n & (n - 1));
}

static bool load_extensible(array_walk *w, ssb_error *err)
{
	raw_block block;
	if (!raw_read(w->file, w->header, 4, 64, "EAHD", &block, err))
		return false;
	const bool ok = take_array_header(w, &block.view, err);
	const unsigned most_bits = (unsigned)view_take(&block.view, 1);
	w->in_index_block = (unsigned)view_take(&block.view, 1);
	w->smallest_block = (unsigned)view_take(&block.view, 1);
	w->first_superblock_pointers = (unsigned)view_take(&block.view, 1);
	const unsigned page_bits = (unsigned)view_take(&block.view, 1);
	view_skip(&block.view, 6 * 8);
	const uint64_t address = view_take(&block.view, 8);
	free(block.bytes);
	if (!ok || page_bits != w->index->page_bits || most_bits > 48 || !is_power_of_two(w->smallest_block) ||
	    !is_power_of_two(w->first_superblock_pointers))
		return damaged(err);
	unsigned smallest_bits = 0;
	while (1u << smallest_bits < w->smallest_block)
		smallest_bits++;
	if (most_bits < smallest_bits)
		return damaged(err);
	w->superblocks = 1 + most_bits - smallest_bits;
	w->offset_bytes = (most_bits + 7) / 8;
	return address == UNDEFINED || read_index_block(w, address, err);
}

bool chunk_index_load(chunk_index *index, const raw_file *file, uint64_t chunks, uint64_t chunk_bytes, ssb_error *err)
{
	array_walk w = {.index = index, .file = file, .header = index->address};
	if (chunks > file->size) /* every chunk that was written takes room in its index */
		return ssb_fail(err, SSB_BAD_INPUT, "%llu chunks cannot be in a file of %llu bytes", (unsigned long long)chunks,
		                (unsigned long long)file->size);
	index->chunks = chunks;
	index->chunk_bytes = chunk_bytes;
	index->chunk = calloc(chunks + 1, sizeof *index->chunk);
	if (!index->chunk)
		return ssb_fail_errno(err, "index of %llu chunks", (unsigned long long)chunks);
	if (index->kind != SINGLE)
		return index->address == UNDEFINED || (index->kind == FIXED_ARRAY ? load_fixed(&w, err) : load_extensible(&w, err));
	if (chunks > 1)
		return damaged(err);
	if (index->address != UNDEFINED)
		index->chunk[0] = (stored_chunk){index->address, index->only.size ? index->only.size : chunk_bytes, index->only.mask};
	return true;
}
