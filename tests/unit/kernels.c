/* The sums in single precision without any vector instruction set but the baseline's, and against those in double precision. */
#define KERNEL
#include "tests/unit/kernel_variant.h"

/* The general path's: a thickness that does nothing keeps it off the quadratic one. */
static void in_double(const evidence *e, optics_parameters p, const frequency *f, size_t count, const double *weight, sums *s, likelihood *l)
{
	ssb_error err;
	p.thickness_A = 1e-30;
	if (!cpu_sums(e, &p, f, count, false, s, &err) || (l && !cpu_derivatives(e, &p, some, SOME, f, count, weight, s, l, &err)))
		exit(1);
}

/* Errors within the bounds of quadratic.h and thin.h. */
static void check_sums(const char *name, const evidence *e, const optics_parameters *p)
{
	const size_t count = 2 * e->bins;
	frequency *f = every_frequency(e);
	sums *fast = calloc(count, sizeof *fast), *expected = calloc(count, sizeof *expected);
	double worst = 0, worst_W = 0, most = 0;
	ssb_error err;
	row_table t;
	if (!row_table_make(&t, e, p) || !cpu_sums(e, p, f, count, false, fast, &err))
		exit(1);
	in_double(e, *p, f, count, NULL, expected, NULL);
	for (size_t i = 0; i < count; i++) {
		double sum = 0; /* |G| (a_- + a_+) */
		for (size_t b = 0; b < e->pixels; b++)
			for (int sign = -1; sign <= 1; sign += 2) {
				double q[2], k[2];
				to_detector_frame(f[i].q, p->transposed, t.pixels.cosine, t.pixels.sine, q);
				evidence_k(e, b, k);
				sum += cabs(e->row[f[i].bin][b]) * t.pixels.aperture[b] *
				       aperture_value(k[0] + sign * q[0], k[1] + sign * q[1], t.pixels.wavelength, t.pixels.semiangle, t.pixels.sampling);
			}
		if (sum > 0)
			worst = fmax(worst, cabs(fast[i].S - expected[i].S) / sum);
		worst_W = fmax(worst_W, fabs(fast[i].W - expected[i].W));
		most = fmax(most, expected[i].W);
	}
	const bool quadratic = quadratic_suits(&t);
	const double bound = (quadratic ? (double)t.columns / PAIRS + 4 : (double)t.columns / FLOATS + 9) * 0x1p-24;
	CHECK(worst < bound, "%s: S within the bound (%.1e, %.1e of the sum of moduli)", name, worst, bound);
	CHECK(worst < 1e-7, "%s: and well within: errors are independent", name);
	CHECK(worst_W < (quadratic ? 1e-12 : 2 * bound) * most, "%s: W (%.1e)", name, worst_W / most);
	row_table_free(&t);
	free(f);
	free(fast);
	free(expected);
}

/* The sine and cosine of thin.c, within half a turn and far beyond. */
static void check_sines(void)
{
	double worst = 0, worst_small = 0;
	for (int i = -4000000; i <= 4000000; i++) {
		const double of_turn = 0.5 * i / 4000000, far = 0x1p20 * of_turn + of_turn;
		floats t = {0}, s, c;
		t[0] = (float)of_turn;
		t[5] = (float)far;
		sine_cosine_turns(&t, &s, &c);
		for (int k = 0; k < FLOATS; k += 5) {
			const double x = t[k] - floor(t[k]), error = fmax(fabs(s[k] - sin(2 * M_PI * x)), fabs(c[k] - cos(2 * M_PI * x)));
			worst = fmax(worst, error);
		}
		if (fabs(of_turn) < 0.01 && i)
			worst_small = fmax(worst_small, fabs(s[0] / sin(2 * M_PI * (double)t[0]) - 1));
	}
	CHECK(worst <= 2 * 0x1p-24, "sine and cosine to 2 ulp of [1/2, 1] (%.2e)", worst);
	CHECK(worst_small <= 4 * 0x1p-24, "and a small sine to 4 of its own half ulps (%.2e)", worst_small);
}

