#include "tools/transfer/half.h"

#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(SSB_NO_CLONES)
#include <immintrin.h>
#define F16C __attribute__((target("avx,f16c")))
#endif

enum { STEP = 8 };

static float as_float(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static uint32_t as_bits(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* The half's exponent and fraction, read as a float, are 2^112 too small; so are the subnormal ones, which a product makes normal. */
static float expand(uint16_t half)
{
	const uint32_t magnitude = half & 0x7fff, sign = (uint32_t)(half & 0x8000) << 16;
	const float finite = as_float(magnitude << 13) * 0x1p112F;
	return as_float((magnitude < 0x7c00 ? as_bits(finite) : magnitude << 13 | 0x7f800000) | sign);
}

static uint16_t round_one(float value)
{
	const uint32_t bits = as_bits(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
	const uint32_t normal = magnitude - (112U << 23) + 0xfff + (magnitude >> 13 & 1); /* carries into the exponent where it must */
	const uint32_t subnormal = as_bits(as_float(magnitude) + 0.5F) - 0x3f000000; /* the sum rounds to multiples of 2^-24 */
	const uint32_t large = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
	return (uint16_t)(sign | (magnitude >= 0x47800000 ? large : magnitude < 0x38800000 ? subnormal : normal >> 13));
}

void half_expand_plain(const uint16_t *half, size_t count, float scale, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = expand(half[i]) * scale;
}

void half_round_plain(const float *value, size_t count, float factor, uint16_t *half)
{
	for (size_t i = 0; i < count; i++)
		half[i] = round_one(value[i] * factor);
}

#ifdef F16C
F16C
static size_t expand_steps(const uint16_t *half, size_t count, float scale, float *out)
{
	size_t i = 0;
	for (; i + STEP <= count; i += STEP)
		_mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(half + i))), _mm256_set1_ps(scale)));
	return i;
}

F16C
static size_t round_steps(const float *value, size_t count, float factor, uint16_t *half)
{
	size_t i = 0;
	for (; i + STEP <= count; i += STEP)
		_mm_storeu_si128((__m128i *)(half + i), _mm256_cvtps_ph(_mm256_mul_ps(_mm256_loadu_ps(value + i), _mm256_set1_ps(factor)),
		                                                        _MM_FROUND_TO_NEAREST_INT));
	return i;
}

static int has_halves(void)
{
	return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
}
#endif

void half_expand(const uint16_t *half, size_t count, float scale, float *out)
{
	size_t done = 0;
#ifdef F16C
	if (has_halves())
		done = expand_steps(half, count, scale, out);
#endif
	half_expand_plain(half + done, count - done, scale, out + done);
}

void half_round(const float *value, size_t count, float factor, uint16_t *half)
{
	size_t done = 0;
#ifdef F16C
	if (has_halves())
		done = round_steps(value, count, factor, half);
#endif
	half_round_plain(value + done, count - done, factor, half + done);
}
