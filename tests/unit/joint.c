/* Aliases solved: a known image out of the sum of its aliases, the noise by Monte Carlo, and what it shares with ls. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"
#include "tools/transfer/cpu.h"
#include "tools/transfer/joint.h"
#include "tools/transfer/reconstruct.h"

static const double I0 = 50;
static const size_t ANY_MEMORY = SIZE_MAX;

/* A scan of R x C positions seen by a disk of `radius` pixels. Every bin of the half plane is stored; G is 0. */
typedef struct scan {
	evidence e;
	float complex *G;
} scan;

static scan make_scan(size_t R, size_t C, double radius, double step_A)
{
	scan s = {.e = {.geometry = {.wavelength_A = 0.02, .semiangle_rad = 0.03, .centre_px = {0.21, -0.13}}, .scan = {R, C},
	                .step_A = {step_A, 1.1 * step_A}, .I0_counts = I0, .bins = R * (C / 2 + 1)}};
	evidence *e = &s.e;
	e->geometry.sampling_rad[0] = e->geometry.sampling_rad[1] = 0.03 / radius;
	const int32_t reach = (int32_t)radius + 2;
	int32_t(*pixel)[2] = calloc(4 * (size_t)reach * (size_t)reach, sizeof *pixel), (*q)[2] = calloc(e->bins, sizeof *q);
	for (int32_t r = -reach; r < reach; r++)
		for (int32_t c = -reach; c < reach; c++)
			if (hypot(r - e->geometry.centre_px[0], c - e->geometry.centre_px[1]) < radius) {
				pixel[e->pixels][0] = r;
				pixel[e->pixels++][1] = c;
			}
	const float complex **row = calloc(e->bins, sizeof *row);
	s.G = calloc(e->bins * e->pixels + 1, sizeof *s.G);
	for (size_t i = 0; i < e->bins; i++) {
		q[i][0] = (int32_t)(i / (C / 2 + 1));
		q[i][1] = (int32_t)(i % (C / 2 + 1));
		row[i] = s.G + i * e->pixels;
	}
	e->pixel = pixel, e->q_index = q, e->row = row;
	return s;
}

static void free_scan(scan *s)
{
	free((void *)s->e.pixel);
	free((void *)s->e.q_index);
	free((void *)s->e.row);
	free(s->G);
}

static uint64_t state = 88172645463325252u;

static double uniform(void)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	const double radius = sqrt(-2 * log(uniform()));
	return radius * cos(2 * M_PI * uniform());
}

static size_t modulo(long i, size_t n)
{
	return (size_t)((i % (long)n + (long)n) % (long)n);
}

/* G += i I0 phi gamma(q) in the bin that (m, n) is an alias of, if that is stored; W of q. */
static double add_frequency(scan *s, const pixel_table *t, overlap *o, long m, long n, double complex phi)
{
	const evidence *e = &s->e;
	const size_t r = modulo(m, e->scan[0]), c = modulo(n, e->scan[1]);
	const double q[2] = {(double)m / ((double)e->scan[0] * e->step_A[0]), (double)n / ((double)e->scan[1] * e->step_A[1])};
	double W = 0;
	float complex *G = c <= e->scan[1] / 2 ? s->G + (r * (e->scan[1] / 2 + 1) + c) * e->pixels : NULL;
	overlap_select(o, t, q, s->G, false);
	overlap_gamma(o, t, q);
	for (size_t i = 0; i < o->count; i++) {
		const double complex gamma = CMPLX(o->term[0].amplitude[i], o->term[0].phase[i]);
		W += creal(gamma * conj(gamma));
		if (G)
			G[o->index[i]] += (float complex)(I * I0 * phi * gamma);
	}
	return W;
}

/* image += phi and its mirror, at (m, n) of the transform of f R x f C points. */
static void add_wave(double *image, const evidence *e, size_t factor, long m, long n, double complex phi)
{
	const size_t rows = factor * e->scan[0], columns = factor * e->scan[1];
	const double share = 2 * labs(m) == (long)rows || 2 * labs(n) == (long)columns ? 0.5 : 1;
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++) {
			const double angle = 2 * M_PI * ((double)m * (double)i / (double)rows + (double)n * (double)j / (double)columns);
			image[i * columns + j] += 2 * share * creal(phi * cexp(I * angle)) / (double)(e->scan[0] * e->scan[1]);
		}
}

/* Random Phi at every frequency of the image that has a transfer, both signs of the Nyquist frequency (where both axes are there, like
 * signs, as in plane.h); none at q = 0 and its replicas, where the direct beam is. The image that they are. */
