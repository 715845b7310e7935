/* Random numbers that are functions of what they are for: the same seed, position and pixel give the same number in any order and
 * on any number of threads. Philox4x32-10 (Salmon et al., SC 2011), a bijection of a 128-bit counter under a 64-bit key. */
#ifndef SSB_SIM_RANDOM_H
#define SSB_SIM_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* What a number is for: the last word of the counter keeps the uses apart. */
enum random_use { RANDOM_SMALL_MEAN, RANDOM_LARGE_MEAN, RANDOM_SPECIMEN, RANDOM_BAD_PIXELS };

/* Ten rounds: replaces the counter by four random words. */
void philox(uint64_t key, uint32_t counter[4]);

/* A sequence of uniform numbers for one use, where the order is fixed: start with next = 0. */
typedef struct random_sequence {
	uint64_t seed;
	enum random_use use;
	uint64_t next;
} random_sequence;

double random_uniform(random_sequence *sequence);                     /* in (0, 1), 53 bits */
size_t random_below(random_sequence *sequence, size_t count);         /* 0 … count - 1 */
void random_normal_pair(random_sequence *sequence, double normal[2]); /* independent, standard normal */

/* Poisson counts of one detector pixel at scan positions 0 … n - 1 with the given means (>= 0), exact to double precision at any mean.
 * Each depends on (seed, position, pixel) and its own mean only. */
void poisson_counts(uint64_t seed, uint32_t pixel, const float *mean, size_t n, uint32_t *count);

#endif
