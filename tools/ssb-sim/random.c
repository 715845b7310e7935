#include "tools/ssb-sim/random.h"

#include <math.h>
#include "tools/transfer/kernel.h"

enum { BATCH = 128 }; /* counters in hand */

/* Ten rounds on n counters, word[w][i]; the loop over counters is the inner one, so that it becomes vector code. */
KERNEL static void philox_batch(uint64_t key, size_t n, uint32_t (*word)[BATCH])
{
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	for (int round = 0; round < 10; round++) {
		for (size_t i = 0; i < n; i++) {
			const uint64_t p0 = (uint64_t)0xD2511F53 * word[0][i], p1 = (uint64_t)0xCD9E8D57 * word[2][i];
			word[0][i] = (uint32_t)(p1 >> 32) ^ word[1][i] ^ k0;
			word[1][i] = (uint32_t)p1;
			word[2][i] = (uint32_t)(p0 >> 32) ^ word[3][i] ^ k1;
			word[3][i] = (uint32_t)p0;
		}
		k0 += 0x9E3779B9;
		k1 += 0xBB67AE85;
	}
}

void philox(uint64_t key, uint32_t counter[4])
{
	uint32_t word[4][BATCH];
	for (int w = 0; w < 4; w++)
		word[w][0] = counter[w];
	philox_batch(key, 1, word);
	for (int w = 0; w < 4; w++)
		counter[w] = word[w][0];
}

/* Of two words, in (0, 1): the middle of one of 2^53 intervals would round to 1 at the end, so 52 bits and a half. */
static inline double open_uniform(uint32_t high, uint32_t low)
{
	const uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
	return ((double)bits + 0.5) * 0x1p-52;
}

double random_uniform(random_sequence *sequence)
{
	uint32_t word[4] = {(uint32_t)sequence->next, (uint32_t)(sequence->next >> 32), 0, sequence->use};
	sequence->next++;
	philox(sequence->seed, word);
	return open_uniform(word[0], word[1]);
}

size_t random_below(random_sequence *sequence, size_t count)
{
	return (size_t)(random_uniform(sequence) * (double)count);
}

void random_normal_pair(random_sequence *sequence, double normal[2])
{
	const double radius = sqrt(-2 * log(random_uniform(sequence))), angle = 2 * M_PI * random_uniform(sequence);
	normal[0] = radius * cos(angle);
	normal[1] = radius * sin(angle);
}

enum { LARGE_MEAN = 16, TERMS = 80 }; /* the probability of TERMS at LARGE_MEAN is 1e-29, far below the last bit of u */

/* Inversion: the smallest k whose cumulative probability exceeds u. 1 - mean < exp(-mean) settles most dark pixels at once. */
static uint32_t poisson_by_inversion(double mean, double u, const double inverse[TERMS])
{
	if (u < 1 - mean)
		return 0;
	double p = exp(-mean), below = p;
	uint32_t k = 0;
	while (u > below && k < TERMS - 1) {
		p *= mean * inverse[++k];
		below += p;
	}
	return k;
}

/* Transformed rejection, algorithm PTRS of Hoermann, Insurance: Mathematics and Economics 12 (1993) 39; for means >= 10. */
static uint32_t poisson_by_rejection(uint64_t seed, uint32_t pixel, uint32_t position, double mean)
{
	const double log_mean = log(mean), b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
	const double log_alpha = log(1.1239 + 1.1328 / (b - 3.4)), sure = 0.9277 - 3.6224 / (b - 2);
	for (uint32_t attempt = 0;; attempt++) {
		uint32_t word[4] = {position, pixel, attempt, RANDOM_LARGE_MEAN};
		philox(seed, word);
		const double u = open_uniform(word[0], word[1]) - 0.5, v = open_uniform(word[2], word[3]), us = 0.5 - fabs(u);
		const double k = floor((2 * a / us + b) * u + mean + 0.43);
		if (us >= 0.07 && v <= sure)
			return (uint32_t)k;
		if (k < 0 || (us < 0.013 && v > us))
			continue;
		if (log(v) + log_alpha - log(a / (us * us) + b) <= -mean + k * log_mean - lgamma_r(k + 1, &(int){0}))
			return (uint32_t)k;
	}
}

/* Means near 2^32 and above are the largest count of all: the caller clips that to its type. */
static inline uint32_t poisson_count(uint64_t seed, uint32_t pixel, uint32_t position, double mean, double u, const double inverse[TERMS])
{
	if (mean < LARGE_MEAN)
		return poisson_by_inversion(mean, u, inverse);
	return mean < 4e9 ? poisson_by_rejection(seed, pixel, position, mean) : UINT32_MAX;
}

/* Uniform numbers of 2 BATCH positions from `first` on: one counter serves two. */
KERNEL static void batch_uniforms(uint64_t seed, uint32_t pixel, uint32_t first, double u[2 * BATCH])
{
	uint32_t word[4][BATCH];
	for (uint32_t i = 0; i < BATCH; i++) {
		word[0][i] = first / 2 + i;
		word[1][i] = pixel;
		word[2][i] = 0;
		word[3][i] = RANDOM_SMALL_MEAN;
	}
	philox_batch(seed, BATCH, word);
	for (size_t i = 0; i < BATCH; i++) {
		u[2 * i] = open_uniform(word[0][i], word[1][i]);
		u[2 * i + 1] = open_uniform(word[2][i], word[3][i]);
	}
}

void poisson_counts(uint64_t seed, uint32_t pixel, const float *mean, size_t n, uint32_t *count)
{
	double inverse[TERMS] = {0};
	for (int k = 1; k < TERMS; k++)
		inverse[k] = 1.0 / k;
	for (size_t at = 0; at < n; at += 2 * BATCH) {
		double u[2 * BATCH];
		batch_uniforms(seed, pixel, (uint32_t)at, u);
		for (size_t i = 0; i < 2 * BATCH && at + i < n; i++)
			count[at + i] = poisson_count(seed, pixel, (uint32_t)(at + i), mean[at + i], u[i], inverse);
	}
}
