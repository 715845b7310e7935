#include "tools/ssb-prep/dft.h"

#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include "tools/transfer/kernel.h"

#define INLINE static inline __attribute__((always_inline))

enum { MOST_RADIX = 8, MOST_PASSES = 64 };

/* A pass turns `groups` interleaved transforms of radix * blocks points into radix times as many of `blocks` points. */
typedef struct pass {
	size_t radix, groups, blocks;
	const float (*twiddle)[2]; /* blocks x (radix - 1): cos and sin */
	float root[MOST_RADIX][2]; /* of an odd radix: cos and sin of 2 pi t / radix */
} pass;

struct dft {
	size_t n, passes;
	pass pass[MOST_PASSES];
	float (*twiddle)[2];       /* of all passes */
	fftwf_plan other;          /* for lengths with a prime factor above 7; NULL: the passes */
};

/* ---- butterflies: of one lane, in place, in natural order ---- */

INLINE void dft2(float *re, float *im)
{
	const float r = re[0], i = im[0];
	re[0] = r + re[1], im[0] = i + im[1];
	re[1] = r - re[1], im[1] = i - im[1];
}

INLINE void dft4(float *re, float *im)
{
	const float sr = re[0] + re[2], si = im[0] + im[2], dr = re[0] - re[2], di = im[0] - im[2];
	const float tr = re[1] + re[3], ti = im[1] + im[3], ur = im[1] - im[3], ui = re[3] - re[1]; /* u = -i (x1 - x3) */
	re[0] = sr + tr, im[0] = si + ti;
	re[1] = dr + ur, im[1] = di + ui;
	re[2] = sr - tr, im[2] = si - ti;
	re[3] = dr - ur, im[3] = di - ui;
}

INLINE void dft8(float *re, float *im)
{
	const float half_root = (float)M_SQRT1_2;
	float even_r[4], even_i[4], odd_r[4], odd_i[4];
	for (int t = 0; t < 4; t++) {
		even_r[t] = re[t] + re[t + 4], even_i[t] = im[t] + im[t + 4];
		odd_r[t] = re[t] - re[t + 4], odd_i[t] = im[t] - im[t + 4];
	}
	const float r1 = odd_r[1], i1 = odd_i[1], r2 = odd_r[2], i2 = odd_i[2], r3 = odd_r[3], i3 = odd_i[3];
	odd_r[1] = half_root * (i1 + r1), odd_i[1] = half_root * (i1 - r1); /* times exp(-i pi t / 4) */
	odd_r[2] = i2, odd_i[2] = -r2;
	odd_r[3] = half_root * (i3 - r3), odd_i[3] = -half_root * (i3 + r3);
	dft4(even_r, even_i);
	dft4(odd_r, odd_i);
	for (int t = 0; t < 4; t++) {
		re[2 * t] = even_r[t], im[2 * t] = even_i[t];
		re[2 * t + 1] = odd_r[t], im[2 * t + 1] = odd_i[t];
	}
}

/* By the definition, x(t) and x(radix - t) taken together. */
INLINE void dft_odd(size_t radix, const float (*root)[2], float *re, float *im)
{
	float sum_r[MOST_RADIX / 2], sum_i[MOST_RADIX / 2], difference_r[MOST_RADIX / 2], difference_i[MOST_RADIX / 2];
	const size_t half = radix / 2;
	const float r0 = re[0], i0 = im[0];
	for (size_t t = 1; t <= half; t++) {
		sum_r[t - 1] = re[t] + re[radix - t], sum_i[t - 1] = im[t] + im[radix - t];
		difference_r[t - 1] = re[t] - re[radix - t], difference_i[t - 1] = im[t] - im[radix - t];
		re[0] += sum_r[t - 1], im[0] += sum_i[t - 1];
	}
	for (size_t q = 1; q <= half; q++) {
		float even_r = r0, even_i = i0, odd_r = 0, odd_i = 0;
		for (size_t t = 1; t <= half; t++) {
			const float *w = root[q * t % radix];
			even_r += sum_r[t - 1] * w[0], even_i += sum_i[t - 1] * w[0];
			odd_r += difference_r[t - 1] * w[1], odd_i += difference_i[t - 1] * w[1];
		}
		re[q] = even_r + odd_i, im[q] = even_i - odd_r;
		re[radix - q] = even_r - odd_i, im[radix - q] = even_i + odd_r;
	}
}

/* ---- passes ---- */

