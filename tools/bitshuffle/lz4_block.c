#include "tools/bitshuffle/lz4_block.h"

#include <string.h>

enum {
	MARGIN = 32,           /* as long as so much is left on both sides, short copies are made of whole words */
	LONG = 15, SHORTEST = 4,
	LAST_LITERALS = 5, LAST_MATCH = 12, /* how a block ends: no match within the last 5 bytes, none begins within the last 12 */
	CLEARED = 64,          /* more than a copy of whole words goes beyond its end */
};

static inline uint64_t load(const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;
	memcpy(&value, at, bytes);
	return value;
}

static inline void copy_words(uint8_t *to, const uint8_t *from, size_t words)
{
	for (size_t i = 0; i < words; i++)
		memcpy(to + 8 * i, from + 8 * i, 8);
}

/* The bytes behind a length that its four bits could not hold. */
static inline bool extend(const uint8_t **in, const uint8_t *end, size_t *length)
{
	uint8_t byte;
	for (; end - *in > 8 && load(*in, 8) == UINT64_MAX; *in += 8)
		*length += 8 * 255;
	do {
		if (*in == end)
			return false;
		byte = *(*in)++;
		*length += byte;
	} while (byte == 255);
	return true;
}

/* `length` bytes from `offset` before. Zeros that repeat are only written as far as a copy of words may have spoilt them. */
static void long_match(uint8_t *out, size_t offset, size_t length)
{
	const uint8_t *const from = out - offset;
	if (offset <= 2 && out[-1] == 0 && *from == 0) {
		memset(out, 0, length < CLEARED ? length : CLEARED);
	} else if (offset >= length) {
		memcpy(out, from, length);
	} else {
		for (size_t i = 0; i < length; i++)
			out[i] = from[i];
	}
}

/* At most LONG + SHORTEST - 1 bytes, up to 24 written. */
static inline void short_match(uint8_t *out, size_t offset, size_t length)
{
	const uint8_t *const from = out - offset;
	if (offset >= 8) {
		copy_words(out, from, 3);
	} else if (offset <= 2) {
		const uint64_t pattern = offset == 1 ? out[-1] * 0x0101010101010101u : load(out - 2, 2) * 0x0001000100010001u;
		for (size_t i = 0; i < 3; i++)
			memcpy(out + 8 * i, &pattern, 8);
	} else {
		for (size_t i = 0; i < length; i++)
			out[i] = from[i];
	}
}

bool lz4_block_expand(const uint8_t *block, size_t length, uint8_t *out, size_t size)
{
	const uint8_t *in = block, *const end = block + length, *const start = out, *const limit = out + size;
	while (in < end && size > 0) {
		const unsigned token = *in++;
		size_t literals = token >> 4, match = (token & 15) + SHORTEST;
		if (literals < LONG && end - in >= MARGIN && limit - out >= MARGIN) {
			copy_words(out, in, 2);
		} else {
			if ((literals == LONG && !extend(&in, end, &literals)) || literals > (size_t)(end - in) || literals > (size_t)(limit - out))
				return false;
			memcpy(out, in, literals);
			if (in + literals == end)
				return out + literals == limit;
		}
		in += literals;
		out += literals;
		if (end - in < 2)
			return false;
		const size_t offset = load(in, 2), left = (size_t)(limit - out);
		in += 2;
		if (offset == 0 || offset > (size_t)(out - start))
			return false;
		if (match < LONG + SHORTEST && left >= MARGIN) {
			short_match(out, offset, match);
		} else {
			if ((match == LONG + SHORTEST && !extend(&in, end, &match)) || left < LAST_MATCH || match > left - LAST_LITERALS)
				return false;
			long_match(out, offset, match);
		}
		out += match;
	}
	return false;
}