static double *fill_scan(scan *s, const optics_parameters *p, size_t factor)
{
	const evidence *e = &s->e;
	const long half[2] = {(long)(factor * e->scan[0] / 2), (long)(factor * e->scan[1] / 2)};
	double *image = calloc(factor * factor * e->scan[0] * e->scan[1], sizeof *image);
	pixel_table t;
	overlap o;
	if (!pixel_table_make(&t, e, p) || !overlap_make(&o, e->pixels))
		exit(1);
	for (long m = 0; m <= half[0]; m++)
		for (long n = m == 0 ? 1 : -half[1]; n <= half[1]; n++) {
			const double complex phi = CMPLX(normal(), normal());
			const bool of_centre = modulo(m, e->scan[0]) == 0 && modulo(n, e->scan[1]) == 0;
			const bool unlike = 2 * m == (long)(factor * e->scan[0]) && 2 * -n == (long)(factor * e->scan[1]);
			if (of_centre || unlike || add_frequency(s, &t, &o, m, n, 0) < 0.02 * (double)e->pixels)
				continue;
			add_frequency(s, &t, &o, m, n, phi);
			add_frequency(s, &t, &o, -m, -n, conj(phi));
			add_wave(image, e, factor, m, n, phi);
		}
	for (size_t b = 0; b < e->pixels; b++)
		s->G[b] = (float)(I0 * (double)(e->scan[0] * e->scan[1]) * t.aperture[b] * t.aperture[b]);
	overlap_free(&o);
	pixel_table_free(&t);
	return image;
}

/* rms difference over rms of b */
static double difference(const double *a, const double *b, size_t count)
{
	double off = 0, all = 0;
	for (size_t i = 0; i < count; i++) {
		off += (a[i] - b[i]) * (a[i] - b[i]);
		all += b[i] * b[i];
	}
	return sqrt(off / all);
}

typedef struct images {
	size_t count;
	double *joint, *ls, amplification;
} images;

static images reconstruct_both(const evidence *e, const optics_parameters *p, size_t factor, double epsilon)
{
	images x = {.count = factor * factor * e->scan[0] * e->scan[1]};
	ssb_error err;
	x.joint = malloc(x.count * sizeof *x.joint);
	x.ls = malloc(x.count * sizeof *x.ls);
	if (!reconstruct_joint(e, p, factor, epsilon, ANY_MEMORY, x.joint, &x.amplification, &err) ||
	    !reconstruct(&backend_cpu, e, p, ESTIMATOR_LS, factor, epsilon, x.ls, &err))
		exit(1);
	return x;
}

static void free_images(images *x)
{
	free(x->joint);
	free(x->ls);
}

static const optics_parameters defocused = {.C_A = {[C10] = -110, [C12a] = 15, [C12b] = -8, [C21a] = 300}, .rotation_rad = 0.4};
static const optics_parameters thick = {.C_A = {[C10] = 90}, .thickness_A = 60, .tilt_rad = {4e-3, -3e-3}, .rotation_rad = -2.1, .transposed = true};

/* G made of G's aliases alone: joint gives the image back, ls does not. */
static void check_exact(const char *name, size_t R, size_t C, double step_A, size_t factor, const optics_parameters *p)
{
	scan s = make_scan(R, C, 9, step_A);
	double *truth = fill_scan(&s, p, factor);
	images x = reconstruct_both(&s.e, p, factor, 1e-7);
	const double off = difference(x.joint, truth, x.count), off_ls = difference(x.ls, truth, x.count);
	CHECK(off < 2e-4 && off_ls > 0.01, "%s: joint gives the image to %.1e, ls to %.1e", name, off, off_ls);
	free_images(&x);
	free(truth);
	free_scan(&s);
}

/* Where no frequency has an alias joint, summed in double, is ls, summed in single precision; on an even axis the Nyquist frequency is its own. */
static void check_fine_scan(size_t R, size_t C, bool even)
{
	scan s = make_scan(R, C, 9, 0.3);
	free(fill_scan(&s, &defocused, 1));
	images x = reconstruct_both(&s.e, &defocused, 1, 1e-3);
	const double off = difference(x.joint, x.ls, x.count);
	CHECK(even ? off > 1e-6 : off < 1e-7 && fabs(x.amplification - 1) < 1e-12, "%zu x %zu, not upsampled: off ls by %.1e", R, C, off);
	free_images(&x);
	free_scan(&s);
}

