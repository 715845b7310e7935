/* Times of the sums over k on the CPU, on noise of the shape of a full acquisition: 8,807 BF pixels, every STRIDEth scan frequency of a
 * 512x512 scan, so that G does not fit into a cache. Beside them what reading G takes. Usage: kernels [STRIDE] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "tools/transfer/cpu.h"

enum { SCAN = 512 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static evidence *noise(int stride)
{
	static int32_t pixel[16384][2], q[SCAN * (SCAN / 2 + 1)][2];
	static const float complex *row[SCAN * (SCAN / 2 + 1)];
	static evidence e = {.geometry = {.wavelength_A = 0.019687489, .semiangle_rad = 0.03, .sampling_rad = {0.03 / 53, 0.03 / 53}, .centre_px = {95.6, 96.1}},
	                     .scan = {SCAN, SCAN}, .step_A = {0.264, 0.264}, .I0_counts = 1.5, .pixel = pixel, .q_index = q, .row = row};
	for (int i = 0; i < 192 * 192; i++)
		if (hypot(i / 192 - 95.6, i % 192 - 96.1) < 52.95) {
			pixel[e.pixels][0] = i / 192;
			pixel[e.pixels++][1] = i % 192;
		}
	for (int i = 1; i < SCAN * (SCAN / 2 + 1); i += stride) {
		q[e.bins][0] = i / (SCAN / 2 + 1);
		q[e.bins++][1] = i % (SCAN / 2 + 1);
	}
	float *G = malloc(2 * e.bins * e.pixels * sizeof *G);
	if (!G)
		exit(1);
#pragma omp parallel for
	for (size_t i = 0; i < e.bins; i++) {
		unsigned state = (unsigned)i + 1;
		row[i] = (const float complex *)G + i * e.pixels;
		for (size_t b = 0; b < 2 * e.pixels; b++) {
			state = state * 1664525u + 1013904223u;
			G[2 * i * e.pixels + b] = 600 * ((float)(state >> 8) / 0x1p24f - 0.5f);
		}
	}
	return &e;
}

static double read_all(const evidence *e)
{
	const double start = now();
	uint64_t sum = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : sum)
	for (size_t i = 0; i < e->bins; i++) {
		const uint64_t *word = (const uint64_t *)e->row[i];
#pragma omp simd reduction(+ : sum)
		for (size_t b = 0; b < e->pixels; b++)
			sum += word[b];
	}
	const double seconds = now() - start;
	if (sum == 0)
		puts("#");
	return seconds;
}

static void report(const char *name, const evidence *e, double seconds, double reading)
{
	const double elements = (double)e->bins * (double)e->pixels;
	printf("%-28s %7.3f s  %6.2f ns per (q,k)  %5.2f times reading  %6.2f s at full size\n", name, seconds, 1e9 * seconds / elements, seconds / reading,
	       seconds * 1.1588e9 / elements);
}

int main(int argc, char **argv)
{
	const evidence *e = noise(argc > 1 ? atoi(argv[1]) : 9);
	frequency *f = calloc(e->bins, sizeof *f);
	double *weight = calloc(e->bins, sizeof *weight);
	sums *s = calloc(e->bins, sizeof *s);
	static likelihood l;
	ssb_error err;
	const optics_parameters quadratic = {.C_A = {[C10] = -120, [C12a] = 25, [C12b] = -15}, .rotation_rad = 0.3};
	optics_parameters cubic = quadratic;
	cubic.C_A[C21a] = 500;
	cubic.C_A[C30] = 1e5;
	const int parameter[] = {C10, C12a, C12b, ROTATION, C21a, C21b, C23a, C23b, C30};
	for (size_t i = 0; i < e->bins; i++) {
		f[i].bin = i;
		evidence_q(e, i, f[i].q);
		weight[i] = 2;
	}
	printf("%zu bins x %zu pixels, %.2f GB\n", e->bins, e->pixels, 8e-9 * (double)(e->bins * e->pixels));
	for (int i = 0; i < 2; i++) {
		const double reading = read_all(e);
		report("reading", e, reading, reading);
		double start = now();
		cpu_sums(e, &quadratic, f, e->bins, false, s, &err);
		report("S, W, quadratic", e, now() - start, reading);
		start = now();
		cpu_derivatives(e, &quadratic, parameter, 4, f, e->bins, weight, s, &l, &err);
		report("derivatives, quadratic", e, now() - start, reading);
		start = now();
		cpu_sums(e, &cubic, f, e->bins, false, s, &err);
		report("S, W, general", e, now() - start, reading);
		start = now();
		cpu_derivatives(e, &cubic, parameter, 9, f, e->bins, weight, s, &l, &err);
		report("derivatives, nine", e, now() - start, reading);
	}
	return 0;
}
