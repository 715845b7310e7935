/* ssb-sim: the forward model against physics.md written out, its random numbers, and the planes of counts. */
#include <complex.h>
#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "tools/ssb-sim/counts.h"
#include "tools/ssb-sim/forward.h"
#include "tools/ssb-sim/multislice.h"
#include "tools/ssb-sim/random.h"
#include "tools/transfer/backend.h"

/* A small scan that holds 2 alpha / lambda, with every parity of m, on a rotated rectangle of a detector. */
static acquisition small(double phase_peak_rad, bool transposed)
{
	acquisition a = {
		.scan = {15, 18}, .detector = {26, 22}, .step_A = {0.35, 0.33}, .high_tension_kV = 200, .dose = 20, .phase_peak_rad = phase_peak_rad,
		.specimen = SPECIMEN_ATOMS, .poisson = true, .seed = 7, .element_size = 2, .threads = 1, .memory = (size_t)1 << 30,
		.polar = {[C10] = {-150, 0}, [C12a] = {60, 0.4}, [C21a] = {3000, -0.7}, [C23a] = {2500, 1.1}, [C30] = {2e5, 0}, [C45a] = {3e6, 0.2}},
	};
	a.geometry = (optics_geometry){optics_wavelength_A(200), 0.017, {0.0021, 0.0019}, {12.3, 10.8}};
	a.optics.rotation_rad = 0.6;
	a.optics.transposed = transposed;
	for (int i = 0; i < ABERRATIONS; i++) {
		const aberration_term *t = &aberration_terms[i];
		const polar_aberration *p = &a.polar[t->sine ? i - 1 : i];
		a.optics.C_A[i] = p->C_A * (t->sine ? sin(t->m * p->phi_rad) : cos(t->m * p->phi_rad));
	}
	return a;
}

/* chi of physics.md section 3, with azimuths. */
static double chi_polar(const acquisition *a, double r, double c)
{
	const double lambda = a->geometry.wavelength_A, v = hypot(r, c), azimuth = atan2(c, r);
	double chi = 0;
	for (int i = 0; i < ABERRATIONS; i++) {
		const aberration_term *t = &aberration_terms[i];
		if (!t->sine)
			chi += 2 * M_PI / lambda * a->polar[i].C_A * pow(lambda * v, t->n + 1) / (t->n + 1) * cos(t->m * (azimuth - a->polar[i].phi_rad));
	}
	return chi;
}

/* P = A exp(-i chi) at v in the scan frame; A is that of the unrotated detector. */
static double complex probe(const acquisition *a, double r, double c)
{
	const optics_geometry *g = &a->geometry;
	const double turn = a->optics.rotation_rad, x = r * cos(turn) + c * sin(turn), y = -r * sin(turn) + c * cos(turn);
	const double d_r = a->optics.transposed ? y : x, d_c = a->optics.transposed ? x : y, v = hypot(r, c);
	const double edge = v > 0 ? hypot(d_r * g->sampling_rad[0], d_c * g->sampling_rad[1]) / v : 1;
	const double amplitude = fmin(1, fmax(0, (g->semiangle_rad - g->wavelength_A * v) / edge + 0.5));
	return amplitude * cexp(-I * chi_polar(a, r, c));
}

/* k of a detector pixel, physics.md section 1. */
static void pixel_frequency(const acquisition *a, size_t row, size_t column, double k[2])
{
	const optics_geometry *g = &a->geometry;
	double r = ((double)row - g->centre_px[0]) * g->sampling_rad[0] / g->wavelength_A;
	double c = ((double)column - g->centre_px[1]) * g->sampling_rad[1] / g->wavelength_A;
	if (a->optics.transposed) {
		const double swap = r;
		r = c;
		c = swap;
	}
	k[0] = r * cos(a->optics.rotation_rad) - c * sin(a->optics.rotation_rad);
	k[1] = r * sin(a->optics.rotation_rad) + c * cos(a->optics.rotation_rad);
}

/* sum_R image exp(-2 pi i q.R) at frequency indices (i, j). */
static double complex dft(const float *image, const size_t n[2], long i, long j)
{
	double complex sum = 0;
	for (size_t r = 0; r < n[0]; r++)
		for (size_t c = 0; c < n[1]; c++)
			sum += image[r * n[1] + c] * cexp(-2 * M_PI * I * ((double)i * (double)r / (double)n[0] + (double)j * (double)c / (double)n[1]));
	return sum;
}

