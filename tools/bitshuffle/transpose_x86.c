/* Both variants add, for each row that is set, its bit to the bytes that have it: what a block costs goes with the number of such rows, and
 * the high bits of counts are mostly zero. */
#include "tools/bitshuffle/transpose.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SSB_NO_CLONES)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw")))

/* The rows that are set, and the bit each stands for. */
typedef struct row_list { const uint8_t *row[8]; uint8_t bit[8]; size_t count; } row_list;

static row_list list_rows(const uint8_t *rows, size_t stride, unsigned rows_set)
{
	row_list list = {.count = 0};
	for (unsigned b = 0; b < 8; b++)
		if (rows_set >> b & 1) {
			list.row[list.count] = rows + b * stride;
			list.bit[list.count++] = (uint8_t)(1u << b);
		}
	return list;
}

static uint64_t load(const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;
	memcpy(&value, at, bytes);
	return value;
}

/* ---- AVX2: 4 columns are 32 bytes ---- */

AVX2 static bool any_avx2(const uint8_t *row, size_t stride)
{
	__m256i any = _mm256_setzero_si256();
	size_t k = 0;
	for (; k + 32 <= stride; k += 32)
		any = _mm256_or_si256(any, _mm256_loadu_si256((const __m256i *)(row + k)));
	return !_mm256_testz_si256(any, any) || transpose_plain.any(row + k, stride - k);
}

AVX2 static void gather_avx2(const uint8_t *rows, size_t stride, size_t from, uint8_t *bytes, unsigned rows_set)
{
	const __m256i own_byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
	const __m256i own_bit = _mm256_set1_epi64x((long long)0x8040201008040201u);
	const row_list list = list_rows(rows, stride, rows_set);
	size_t k = from;
	for (; k + 4 <= stride; k += 4) {
		__m256i sum = _mm256_setzero_si256();
		for (size_t i = 0; i < list.count; i++) {
			const __m256i bits = _mm256_shuffle_epi8(_mm256_set1_epi32((int)load(list.row[i] + k, 4)), own_byte);
			const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bits, own_bit), own_bit);
			sum = _mm256_or_si256(sum, _mm256_and_si256(is_set, _mm256_set1_epi8((char)list.bit[i])));
		}
		_mm256_storeu_si256((__m256i *)(bytes + 8 * k), sum);
	}
	transpose_plain.gather(rows, stride, k, bytes, rows_set);
}

/* ---- AVX-512: 8 columns are the mask of 64 bytes ---- */

AVX512 static bool any_avx512(const uint8_t *row, size_t stride)
{
	__m512i any = _mm512_setzero_si512();
	size_t k = 0;
	for (; k + 64 <= stride; k += 64)
		any = _mm512_or_si512(any, _mm512_loadu_si512(row + k));
	if (k < stride)
		any = _mm512_or_si512(any, _mm512_maskz_loadu_epi8(UINT64_MAX >> (64 - (stride - k)), row + k));
	return _mm512_test_epi8_mask(any, any);
}

AVX512 static void gather_avx512(const uint8_t *rows, size_t stride, size_t from, uint8_t *bytes, unsigned rows_set)
{
	const row_list list = list_rows(rows, stride, rows_set);
	size_t k = from;
	for (; k + 16 <= stride; k += 16) {
		__m512i low = _mm512_setzero_si512(), high = low;
		for (size_t i = 0; i < list.count; i++) {
			const __m512i bit = _mm512_set1_epi8((char)list.bit[i]);
			low = _mm512_mask_add_epi8(low, load(list.row[i] + k, 8), low, bit);
			high = _mm512_mask_add_epi8(high, load(list.row[i] + k + 8, 8), high, bit);
		}
		_mm512_storeu_si512(bytes + 8 * k, low);
		_mm512_storeu_si512(bytes + 8 * k + 64, high);
	}
	for (; k < stride; k += 8) {
		const size_t columns = stride - k < 8 ? stride - k : 8;
		__m512i sum = _mm512_setzero_si512();
		for (size_t i = 0; i < list.count; i++)
			sum = _mm512_mask_add_epi8(sum, load(list.row[i] + k, columns), sum, _mm512_set1_epi8((char)list.bit[i]));
		_mm512_mask_storeu_epi8(bytes + 8 * k, UINT64_MAX >> (64 - 8 * columns), sum);
	}
}

size_t transposes(const transpose *list[MOST_TRANSPOSES])
{
	static const transpose avx2 = {"AVX2", any_avx2, gather_avx2}, avx512 = {"AVX-512", any_avx512, gather_avx512};
	size_t count = 0;
	list[count++] = &transpose_plain;
	if (__builtin_cpu_supports("avx2"))
		list[count++] = &avx2;
	if (__builtin_cpu_supports("avx512bw"))
		list[count++] = &avx512;
	return count;
}

#else

size_t transposes(const transpose *list[MOST_TRANSPOSES])
{
	list[0] = &transpose_plain;
	return 1;
}

#endif
