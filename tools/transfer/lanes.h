/* Vectors of eight floats. Everything is element by element and contraction is off (-std=c11), so the same bytes come out whatever the
 * instruction set: eight lanes are one register of AVX2, two of SSE. Functions are inlined and take vectors by pointer, for whose
 * registers no two instruction sets agree. */
#ifndef TRANSFER_LANES_H
#define TRANSFER_LANES_H

#include <stdint.h>

enum { FLOATS = 8, PAIRS = FLOATS / 2 }; /* PAIRS: complex values, real and imaginary part side by side */

typedef float floats __attribute__((vector_size(FLOATS * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(FLOATS * sizeof(int32_t))));
typedef float floats_anywhere __attribute__((vector_size(FLOATS * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef float quad __attribute__((vector_size(4 * sizeof(float))));
typedef double doubles __attribute__((vector_size(4 * sizeof(double))));

#define LOAD_FLOATS(p) (*(const floats_anywhere *)(p))

#endif