/* The direct beam and whatever else G(0,k) holds leave no trace: no raster of the scan's period. */
static void check_centre(void)
{
	scan s = make_scan(6, 5, 7, 0.7);
	images before, after;
	free(fill_scan(&s, &defocused, 3));
	before = reconstruct_both(&s.e, &defocused, 3, 1e-3);
	for (size_t b = 0; b < s.e.pixels; b++)
		s.G[b] *= (float)(1 + 0.2 * normal());
	after = reconstruct_both(&s.e, &defocused, 3, 1e-3);
	CHECK(!memcmp(before.joint, after.joint, before.count * sizeof *before.joint), "G(0,k) is not in the image");
	free_images(&before);
	free_images(&after);
	free_scan(&s);
}

/* G of shot noise: independent normal counts of variance I0 at each position and pixel. */
static void fill_noise(scan *s)
{
	const evidence *e = &s->e;
	const size_t R = e->scan[0], C = e->scan[1], half = C / 2 + 1;
	double *counts = calloc(R * C, sizeof *counts);
	for (size_t b = 0; b < e->pixels; b++) {
		for (size_t i = 0; i < R * C; i++)
			counts[i] = sqrt(I0) * normal();
		for (size_t i = 0; i < e->bins; i++) {
			double complex sum = 0;
			for (size_t j = 0; j < R * C; j++) {
				const size_t row = i / half * (j / C), column = i % half * (j % C);
				const double angle = (double)row / (double)R + (double)column / (double)C;
				sum += counts[j] * cexp(-2 * M_PI * I * angle);
			}
			s->G[i * e->pixels + b] = (float complex)sum;
		}
	}
	free(counts);
}

static void check_noise(size_t R, size_t C, double radius, double step_A, size_t factor, int draws)
{
	const optics_parameters focus = {.rotation_rad = 0.3}; /* where the replicas' gamma are most alike, and noise amplified most */
	scan s = make_scan(R, C, radius, step_A);
	double joint = 0, ls = 0, amplification = 0;
	for (int draw = 0; draw < draws; draw++) {
		fill_noise(&s);
		images x = reconstruct_both(&s.e, &focus, factor, 1e-3);
		for (size_t i = 0; i < x.count; i++) {
			joint += x.joint[i] * x.joint[i];
			ls += x.ls[i] * x.ls[i];
		}
		amplification = x.amplification;
		free_images(&x);
	}
	CHECK(fabs(joint / ls / amplification - 1) < 0.05 && amplification > 1.1,
	      "%zu x %zu, %zu times: noise amplified %.3f times, %.3f in %d draws", R, C, factor, amplification, joint / ls, draws);
	free_scan(&s);
}

static void check_threads(void)
{
	scan s = make_scan(16, 15, 9, 0.4);
	free(fill_scan(&s, &thick, 3));
	images one = reconstruct_both(&s.e, &thick, 3, 1e-3);
	omp_set_num_threads(3);
	images three = reconstruct_both(&s.e, &thick, 3, 1e-3);
	omp_set_num_threads(1);
	CHECK(!memcmp(one.joint, three.joint, one.count * sizeof *one.joint) && one.amplification == three.amplification,
	      "the same bytes with 1 and 3 threads");
	free_images(&one);
	free_images(&three);
	free_scan(&s);
}

static void check_refusals(void)
{
	scan coarse = make_scan(5, 5, 5, 0.5), fine = make_scan(5, 5, 5, 0.05);
	double image[225], amplification;
	ssb_error err;
	CHECK(!reconstruct_joint(&coarse.e, &defocused, 3, 1e-3, 1000, image, &amplification, &err) && err.status == SSB_RUNTIME &&
	              strstr(err.text, "--memory"), "equations that do not fit: %s", err.text);
	CHECK(!reconstruct_joint(&fine.e, &defocused, 1, 1e-3, ANY_MEMORY, image, &amplification, &err) && err.status == SSB_BAD_INPUT &&
	              strstr(err.text, "transfer"), "no transfer: %s", err.text);
	free_scan(&coarse);
	free_scan(&fine);
}

int main(void)
{
	omp_set_num_threads(1); /* many small problems */
	check_exact("odd, 2 times", 7, 9, 0.3, 2, &defocused);
	check_exact("even, 2 times", 8, 6, 0.3, 2, &defocused);
	check_exact("even, 3 times", 6, 8, 0.45, 3, &thick);
	check_exact("even by odd, 4 times", 4, 5, 0.6, 4, &defocused);
	check_exact("Nyquist inside the band", 8, 6, 0.3, 1, &defocused);
	check_fine_scan(9, 11, false);
	check_fine_scan(10, 8, true);
	check_centre();
	check_noise(5, 7, 2.5, 0.4, 2, 100);
	check_noise(6, 5, 1.6, 0.2, 1, 400);
	check_noise(6, 4, 2.5, 0.6, 3, 100);
	check_threads();
	check_refusals();
	return test_end();
}