static double off_diagonal_scale(const double *m, int i, int j)
{
	return sqrt(fabs(m[i * SOME + i] * m[j * SOME + j]));
}

/* At the S, W of double precision: each sum over k has an error of 1e-7 of its moduli, and noise has no signal that would add up. */
static void check_derivatives(const char *name, const evidence *e, const optics_parameters *p)
{
	const size_t count = 2 * e->bins;
	frequency *f = every_frequency(e);
	sums *s = calloc(count, sizeof *s);
	double *weight = calloc(count, sizeof *weight), worst[4] = {0, 0, 0, 0};
	static likelihood fast, expected;
	ssb_error err;
	in_double(e, *p, f, count, weight, s, &expected);
	for (size_t i = 0; i < count; i++)
		weight[i] = s[i].W > 1 ? 1 + (double)(i % 2) : 0;
	in_double(e, *p, f, count, weight, s, &expected);
	if (!cpu_derivatives(e, p, some, SOME, f, count, weight, s, &fast, &err))
		exit(1);
	for (int i = 0; i < SOME; i++) {
		worst[0] = fmax(worst[0], fabs(fast.gradient[i] - expected.gradient[i]) / sqrt(expected.L * expected.gauss_newton[i * SOME + i]));
		for (int j = 0; j < SOME; j++) {
			const int at = i * SOME + j;
			worst[1] = fmax(worst[1], fabs(fast.hessian[at] - expected.hessian[at]) / off_diagonal_scale(expected.gauss_newton, i, j));
			worst[2] = fmax(worst[2], fabs(fast.gauss_newton[at] - expected.gauss_newton[at]) / off_diagonal_scale(expected.gauss_newton, i, j));
			worst[3] = fmax(worst[3], fabs(fast.sum_kappa[at] - expected.sum_kappa[at]) / off_diagonal_scale(expected.sum_kappa, i, j));
		}
	}
	CHECK(fabs(fast.L / expected.L - 1) < 1e-14 && fast.multiplicity == expected.multiplicity && fast.multiplicity > 0, "%s: L", name);
	CHECK(worst[0] < 1e-6, "%s: gradient (%.1e)", name, worst[0]);
	CHECK(worst[1] < 1e-6, "%s: Hessian (%.1e)", name, worst[1]);
	CHECK(worst[2] < 1e-10 && worst[3] < 1e-10, "%s: J and kappa, which hold no G (%.1e, %.1e)", name, worst[2], worst[3]);
	free(f);
	free(s);
	free(weight);
}

int main(void)
{
	const evidence *e = noise_evidence();
	const optics_parameters p[] = {{.C_A = {[C10] = 150}},
	                               {.C_A = {[C10] = -310, [C12a] = 40, [C12b] = -75}, .rotation_rad = 2},
	                               {.C_A = {[C10] = 80, [C12b] = 120}, .rotation_rad = -0.4, .log_sampling = 0.05, .transposed = true},
	                               {.rotation_rad = 1}};
	const char *const name[] = {"C10", "C10, C12, rotated", "transposed, scaled", "no aberration"};
	const optics_parameters thin[] = {{.C_A = {[C10] = 150, [C21a] = 2e3}, .rotation_rad = 1},
	                                  {.C_A = {[C10] = -900, [C12a] = 140, [C23b] = -3e3, [C30] = 2e6}, .rotation_rad = -2, .transposed = true},
	                                  {.C_A = {[C10] = 30, [C32b] = 1e6, [C45a] = 1e8, [C50] = 4e9}, .log_sampling = -0.1}};
	const char *const thin_name[] = {"second order", "third order, hundreds of rad", "fifth order"};
	check_sines();
	for (int i = 0; i < 3; i++) {
		check_variant(thin_name[i], e, &thin[i]);
		check_sums(thin_name[i], e, &thin[i]);
	}
	for (int i = 0; i < 4; i++) {
		check_variant(name[i], e, &p[i]);
		check_sums(name[i], e, &p[i]);
		check_derivatives(name[i], e, &p[i]);
	}
	return test_end();
}
