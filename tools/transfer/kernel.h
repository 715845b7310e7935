/* Loops over the BF pixels of one q, as vector code for the machine at hand: what the sums of the CPU backend share.
 * Every array is one double per pixel that takes part (inside at least one double overlap), in the order of the pixels. */
#ifndef TRANSFER_KERNEL_H
#define TRANSFER_KERNEL_H

#include "tools/transfer/evidence.h"
#include "tools/transfer/pixels.h"

/* Compiled for several instruction sets, the best one chosen at start-up. Tests define it to have one of them. */
#ifdef KERNEL
#define LANES_KERNEL KERNEL
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(SSB_NO_CLONES)
#define KERNEL __attribute__((target_clones("avx512f", "avx2", "default")))
#define LANES_KERNEL __attribute__((target_clones("avx2", "default"))) /* of lanes.h: under AVX-512 gcc 12 does its masks in 64 bytes, 1.4 times slower */
#else
#define KERNEL
#define LANES_KERNEL
#endif

/* False when memory runs out. */
bool pixel_table_make(pixel_table *table, const evidence *e, const optics_parameters *p);
void pixel_table_free(pixel_table *table);

/* The pixels of one q. `term[0]` is T_-, `term[1]` T_+. */
typedef struct overlap {
	size_t count;
	uint32_t *index;           /* into the BF pixels */
	double *detector[2], *scan[2], *aperture, *chi_k;
	double *G_re, *G_im;
	struct { double *amplitude, *phase; } term[2];
	void *memory;
} overlap;

bool overlap_make(overlap *o, size_t pixels);
void overlap_free(overlap *o);

/* Select the pixels inside a double overlap of q (scan frame), with their G (conjugated if asked). */
void overlap_select(overlap *o, const pixel_table *t, const double q[2], const float complex *G, bool conjugate);

/* Fill both terms' amplitude a w and phase psi. */
void overlap_terms(overlap *o, const pixel_table *t, const double q[2]);

/* As overlap_terms, then gamma itself: its real part over term[0].amplitude, its imaginary part over term[0].phase. */
void overlap_gamma(overlap *o, const pixel_table *t, const double q[2]);

/* out[i] = p(r[i] + dr, c[i] + dc) */
void polynomial_values(const polynomial *p, const double *r, const double *c, double dr, double dc, size_t count, double *out);

#endif