typedef struct model { acquisition a; phase_spectrum phase; transmission t; forward *f; forward_scratch *s; float *intensity; } model;

static model *model_new(const acquisition *a)
{
	ssb_error err;
	model *m = calloc(1, sizeof *m);
	m->a = *a;
	const bool ok = phase_spectrum_make(&m->a, &m->phase, &err) && transmission_make(&m->a, &m->phase, multislice_slices(a), &m->t, &err);
	CHECK(ok, "specimen");
	m->f = forward_new(&m->a, &m->t, &err);
	m->s = forward_scratch_new(m->f);
	m->intensity = calloc(a->scan[0] * a->scan[1], sizeof *m->intensity);
	return m;
}

static void model_free(model *m)
{
	free(m->intensity);
	forward_scratch_free(m->s);
	forward_free(m->f);
	transmission_free(&m->t);
	phase_spectrum_free(&m->phase);
	free(m);
}

/* sin(x)/x with x = rate t / 2 of the term of P(k - q) (sign -1) or P(k + q), physics.md section 3. */
static double weight(const acquisition *a, int sign, const double k[2], const double q[2])
{
	const double moved[2] = {k[0] + sign * q[0], k[1] + sign * q[1]}, lambda = a->geometry.wavelength_A;
	const double propagation = sign * M_PI * lambda * (pow(hypot(moved[0], moved[1]), 2) - pow(hypot(k[0], k[1]), 2));
	const double rate = propagation - 2 * M_PI * (q[0] * a->optics.tilt_rad[0] + q[1] * a->optics.tilt_rad[1]);
	const double x = rate * a->optics.thickness_A / 2;
	return fabs(x) < 1e-9 ? 1 : sin(x) / x;
}

/* gamma(q, k) of physics.md section 3; `odd_sign` = -1 takes the wrong P(q - k). */
static double complex transfer(const acquisition *a, const double k[2], const double q[2], int odd_sign)
{
	const double complex at_k = probe(a, k[0], k[1]), minus = probe(a, odd_sign * (k[0] - q[0]), odd_sign * (k[1] - q[1]));
	return minus * conj(at_k) * weight(a, -1, k, q) - conj(probe(a, k[0] + q[0], k[1] + q[1])) * at_k * weight(a, 1, k, q);
}

/* Relative difference between the model's G and i I0 Phi gamma of acquisition `a` over all q != 0 and all pixels. */
static double weak_phase_error(model *m, const acquisition *a, int odd_sign)
{
	ssb_error err;
	float *phi = phase_image(a, &m->phase, 1, &err);
	double difference = 0, norm = 0;
	for (size_t row = 0; row < a->detector[0]; row += 3)
		for (size_t column = row % 2; column < a->detector[1]; column += 3) {
			double k[2];
			pixel_frequency(a, row, column, k);
			forward_pixel(m->f, m->s, row, column, -1, m->intensity);
			for (long i = -4; i <= 4; i++)
				for (long j = -5; j <= 5; j++) {
					const double q[2] = {(double)i / 15 / a->step_A[0], (double)j / 18 / a->step_A[1]};
					if (i == 0 && j == 0)
						continue;
					const double complex G = dft(m->intensity, a->scan, i, j), expected = I * dft(phi, a->scan, i, j) * transfer(a, k, q, odd_sign);
					difference += pow(cabs(G - expected), 2);
					norm += pow(cabs(expected), 2);
				}
		}
	free(phi);
	return sqrt(difference / norm);
}

static void test_weak_phase(void)
{
	for (int transposed = 0; transposed < 2; transposed++) {
		const acquisition a = small(2e-3, transposed);
		model *m = model_new(&a);
		const double right = weak_phase_error(m, &a, 1), wrong = weak_phase_error(m, &a, -1);
		CHECK(right < 1e-3, "G = i I0 Phi gamma, transposed %d: relative difference %.2g", transposed, right);
		CHECK(wrong > 0.3, "P(q - k) in its place is off by %.2g", wrong);
		model_free(m);
	}
}

static acquisition thick(double phase_peak_rad, bool transposed)
{
	acquisition a = small(phase_peak_rad, transposed);
	a.optics.thickness_A = 90;
	a.optics.tilt_rad[0] = 0.004;
	a.optics.tilt_rad[1] = -0.007;
	return a;
}

