/* Times of the sums over k on the CPU, on noise of the shape of a full acquisition: 8,807 BF pixels, every STRIDEth scan frequency of a
 * 512x512 scan, so that G does not fit into a cache. Beside them what reading G takes. Usage: build/bench/kernels [STRIDE [PART OF A NAME]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	for (int r = 0; r < 192; r++)
		for (int c = 0; c < 192; c++)
			if (hypot(r - 95.6, c - 96.1) < 52.95) {
				pixel[e.pixels][0] = r;
				pixel[e.pixels++][1] = c;
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

/* What is timed. */
typedef struct bench {
	const evidence *e;
	frequency *f;
	double *weight;
	sums *s;
	optics_parameters p;
	size_t parameters; /* of derivatives; 0: S and W */
} bench;

static void read_all(bench *b)
{
	uint64_t sum = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : sum)
	for (size_t i = 0; i < b->e->bins; i++) {
		const uint64_t *word = (const uint64_t *)b->e->row[i];
#pragma omp simd reduction(+ : sum)
		for (size_t j = 0; j < b->e->pixels; j++)
			sum += word[j];
	}
	if (sum == 0)
		puts("#");
}

static void compute(bench *b)
{
	static const int parameter[] = {C10, C12a, C12b, ROTATION, C21a, C21b, C23a, C23b, C30};
	static likelihood l;
	ssb_error err;
	if (b->parameters > 0 ? !cpu_derivatives(b->e, &b->p, parameter, b->parameters, b->f, b->e->bins, b->weight, b->s, &l, &err)
	                      : !cpu_sums(b->e, &b->p, b->f, b->e->bins, false, b->s, &err))
		exit(1);
}

/* The best of five; returns its seconds. */
static double report(const char *name, const char *wanted, bench *b, void (*run)(bench *), double reading)
{
	if (!strstr(name, wanted))
		return 0;
	const double elements = (double)b->e->bins * (double)b->e->pixels;
	double wall = INFINITY, cpu = INFINITY;
	for (int i = 0; i < 5; i++) {
		const double start = now();
		const clock_t start_cpu = clock();
		run(b);
		wall = fmin(wall, now() - start);
		cpu = fmin(cpu, (double)(clock() - start_cpu) / CLOCKS_PER_SEC);
	}
	printf("%-22s wall %6.2f ns per (q,k), CPU %6.2f ns; %6.2f s at full size; %5.2f times reading\n", name, 1e9 * wall / elements, 1e9 * cpu / elements,
	       1.1588 * 1e9 * wall / elements, reading > 0 ? wall / reading : 1);
	return wall;
}

int main(int argc, char **argv)
{
	bench b = {.e = noise(argc > 1 ? atoi(argv[1]) : 9)};
	b.f = calloc(b.e->bins, sizeof *b.f);
	b.weight = calloc(b.e->bins, sizeof *b.weight);
	b.s = calloc(b.e->bins, sizeof *b.s);
	for (size_t i = 0; i < b.e->bins; i++) {
		b.f[i].bin = i;
		evidence_q(b.e, i, b.f[i].q);
		b.weight[i] = 2;
	}
	const char *wanted = argc > 2 ? argv[2] : "";
	printf("%zu bins x %zu pixels, %.2f GB\n", b.e->bins, b.e->pixels, 8e-9 * (double)(b.e->bins * b.e->pixels));
	const double reading = report("reading", wanted, &b, read_all, 0);
	b.p = (optics_parameters){.C_A = {[C10] = -120, [C12a] = 25, [C12b] = -15}, .rotation_rad = 0.3};
	report("S, W quadratic", wanted, &b, compute, reading);
	b.parameters = 4;
	report("derivatives quadratic", wanted, &b, compute, reading);
	b.p.C_A[C21a] = 500;
	b.p.C_A[C30] = 1e5;
	b.parameters = 0;
	report("S, W general", wanted, &b, compute, reading);
	b.parameters = 9;
	report("derivatives, nine", wanted, &b, compute, reading);
	free(b.f);
	free(b.weight);
	free(b.s);
	return 0;
}
