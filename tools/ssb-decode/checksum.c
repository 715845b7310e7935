#include "tools/ssb-decode/checksum.h"

#include <string.h>

static uint32_t turn(uint32_t x, unsigned bits)
{
	return x << bits | x >> (32 - bits);
}

static void mix(uint32_t s[3])
{
	static const unsigned turns[6] = {4, 6, 8, 16, 19, 4};
	for (unsigned i = 0; i < 6; i++) {
		uint32_t *const a = &s[i % 3], *const b = &s[(i + 1) % 3], *const c = &s[(i + 2) % 3];
		*a = (*a - *c) ^ turn(*c, turns[i]);
		*c += *b;
	}
}

static void finish(uint32_t s[3])
{
	static const unsigned turns[7] = {14, 11, 25, 16, 4, 14, 24};
	for (unsigned i = 0; i < 7; i++) {
		uint32_t *const x = &s[(i + 2) % 3];
		const uint32_t y = s[(i + 1) % 3];
		*x = (*x ^ y) - turn(y, turns[i]);
	}
}

uint32_t checksum_lookup3(const uint8_t *bytes, size_t size)
{
	uint32_t s[3] = {0xdeadbeef + (uint32_t)size, 0xdeadbeef + (uint32_t)size, 0xdeadbeef + (uint32_t)size};
	if (size == 0)
		return s[2];
	for (;; bytes += 12, size -= 12) {
		uint32_t word[3] = {0, 0, 0};
		memcpy(word, bytes, size < 12 ? size : 12);
		for (unsigned i = 0; i < 3; i++)
			s[i] += word[i];
		if (size <= 12)
			break;
		mix(s);
	}
	finish(s);
	return s[2];
}