static void test_weak_thick_phase(void)
{
	for (int transposed = 0; transposed < 2; transposed++) {
		const acquisition a = thick(2e-3, transposed);
		model *m = model_new(&a);
		acquisition opposite = a, thin = a;
		for (int axis = 0; axis < 2; axis++)
			opposite.optics.tilt_rad[axis] *= -1;
		thin.optics.thickness_A = 0;
		const double right = weak_phase_error(m, &a, 1), wrong = weak_phase_error(m, &opposite, 1), none = weak_phase_error(m, &thin, 1);
		CHECK(right < 3e-3, "a thick, tilted specimen, transposed %d: relative difference to gamma with weights %.2g", transposed, right);
		CHECK(wrong > 0.1 && none > 0.1, "the opposite tilt in its place is off by %.2g, no thickness by %.2g", wrong, none);
		model_free(m);
	}
}

/* psi at one scan position and pixel by sums over the transmission on a fine grid, for a specimen that is not weak. */
static double brute_force(const acquisition *a, const float *phi, const size_t n[2], const double k[2], const size_t position[2])
{
	const double extent[2] = {a->step_A[0] * (double)a->scan[0], a->step_A[1] * (double)a->scan[1]};
	double complex psi = 0;
	for (long i = -(long)n[0] / 2; i < (long)n[0] / 2; i++)
		for (long j = -(long)n[1] / 2; j < (long)n[1] / 2; j++) {
			const double complex p = probe(a, k[0] - (double)i / extent[0], k[1] - (double)j / extent[1]);
			double complex T = 0;
			if (p == 0)
				continue;
			for (size_t r = 0; r < n[0]; r++)
				for (size_t c = 0; c < n[1]; c++)
					T += cexp(I * (phi[r * n[1] + c] - 2 * M_PI * ((double)i * (double)r / (double)n[0] + (double)j * (double)c / (double)n[1])));
			psi += T / (double)(n[0] * n[1]) * p * cexp(2 * M_PI * I * ((double)i * (double)position[0] / (double)a->scan[0]
			                                                           + (double)j * (double)position[1] / (double)a->scan[1]));
		}
	return pow(cabs(psi), 2);
}

static void test_strong_phase(void)
{
	ssb_error err;
	const acquisition a = small(0.8, true);
	const size_t n[2] = {4 * a.scan[0], 4 * a.scan[1]};
	static const size_t pixel[][2] = {{12, 10}, {19, 12}, {5, 14}, {2, 20}}; /* disk, edge, dark field */
	model *m = model_new(&a);
	float *phi = phase_image(&a, &m->phase, 4, &err);
	double worst = 0;
	for (size_t i = 0; i < sizeof pixel / sizeof *pixel; i++) {
		double k[2];
		pixel_frequency(&a, pixel[i][0], pixel[i][1], k);
		forward_pixel(m->f, m->s, pixel[i][0], pixel[i][1], -1, m->intensity);
		for (size_t p = 0; p < a.scan[0] * a.scan[1]; p += 89) {
			const size_t position[2] = {p / a.scan[1], p % a.scan[1]};
			worst = fmax(worst, fabs(brute_force(&a, phi, n, k, position) - m->intensity[p]));
		}
	}
	CHECK(worst < 1e-5, "a phase of 0.8 rad, summed by hand: largest difference %.2g of a lit pixel", worst);
	free(phi);
	model_free(m);
}

