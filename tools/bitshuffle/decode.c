#include "tools/bitshuffle/bitshuffle.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "tools/bitshuffle/lz4_block.h"
#include "tools/bitshuffle/transpose.h"

enum { HEADER_SIZE = 12, LENGTH_SIZE = 4, MAX_ELEMENT_SIZE = 1024, MOST_DARK = 64 };

struct bitshuffle_decoder {
	size_t element_size;
	size_t default_block; /* elements */
	enum bitshuffle_compressor compressor;
	ZSTD_DCtx *zstd;      /* NULL unless the compressor is zstd */
	const transpose *transpose;
	uint8_t *rows;        /* three blocks: the shuffled rows, with LZ4 all zero between blocks … */
	uint8_t *planes, *elements; /* … byte planes, elements */
	size_t block_bytes;   /* each of the three has room for */
	uint8_t dark[MOST_DARK]; /* the last block of zeros alone, as stored: where no counts are, one is like the other */
	size_t dark_length, dark_bytes; /* of it, stored and decoded; 0: none yet */
};

/* The part of a chunk that is not consumed yet. */
typedef struct byte_cursor { const uint8_t *at; size_t left; } byte_cursor;

static uint64_t read_big_endian(const uint8_t *bytes, size_t count)
{
	uint64_t value = 0;
	for (size_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

static const uint8_t *consume(byte_cursor *cursor, size_t bytes)
{
	const uint8_t *const at = cursor->at;
	cursor->at += bytes;
	cursor->left -= bytes;
	return at;
}

/* The 12-byte header of 32008 and 32004 chunks: the total must be the chunk's size, the block length is returned. */
static bool read_header(byte_cursor *cursor, size_t raw_size, uint64_t *block_bytes, ssb_error *err)
{
	if (cursor->left < HEADER_SIZE)
		return ssb_fail(err, SSB_BAD_INPUT, "chunk of %zu bytes is shorter than its 12-byte header", cursor->left);
	const uint8_t *const header = consume(cursor, HEADER_SIZE);
	const uint64_t total = read_big_endian(header, 8);
	if (total != raw_size)
		return ssb_fail(err, SSB_BAD_INPUT, "chunk header says %llu bytes, the chunk has %zu", (unsigned long long)total, raw_size);
	*block_bytes = read_big_endian(header + 8, 4);
	if (*block_bytes == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "chunk header says blocks of 0 bytes");
	return true;
}

static bool next_block(byte_cursor *cursor, size_t number, size_t *length, ssb_error *err)
{
	if (cursor->left < LENGTH_SIZE)
		return ssb_fail(err, SSB_BAD_INPUT, "chunk ends before block %zu", number);
	*length = read_big_endian(consume(cursor, LENGTH_SIZE), LENGTH_SIZE);
	if (*length > cursor->left)
		return ssb_fail(err, SSB_BAD_INPUT, "block %zu says %zu bytes, %zu are left in the chunk", number, *length, cursor->left);
	return true;
}

static bool at_end(const byte_cursor *cursor, ssb_error *err)
{
	return cursor->left == 0 || ssb_fail(err, SSB_BAD_INPUT, "%zu stray bytes after the last block of the chunk", cursor->left);
}

static bool lz4_block(const uint8_t *block, size_t length, uint8_t *raw, size_t raw_size, size_t number, ssb_error *err)
{
	if (length > LZ4_MAX_INPUT_SIZE || raw_size > LZ4_MAX_INPUT_SIZE)
		return ssb_fail(err, SSB_BAD_INPUT, "block %zu is larger than LZ4 allows", number);
	const int got = LZ4_decompress_safe((const char *)block, (char *)raw, (int)length, (int)raw_size);
	if (got < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "block %zu (%zu bytes) is no valid LZ4 of %zu bytes", number, length, raw_size);
	if ((size_t)got != raw_size)
		return ssb_fail(err, SSB_BAD_INPUT, "block %zu decodes to %d bytes, not %zu", number, got, raw_size);
	return true;
}

static bool zstd_block(ZSTD_DCtx *zstd, const uint8_t *block, size_t length, uint8_t *raw, size_t raw_size, size_t number,
                       ssb_error *err)
{
	const size_t got = ZSTD_decompressDCtx(zstd, raw, raw_size, block, length);
	if (ZSTD_isError(got))
		return ssb_fail(err, SSB_BAD_INPUT, "block %zu: zstd: %s", number, ZSTD_getErrorName(got));
	if (got != raw_size)
		return ssb_fail(err, SSB_BAD_INPUT, "block %zu decodes to %zu bytes, not %zu", number, got, raw_size);
	return true;
}

bitshuffle_decoder *bitshuffle_decoder_new(size_t element_size, enum bitshuffle_compressor compressor, size_t default_block_elements,
                                           ssb_error *err)
{
	const size_t block = default_block_elements || element_size == 0 ? default_block_elements : block_default_elements(element_size);
	if (element_size == 0 || element_size > MAX_ELEMENT_SIZE)
		return ssb_fail(err, SSB_BAD_INPUT, "bitshuffle of %zu-byte elements is not supported", element_size), NULL;
	if (compressor != BITSHUFFLE_NONE && compressor != BITSHUFFLE_LZ4 && compressor != BITSHUFFLE_ZSTD)
		return ssb_fail(err, SSB_BAD_INPUT, "bitshuffle with compressor %d is not supported", (int)compressor), NULL;
	if (block % 8)
		return ssb_fail(err, SSB_BAD_INPUT, "bitshuffle blocks of %zu elements are no multiple of 8", block), NULL;
	bitshuffle_decoder *const decoder = calloc(1, sizeof *decoder);
	if (!decoder)
		return ssb_fail_errno(err, "bitshuffle decoder"), NULL;
	decoder->transpose = transpose_fastest();
	decoder->element_size = element_size;
	decoder->compressor = compressor;
	decoder->default_block = block;
	if (compressor == BITSHUFFLE_ZSTD && !(decoder->zstd = ZSTD_createDCtx())) {
		bitshuffle_decoder_free(decoder);
		return ssb_fail(err, SSB_RUNTIME, "zstd: out of memory"), NULL;
	}
	return decoder;
}

void bitshuffle_decoder_free(bitshuffle_decoder *decoder)
{
	if (!decoder)
		return;
	ZSTD_freeDCtx(decoder->zstd);
	free(decoder->rows);
	free(decoder);
}

static bool reserve(bitshuffle_decoder *decoder, size_t block_bytes, ssb_error *err)
{
	if (block_bytes <= decoder->block_bytes)
		return true;
	free(decoder->rows);
	decoder->block_bytes = 0;
	decoder->rows = malloc(3 * block_bytes);
	if (!decoder->rows)
		return ssb_fail_errno(err, "bitshuffle block of %zu bytes", block_bytes);
	memset(decoder->rows, 0, block_bytes);
	decoder->planes = decoder->rows + block_bytes;
	decoder->elements = decoder->planes + block_bytes;
	decoder->block_bytes = block_bytes;
	return true;
}

/* A block as stored and, unless it is not wanted or known to be dark, its rows. */
typedef struct packed_block { const uint8_t *stored, *rows; size_t length, bytes; bool dark; } packed_block;

static bool is_dark(const bitshuffle_decoder *decoder, const packed_block *b)
{
	return b->length == decoder->dark_length && b->bytes == decoder->dark_bytes && memcmp(b->stored, decoder->dark, b->length) == 0;
}

static void note_dark(bitshuffle_decoder *decoder, const packed_block *b)
{
	if (b->length > MOST_DARK || decoder->compressor != BITSHUFFLE_LZ4)
		return;
	memcpy(decoder->dark, b->stored, b->length);
	decoder->dark_length = b->length;
	decoder->dark_bytes = b->bytes;
}

/* Take block `number`, b->bytes when decoded, off the cursor. */
static bool take_packed(bitshuffle_decoder *decoder, byte_cursor *cursor, bool wanted, size_t number, packed_block *b, ssb_error *err)
{
	b->rows = decoder->rows;
	if (decoder->compressor == BITSHUFFLE_NONE) {
		b->rows = consume(cursor, b->bytes);
		return true;
	}
	if (!next_block(cursor, number, &b->length, err))
		return false;
	b->stored = consume(cursor, b->length);
	b->dark = wanted && is_dark(decoder, b);
	if (!wanted || b->dark)
		return true;
	if (decoder->zstd)
		return zstd_block(decoder->zstd, b->stored, b->length, decoder->rows, b->bytes, number, err);
	if (lz4_block_expand(b->stored, b->length, decoder->rows, b->bytes) ||
	    lz4_block(b->stored, b->length, decoder->rows, b->bytes, number, err))
		return true;
	memset(decoder->rows, 0, b->bytes);
	return false;
}

static void clear_rows(uint8_t *rows, uint32_t rows_set, size_t count, size_t element_size)
{
	for (size_t p = 0; p < 8 * element_size; p++)
		if (p >= 32 || rows_set >> p & 1)
			memset(rows + p * (count / 8), 0, count / 8);
}

/* Rows to elements of the narrowest width, handed over. */
static void deliver(bitshuffle_decoder *decoder, const packed_block *packed, bitshuffle_block *block, bitshuffle_take *take, void *context)
{
	const size_t size = decoder->element_size;
	const uint32_t set = packed->dark ? 0 : block_rows_set(decoder->transpose, packed->rows, block->count, size);
	block->width = set == 0 ? 0 : set < 256 ? 1 : size;
	block->elements = decoder->elements;
	block_unshuffle(decoder->transpose, packed->rows, set, decoder->elements, block->count, block->width, decoder->planes);
	if (set == 0 && !packed->dark)
		note_dark(decoder, packed);
	if (decoder->compressor == BITSHUFFLE_LZ4)
		clear_rows(decoder->rows, set, block->count, size);
	take(context, block);
}

/* Elements per block: from the chunk's header, or, without a compressor, the set's. */
static bool block_elements(const bitshuffle_decoder *decoder, byte_cursor *cursor, size_t raw_size, size_t *block, ssb_error *err)
{
	*block = decoder->default_block;
	if (decoder->compressor == BITSHUFFLE_NONE)
		return cursor->left == raw_size ||
		       ssb_fail(err, SSB_BAD_INPUT, "chunk holds %zu bytes, not %zu", cursor->left, raw_size);
	uint64_t bytes = 0;
	if (!read_header(cursor, raw_size, &bytes, err))
		return false;
	*block = bytes / decoder->element_size;
	if (bytes % (8 * decoder->element_size))
		return ssb_fail(err, SSB_BAD_INPUT, "chunk header says blocks of %llu bytes, no multiple of 8 elements of %zu bytes",
		                (unsigned long long)bytes, decoder->element_size);
	return true;
}

bool bitshuffle_blocks(bitshuffle_decoder *decoder, const uint8_t *chunk, size_t stored, size_t raw_size, size_t first, size_t count,
                       bitshuffle_take *take, void *context, ssb_error *err)
{
	const size_t size = decoder->element_size, elements = raw_size / size, shuffled = elements / 8 * 8, rest = raw_size - shuffled * size;
	byte_cursor cursor = {chunk, stored};
	size_t in_block;
	if (raw_size % size)
		return ssb_fail(err, SSB_BAD_INPUT, "chunk of %zu bytes is no whole number of %zu-byte elements", raw_size, size);
	if (!block_elements(decoder, &cursor, raw_size, &in_block, err) ||
	    !reserve(decoder, (in_block < shuffled ? in_block : shuffled) * size + 8 * size, err))
		return false;
	bitshuffle_block block = {.first = 0};
	for (size_t number = 0; block.first < shuffled; number++, block.first += block.count) {
		packed_block packed = {.stored = NULL};
		block.count = shuffled - block.first < in_block ? shuffled - block.first : in_block;
		const bool wanted = block.first < first + count && first < block.first + block.count;
		packed.bytes = block.count * size;
		if (!take_packed(decoder, &cursor, wanted, number, &packed, err))
			return false;
		if (wanted)
			deliver(decoder, &packed, &block, take, context);
	}
	if (cursor.left < rest)
		return ssb_fail(err, SSB_BAD_INPUT, "chunk ends %zu bytes early", rest - cursor.left);
	if (rest) {
		memcpy(decoder->elements, consume(&cursor, rest), rest);
		take(context, &(bitshuffle_block){shuffled, rest / size, size, decoder->elements});
	}
	return at_end(&cursor, err);
}

/* Where the whole chunk goes. */
typedef struct whole { uint8_t *raw; size_t element_size; } whole;

static void store_block(void *context, const bitshuffle_block *block)
{
	const whole *const w = context;
	uint8_t *const raw = w->raw + block->first * w->element_size;
	const uint8_t *const elements = block->elements;
	if (block->width == w->element_size) {
		memcpy(raw, elements, block->count * block->width);
		return;
	}
	memset(raw, 0, block->count * w->element_size);
	for (size_t i = 0; i < block->count && block->width; i++)
		raw[i * w->element_size] = elements[i];
}

bool bitshuffle_decode(bitshuffle_decoder *decoder, const uint8_t *chunk, size_t stored, uint8_t *raw, size_t raw_size,
                       size_t first, size_t count, ssb_error *err)
{
	whole w = {raw, decoder->element_size};
	return bitshuffle_blocks(decoder, chunk, stored, raw_size, first, count, store_block, &w, err);
}

bool lz4_chunk_decode(const uint8_t *chunk, size_t stored, uint8_t *raw, size_t raw_size, ssb_error *err)
{
	byte_cursor cursor = {chunk, stored};
	uint64_t block = 0;
	if (!read_header(&cursor, raw_size, &block, err))
		return false;
	for (size_t at = 0, number = 0; at < raw_size; number++) {
		const size_t bytes = raw_size - at < block ? raw_size - at : block;
		size_t length = 0;
		if (!next_block(&cursor, number, &length, err))
			return false;
		const uint8_t *const packed = consume(&cursor, length);
		if (length == bytes) /* a block that did not shrink is stored as it is */
			memcpy(raw + at, packed, bytes);
		else if (!lz4_block(packed, length, raw + at, bytes, number, err))
			return false;
		at += bytes;
	}
	return at_end(&cursor, err);
}