/* x(i), x(i + stride) … x(i + (radix - 1) stride) of every lane, through the butterfly and the twiddle factors to y(0), y(groups) … */
INLINE void butterfly(size_t radix, const pass *p, const float (*twiddle)[2], const point *restrict x, point *restrict y)
{
	const size_t groups = p->groups, stride = groups * p->blocks;
	for (int k = 0; k < LANES; k++) {
		float re[MOST_RADIX], im[MOST_RADIX];
		for (size_t t = 0; t < radix; t++)
			re[t] = x[t * stride].re[k], im[t] = x[t * stride].im[k];
		if (radix == 2)
			dft2(re, im);
		else if (radix == 4)
			dft4(re, im);
		else if (radix == 8)
			dft8(re, im);
		else
			dft_odd(radix, p->root, re, im);
		y[0].re[k] = re[0], y[0].im[k] = im[0];
		for (size_t t = 1; t < radix; t++) {
			const float *w = twiddle[t - 1];
			y[t * groups].re[k] = re[t] * w[0] - im[t] * w[1];
			y[t * groups].im[k] = re[t] * w[1] + im[t] * w[0];
		}
	}
}

INLINE void pass_of(size_t radix, const pass *p, const point *restrict x, point *restrict y)
{
	for (size_t block = 0; block < p->blocks; block++)
		for (size_t group = 0; group < p->groups; group++)
			butterfly(radix, p, p->twiddle + block * (radix - 1), x + block * p->groups + group, y + block * p->groups * radix + group);
}

KERNEL
static void run_pass(const pass *p, const point *restrict x, point *restrict y)
{
	switch (p->radix) { /* constants, so that the butterflies become straight code */
	case 2: pass_of(2, p, x, y); break;
	case 3: pass_of(3, p, x, y); break;
	case 4: pass_of(4, p, x, y); break;
	case 5: pass_of(5, p, x, y); break;
	case 7: pass_of(7, p, x, y); break;
	default: pass_of(8, p, x, y);
	}
}

point *dft_run(const dft *d, point *restrict x, point *restrict work)
{
	point *from = x, *to = work;
	if (d->other) {
		fftwf_execute_split_dft(d->other, x->re, x->im, work->re, work->im);
		return work;
	}
	for (size_t i = 0; i < d->passes; i++) {
		run_pass(&d->pass[i], from, to);
		point *const result = to;
		to = from;
		from = result;
	}
	return from;
}

/* ---- making ---- */

/* The radix of the next pass over transforms of n points; 0 when there is none. */
static size_t radix_of(size_t n)
{
	static const size_t radices[] = {8, 4, 2, 3, 5, 7};
	for (size_t i = 0; i < sizeof radices / sizeof *radices; i++)
		if (n % radices[i] == 0)
			return radices[i];
	return 0;
}

/* cos and sin of -2 pi turn / n */
static void set_root(float root[2], size_t turn, size_t n)
{
	const double angle = -2 * M_PI * (double)(turn % n) / (double)n;
	root[0] = (float)cos(angle);
	root[1] = (float)sin(angle);
}

static void add_pass(dft *d, size_t radix, size_t left, float (*twiddle)[2])
{
	pass *p = &d->pass[d->passes++];
	*p = (pass){.radix = radix, .groups = d->n / left, .blocks = left / radix, .twiddle = (const float(*)[2])twiddle};
	for (size_t block = 0; block < p->blocks; block++)
		for (size_t t = 1; t < radix; t++)
			set_root(twiddle[block * (radix - 1) + t - 1], block * t, left);
	for (size_t t = 0; t < radix; t++) {
		set_root(p->root[t], t, radix);
		p->root[t][1] = -p->root[t][1];
	}
}

static bool make_passes(dft *d)
{
	size_t left = d->n, used = 0;
	d->twiddle = malloc((2 * d->n + 1) * sizeof *d->twiddle); /* n (1 - 1/radix) and at most half of that in each later pass */
	for (size_t radix = 0; d->twiddle && (radix = radix_of(left)); left /= radix) {
		add_pass(d, radix, left, d->twiddle + used);
		used += left / radix * (radix - 1);
	}
	return d->twiddle;
}

/* FFTW_ESTIMATE measures nothing: the same plan, and so the same rounding, in every run. */
static bool make_other(dft *d)
{
	point *x = aligned_alloc(64, d->n * sizeof *x), *y = aligned_alloc(64, d->n * sizeof *y);
	const int stride = sizeof *x / sizeof(float);
	const fftwf_iodim line = {(int)d->n, stride, stride}, lanes = {LANES, 1, 1};
	if (x && y)
		d->other = fftwf_plan_guru_split_dft(1, &line, 1, &lanes, x->re, x->im, y->re, y->im, FFTW_ESTIMATE);
	free(x);
	free(y);
	return d->other;
}

static bool is_smooth(size_t n)
{
	while (radix_of(n))
		n /= radix_of(n);
	return n == 1;
}

dft *dft_new(size_t n)
{
	dft *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->n = n;
	if (is_smooth(n) ? make_passes(d) : make_other(d))
		return d;
	dft_free(d);
	return NULL;
}

void dft_free(dft *d)
{
	if (!d)
		return;
	fftwf_destroy_plan(d->other);
	free(d->twiddle);
	free(d);
}
