/* IEEE 754 half precision: 11 significant bits, normal from 2^-14 to 65504. */
#ifndef TRANSFER_HALF_H
#define TRANSFER_HALF_H

#include <stddef.h>
#include <stdint.h>

/* out[i] = scale times half[i], exact where `scale` is a power of two. */
void half_expand(const uint16_t *half, size_t count, float scale, float *out);

/* half[i] = factor times value[i], rounded to nearest, ties to even; infinite from 65520. */
void half_round(const float *value, size_t count, float factor, uint16_t *half);

/* The same in plain C, which the machine's own instructions must equal. */
void half_expand_plain(const uint16_t *half, size_t count, float scale, float *out);
void half_round_plain(const float *value, size_t count, float factor, uint16_t *half);

#endif