/* |psi|^2 the other way round: the whole probe at `position` through slices that are shifted, each by its depth, to plane wave k. */
static double forward_multislice(const acquisition *a, const phase_spectrum *phase, size_t slices, const double k[2], const size_t position[2])
{
	const int n[2] = {64, 64};
	const double extent[2] = {a->step_A[0] * (double)a->scan[0], a->step_A[1] * (double)a->scan[1]}, lambda = a->geometry.wavelength_A;
	double complex *wave = fftw_malloc(sizeof *wave * 64 * 64), *slice = fftw_malloc(sizeof *slice * 64 * 64);
	const fftw_plan to_space = fftw_plan_dft_2d(n[0], n[1], wave, wave, FFTW_FORWARD, FFTW_ESTIMATE);
	const fftw_plan to_frequency = fftw_plan_dft_2d(n[0], n[1], wave, wave, FFTW_BACKWARD, FFTW_ESTIMATE);
	double depth = 0;
	for (long i = 0; i < 64 * 64; i++) {
		const double g[2] = {dft_frequency(i / 64, 64, extent[0] / 64), dft_frequency(i % 64, 64, extent[1] / 64)};
		wave[i] = probe(a, k[0] - g[0], k[1] - g[1]) * cexp(2 * M_PI * I * (g[0] * (double)position[0] * a->step_A[0] + g[1] * (double)position[1] * a->step_A[1]));
	}
	for (size_t s = 0; s < slices; s++) {
		const double middle = a->optics.thickness_A * (((double)s + 0.5) / (double)slices - 0.5);
		memset(slice, 0, sizeof *slice * 64 * 64);
		for (long i = 0; i < 64 * 64; i++) {
			const double g[2] = {dft_frequency(i / 64, 64, extent[0] / 64), dft_frequency(i % 64, 64, extent[1] / 64)};
			wave[i] *= cexp(-I * M_PI * lambda * (middle - depth) * (pow(k[0] - g[0], 2) + pow(k[1] - g[1], 2)));
		}
		for (long i = -phase->half[0]; i <= phase->half[0]; i++)
			for (long j = -phase->half[1]; j <= phase->half[1]; j++)
				slice[((i + 64) % 64) * 64 + (j + 64) % 64] =
					phase->at[(i + phase->half[0]) * (2 * phase->half[1] + 1) + j + phase->half[1]] / (double)slices *
					cexp(-2 * M_PI * I * middle * ((double)i / extent[0] * a->optics.tilt_rad[0] + (double)j / extent[1] * a->optics.tilt_rad[1]));
		fftw_execute_dft(to_frequency, slice, slice);
		fftw_execute(to_space);
		/* component k - g: exp(-2 pi i g.r), so a phase at r meets the wave at r */
		for (long i = 0; i < 64 * 64; i++)
			wave[i] *= cexp(I * creal(slice[i]));
		fftw_execute(to_frequency);
		for (long i = 0; i < 64 * 64; i++)
			wave[i] /= 64 * 64;
		depth = middle;
	}
	const double intensity = pow(cabs(wave[0]), 2);
	fftw_destroy_plan(to_space);
	fftw_destroy_plan(to_frequency);
	fftw_free(wave);
	fftw_free(slice);
	return intensity;
}

static void test_strong_thick_phase(void)
{
	const acquisition a = thick(0.8, true);
	static const size_t pixel[][2] = {{12, 10}, {19, 12}, {5, 14}, {2, 20}}; /* disk, edge, dark field */
	model *m = model_new(&a);
	double worst = 0, thickness = 0;
	acquisition b = a;
	b.optics.thickness_A = 0;
	for (size_t i = 0; i < sizeof pixel / sizeof *pixel; i++) {
		double k[2];
		pixel_frequency(&a, pixel[i][0], pixel[i][1], k);
		forward_pixel(m->f, m->s, pixel[i][0], pixel[i][1], -1, m->intensity);
		for (size_t p = 0; p < a.scan[0] * a.scan[1]; p += 89) {
			const size_t position[2] = {p / a.scan[1], p % a.scan[1]};
			worst = fmax(worst, fabs(forward_multislice(&a, &m->phase, m->t.slices, k, position) - m->intensity[p]));
			thickness = fmax(thickness, fabs(forward_multislice(&b, &m->phase, 1, k, position) - m->intensity[p]));
		}
	}
	CHECK(worst < 1e-5, "0.8 rad over a thickness, probe by probe: largest difference %.2g of a lit pixel", worst);
	CHECK(thickness > 0.01, "a thin specimen in its place is off by %.2g", thickness);
	model_free(m);
}

