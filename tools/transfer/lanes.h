/* Vectors of eight floats. Everything is element by element and contraction is off (-std=c11), so the same bytes come out whatever the
 * instruction set: eight lanes are one register of AVX2, two of SSE. Functions are inlined and take vectors by pointer, for whose
 * registers no two instruction sets agree. */
#ifndef TRANSFER_LANES_H
#define TRANSFER_LANES_H

#include <stdint.h>

enum { FLOATS = 8, PAIRS = FLOATS / 2 }; /* PAIRS: complex values, real and imaginary part side by side */

typedef float floats __attribute__((vector_size(FLOATS * sizeof(float))));
typedef uint32_t bits __attribute__((vector_size(FLOATS * sizeof(uint32_t))));
typedef int32_t ints __attribute__((vector_size(FLOATS * sizeof(int32_t))));
typedef float floats_anywhere __attribute__((vector_size(FLOATS * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef float quad __attribute__((vector_size(4 * sizeof(float))));
typedef double doubles __attribute__((vector_size(4 * sizeof(double))));
typedef double doubles_anywhere __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)), may_alias));

#define LOAD_FLOATS(p) (*(const floats_anywhere *)(p))

/* Both halves, added. */
static inline __attribute__((always_inline)) void floats_to_doubles(const floats *v, doubles *sum)
{
	const quad low = __builtin_shufflevector(*v, *v, 0, 1, 2, 3), high = __builtin_shufflevector(*v, *v, 4, 5, 6, 7);
	*sum = __builtin_convertvector(low, doubles) + __builtin_convertvector(high, doubles);
}

/* Sine and cosine of 2 pi t. Error at most 1.5e-7, 2 ulp of values in [1/2, 1], for |t| < 2^20 as it stands in float (tested): to the
 * nearest quarter turn without rounding, then Chebyshev interpolation in r^2 on |r| <= 1/8, off by 3e-9. */
static inline __attribute__((always_inline)) void sine_cosine_turns(const floats *t, floats *sine, floats *cosine)
{
	const float shift = 0x1.8p23f; /* adding it leaves the nearest whole number in the low bits */
	const floats shifted = 4 * *t + shift, r = *t - 0.25f * (shifted - shift), z = r * r, zz = z * z;
	const floats s = r * ((6.2831853f + z * -41.3416626f) + zz * (81.5925429f + z * -75.4016127f)); /* in short chains: nothing else waits */
	const floats c = (1 + z * -19.7392088f) + zz * ((64.9393691f + z * -85.4488201f) + zz * 59.4241059f);
	const bits quadrant = (bits)shifted, odd = -(quadrant & 1), flip_s = (quadrant & 2) << 30, flip_c = ((quadrant + 1) & 2) << 30;
	*sine = (floats)((((bits)c & odd) | ((bits)s & ~odd)) ^ flip_s);
	*cosine = (floats)((((bits)s & odd) | ((bits)c & ~odd)) ^ flip_c);
}

#endif