/* Evidence of the whole scan and detector without noise, made from the model. */
static evidence evidence_of(model *m)
{
	const acquisition *a = &m->a;
	const size_t columns = a->scan[1] / 2 + 1, bins = a->scan[0] * columns, pixels = a->detector[0] * a->detector[1];
	int32_t (*q)[2] = malloc(bins * sizeof *q), (*pixel)[2] = malloc(pixels * sizeof *pixel);
	float complex *G = malloc(bins * pixels * sizeof *G), **row = malloc(bins * sizeof *row);
	double *counts_of = malloc(pixels * sizeof *counts_of);
	size_t used = 0;
	for (size_t p = 0; p < pixels; p++) {
		const long r = (long)(p / a->detector[1]), c = (long)(p % a->detector[1]);
		const double v[2] = {((double)r - a->geometry.centre_px[0]) * a->geometry.sampling_rad[0], ((double)c - a->geometry.centre_px[1]) * a->geometry.sampling_rad[1]};
		if (hypot(v[0], v[1]) > a->geometry.semiangle_rad)
			continue;
		pixel[used][0] = (int32_t)r;
		pixel[used][1] = (int32_t)c;
		forward_pixel(m->f, m->s, (size_t)r, (size_t)c, -1, m->intensity);
		for (size_t b = 0; b < bins; b++)
			G[b * pixels + used] = (float complex)dft(m->intensity, a->scan, (long)(b / columns), (long)(b % columns));
		counts_of[used] = crealf(G[used]);
		used++;
	}
	for (size_t b = 0; b < bins; b++) {
		q[b][0] = (int32_t)(b / columns);
		q[b][1] = (int32_t)(b % columns);
		row[b] = G + b * pixels;
	}
	return (evidence){.geometry = a->geometry, .scan = {a->scan[0], a->scan[1]}, .step_A = {a->step_A[0], a->step_A[1]}, .I0_counts = 1,
	                  .bins = bins, .pixels = used, .q_index = q, .pixel = pixel, .counts = counts_of, .row = (const float complex *const *)row};
}

static void evidence_of_free(evidence *e)
{
	free((void *)(uintptr_t)e->row[0]);
	free((void *)(uintptr_t)e->row);
	free((void *)(uintptr_t)e->q_index);
	free((void *)(uintptr_t)e->pixel);
	free((void *)(uintptr_t)e->counts);
}

/* L and, where asked for, the signal power that it could explain. */
static double likelihood_of(const evidence *e, const optics_parameters *p, double *power)
{
	ssb_error err;
	frequency *f = calloc(e->bins, sizeof *f);
	sums *s = calloc(e->bins, sizeof *s);
	double L = 0;
	for (size_t b = 0; b < e->bins; b++) {
		f[b].bin = b;
		evidence_q(e, b, f[b].q);
	}
	CHECK(backend_cpu.sums(e, p, f, e->bins, false, s, &err), "sums");
	for (size_t b = 0; b < e->bins; b++) {
		const double m = s[b].W > 1e-3 ? evidence_multiplicity(e, b) : 0;
		L += m > 0 ? m * pow(cabs(s[b].S), 2) / s[b].W : 0;
		for (size_t i = 0; power && i < e->pixels; i++)
			*power += m * pow(cabsf(e->row[b][i]), 2);
	}
	free(f);
	free(s);
	return L;
}

/* What a fit maximises explains all of a weak specimen's signal at the true parameters, and less beside them. */
static void test_likelihood_of_thick(void)
{
	static const int parameter[] = {C10, TILT_R, TILT_C, THICKNESS};
	static const double step[] = {5, 1e-3, 1e-3, 10};
	const acquisition a = thick(2e-3, false);
	model *m = model_new(&a);
	evidence e = evidence_of(m);
	double power = 0;
	const double most = likelihood_of(&e, &a.optics, &power);
	CHECK(most / power > 0.9999, "explained at the truth: 1 - %.2g", 1 - most / power);
	for (size_t i = 0; i < sizeof parameter / sizeof *parameter; i++) {
		optics_parameters p = a.optics;
		const double truth = fit_parameter_get(&p, parameter[i]);
		fit_parameter_set(&p, parameter[i], truth + step[i]);
		const double above = likelihood_of(&e, &p, NULL);
		fit_parameter_set(&p, parameter[i], truth - step[i]);
		const double below = likelihood_of(&e, &p, NULL), off = 0.5 * (below - above) / (above + below - 2 * most);
		CHECK(above < most && below < most && fabs(off) < 0.1, "L peaks at the true %s, within %.3f of %g", fit_parameter_name(parameter[i]), off, step[i]);
	}
	evidence_of_free(&e);
	model_free(m);
}

/* A coarse scan: g beyond its Nyquist frequency folds back. */
static void test_folding(void)
{
	acquisition fine = small(0.5, false), coarse = fine;
	for (int axis = 0; axis < 2; axis++) {
		coarse.scan[axis] /= 3;
		coarse.step_A[axis] *= 3;
	}
	model *f = model_new(&fine), *c = model_new(&coarse);
	double worst = 0;
	for (size_t row = 2; row < fine.detector[0]; row += 5) {
		forward_pixel(f->f, f->s, row, row - 2, -1, f->intensity);
		forward_pixel(c->f, c->s, row, row - 2, -1, c->intensity);
		for (size_t i = 0; i < coarse.scan[0]; i++)
			for (size_t j = 0; j < coarse.scan[1]; j++)
				worst = fmax(worst, fabs(c->intensity[i * coarse.scan[1] + j] - f->intensity[3 * i * fine.scan[1] + 3 * j]));
	}
	CHECK(worst < 1e-5, "every third position of a scan: largest difference %.2g", worst);
	model_free(f);
	model_free(c);
}

/* The published answers of Philox4x32-10. */
static void test_philox(void)
{
	static const uint32_t zeros[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}, ones[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
	uint32_t counter[4] = {0};
	philox(0, counter);
	CHECK(!memcmp(counter, zeros, sizeof zeros), "philox of zeros");
	memset(counter, 0xff, sizeof counter);
	philox(UINT64_MAX, counter);
	CHECK(!memcmp(counter, ones, sizeof ones), "philox of ones");
}

/* Chi-squared of the counts' histogram against the Poisson probabilities, cells of 20 or more expected. */
static void test_poisson(double mean)
{
	enum { N = 400000, CELLS = 4000 };
	float *means = malloc(N * sizeof *means);
	uint32_t *count = malloc(N * sizeof *count), *cell = calloc(CELLS, sizeof *cell);
	for (size_t i = 0; i < N; i++)
		means[i] = (float)mean;
	poisson_counts(99, 5, means, N, count);
	for (size_t i = 0; i < N; i++)
		cell[count[i] < CELLS ? count[i] : CELLS - 1]++;
	double chi2 = 0, expected = 0, observed = 0;
	int cells = 0;
	for (int k = 0; k < CELLS; k++) {
		expected += N * exp(-mean + k * log(mean) - lgamma(k + 1.0));
		observed += cell[k];
		if (expected < 20)
			continue;
		chi2 += pow(observed - expected, 2) / expected;
		cells++;
		expected = observed = 0;
	}
	chi2 += pow(observed - expected, 2) / (expected + 20);
	CHECK(fabs(chi2 - cells) < 5 * sqrt(2.0 * cells) + 5, "poisson of mean %g: chi squared %.1f in %d cells", mean, chi2, cells);
	free(means);
	free(count);
	free(cell);
}

/* The same counts from memory, from the scratch file, and on two threads. */
static void test_planes(void)
{
	ssb_error err;
	acquisition a = small(0.3, false);
	a.bad_pixels = 4;
	model *m = model_new(&a);
	bad_pixel *bad = camera_bad_pixels(&a, &err);
	const size_t bytes = a.scan[0] * a.scan[1] * a.detector[0] * a.detector[1] * a.element_size;
	uint16_t *one = malloc(bytes), *other = malloc(bytes);
	counts *c = counts_simulate(&a, &m->t, bad, ".", &err);
	counts_frames(c, 0, a.scan[0] * a.scan[1], one);
	counts_free(c);
	a.memory = 30000;
	a.threads = 2;
	c = counts_simulate(&a, &m->t, bad, ".", &err);
	counts_frames(c, 0, 100, other);
	counts_frames(c, 100, a.scan[0] * a.scan[1] - 100, other + 100 * a.detector[0] * a.detector[1]);
	counts_free(c);
	CHECK(!memcmp(one, other, bytes), "counts from memory on one thread and from a scratch file on two");
	free(one);
	free(other);
	free(bad);
	model_free(m);
}

int main(void)
{
	test_weak_phase();
	test_strong_phase();
	test_weak_thick_phase();
	test_strong_thick_phase();
	test_likelihood_of_thick();
	test_folding();
	test_philox();
	test_poisson(0.02);
	test_poisson(3.7);
	test_poisson(15.9);
	test_poisson(16.1);
	test_poisson(250);
	test_planes();
	return test_end();
}
