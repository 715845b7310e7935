#include "tools/ssb-sim/specimen.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>
#include "tools/ssb-sim/atoms.h"

static double complex *at(const phase_spectrum *phase, long i, long j)
{
	return &phase->at[(size_t)(i + phase->half[0]) * (size_t)(2 * phase->half[1] + 1) + (size_t)(j + phase->half[1])];
}

static double extent_A(const acquisition *a, int axis)
{
	return a->step_A[axis] * (double)a->scan[axis];
}

/* The next length that FFTW transforms fast. */
static size_t fast_length(size_t n)
{
	for (;; n++) {
		size_t rest = n;
		for (size_t factor = 2; factor <= 7; factor++)
			while (rest % factor == 0)
				rest /= factor;
		if (rest == 1)
			return n;
	}
}

/* A zeroed n[0] x n[1] grid within the memory limit; fftw_free. */
static double complex *grid_new(const size_t n[2], size_t memory, ssb_error *err)
{
	size_t bytes;
	const bool overflow = __builtin_mul_overflow(n[0], n[1], &bytes) || __builtin_mul_overflow(bytes, sizeof(double complex), &bytes);
	if (overflow || bytes > memory) {
		ssb_fail(err, SSB_RUNTIME, "the specimen needs a grid of %zu x %zu points, more than --memory allows", n[0], n[1]);
		return NULL;
	}
	double complex *grid = fftw_malloc(bytes);
	if (grid)
		memset(grid, 0, bytes);
	else
		ssb_fail(err, SSB_RUNTIME, "out of memory for a grid of %zu x %zu points", n[0], n[1]);
	return grid;
}

static void transform(double complex *grid, const size_t n[2], int sign)
{
	const fftw_plan plan = fftw_plan_dft_2d((int)n[0], (int)n[1], grid, grid, sign, FFTW_ESTIMATE);
	fftw_execute(plan);
	fftw_destroy_plan(plan);
}

/* Index of frequency or position i on an axis of n. */
static size_t wrap(long i, size_t n)
{
	const long rest = i % (long)n;
	return (size_t)(rest < 0 ? rest + (long)n : rest);
}

/* phi on a grid of n points over the period, frequencies strictly below its Nyquist; fftw_free. */
static double complex *phase_grid(const phase_spectrum *phase, const size_t n[2], size_t memory, ssb_error *err)
{
	double complex *grid = grid_new(n, memory, err);
	if (!grid)
		return NULL;
	const long half[2] = {(long)(n[0] - 1) / 2, (long)(n[1] - 1) / 2};
	for (long i = -phase->half[0]; i <= phase->half[0]; i++)
		for (long j = -phase->half[1]; j <= phase->half[1]; j++)
			if (labs(i) <= half[0] && labs(j) <= half[1])
				grid[wrap(i, n[0]) * n[1] + wrap(j, n[1])] = *at(phase, i, j);
	transform(grid, n, FFTW_BACKWARD);
	return grid;
}

/* Projected potential of an atom up to a common factor (Wentzel-Yukawa, Thomas-Fermi radius), with thermal motion of 0.08 A. */
static double form_factor(int charge, double g2)
{
	const double radius_A = 0.885 * 0.529177 / cbrt(charge), thermal_A = 0.08, inverse = 1 / (2 * M_PI * radius_A);
	return charge / (g2 + inverse * inverse) * exp(-2 * M_PI * M_PI * thermal_A * thermal_A * g2);
}

/* Four times finer than the band limit needs. */
static void fine_size(const phase_spectrum *phase, size_t n[2])
{
	for (int axis = 0; axis < 2; axis++)
		n[axis] = fast_length((size_t)(8 * phase->half[axis] + 16));
}

enum { REACH = 6 }; /* grid points from an atom to where its Gaussian is cut, at 1e-8 */

/* Weights of a Gaussian of one grid step about coordinate x on the 2 REACH + 1 points around it; returns the first one's index. */
static long gaussian(double x, double weight[2 * REACH + 1])
{
	const long first = (long)floor(x + 0.5) - REACH;
	for (int i = 0; i < 2 * REACH + 1; i++)
		weight[i] = exp(-0.5 * pow((double)(first + i) - x, 2)) / sqrt(2 * M_PI);
	return first;
}

/* Every atom of this charge as a Gaussian of one grid step and unit weight. */
static void deposit(const atom_list *atoms, int charge, const double extent[2], double complex *grid, const size_t n[2])
{
	for (size_t a = 0; a < atoms->count; a++) {
		double row[2 * REACH + 1], column[2 * REACH + 1];
		if (atoms->atom[a].charge != charge)
			continue;
		const long r = gaussian(atoms->atom[a].position_A[0] / extent[0] * (double)n[0], row);
		const long c = gaussian(atoms->atom[a].position_A[1] / extent[1] * (double)n[1], column);
		for (int i = 0; i < 2 * REACH + 1; i++)
			for (int j = 0; j < 2 * REACH + 1; j++)
				grid[wrap(r + i, n[0]) * n[1] + wrap(c + j, n[1])] += row[i] * column[j];
	}
}

/* Add the atoms of one charge to phi: the transform of their Gaussians, less the Gaussian, times the form factor (up to 3e-7; what is
 * made here is the truth). */
static bool add_atoms(const acquisition *a, const atom_list *atoms, int charge, double limit, phase_spectrum *phase, ssb_error *err)
{
	const double extent[2] = {extent_A(a, 0), extent_A(a, 1)};
	size_t n[2];
	fine_size(phase, n);
	double complex *grid = grid_new(n, a->memory, err);
	if (!grid)
		return false;
	deposit(atoms, charge, extent, grid, n);
	transform(grid, n, FFTW_FORWARD);
	for (long i = -phase->half[0]; i <= phase->half[0]; i++)
		for (long j = -phase->half[1]; j <= phase->half[1]; j++) {
			const double g2 = pow((double)i / extent[0], 2) + pow((double)j / extent[1], 2);
			const double turns2 = pow((double)i / (double)n[0], 2) + pow((double)j / (double)n[1], 2);
			if (g2 <= limit * limit && g2 > 0)
				*at(phase, i, j) += form_factor(charge, g2) * exp(2 * M_PI * M_PI * turns2) * grid[wrap(i, n[0]) * n[1] + wrap(j, n[1])];
		}
	fftw_free(grid);
	return true;
}

/* Scale to the wanted peak, found on the fine grid. */
static bool scale_to_peak(const acquisition *a, phase_spectrum *phase, ssb_error *err)
{
	size_t n[2];
	fine_size(phase, n);
	double complex *grid = phase_grid(phase, n, a->memory, err);
	if (!grid)
		return false;
	double peak = 0;
	for (size_t i = 0; i < n[0] * n[1]; i++)
		peak = fmax(peak, fabs(creal(grid[i])));
	fftw_free(grid);
	if (peak == 0 && a->phase_peak_rad > 0)
		return ssb_fail(err, SSB_USAGE, "a scan of %g x %g A holds no specimen frequency below 2 semiangle / wavelength",
		                extent_A(a, 0), extent_A(a, 1));
	const size_t size = (size_t)(2 * phase->half[0] + 1) * (size_t)(2 * phase->half[1] + 1);
	for (size_t i = 0; i < size; i++)
		phase->at[i] *= peak > 0 ? a->phase_peak_rad / peak : 0;
	return true;
}

bool phase_spectrum_make(const acquisition *a, phase_spectrum *phase, ssb_error *err)
{
	const double limit = 2 * a->geometry.semiangle_rad / a->geometry.wavelength_A;
	const double extent[2] = {extent_A(a, 0), extent_A(a, 1)};
	const double reach[2] = {limit * extent[0], limit * extent[1]};
	*phase = (phase_spectrum){0};
	if (reach[0] * reach[1] > 1e9 || reach[0] > 1e6 || reach[1] > 1e6)
		return ssb_fail(err, SSB_USAGE, "a scan of %g x %g A is too large to simulate at this semiangle", extent[0], extent[1]);
	phase->half[0] = (long)reach[0];
	phase->half[1] = (long)reach[1];
	phase->at = calloc((size_t)(2 * phase->half[0] + 1) * (size_t)(2 * phase->half[1] + 1), sizeof *phase->at);
	if (!phase->at)
		return ssb_fail(err, SSB_RUNTIME, "out of memory for the specimen");
	atom_list atoms;
	bool ok = atoms_make(a->specimen, extent, a->seed, &atoms, err);
	for (int i = 0; ok && i < ATOM_CHARGES; i++)
		ok = add_atoms(a, &atoms, atom_charges[i], limit, phase, err);
	ok = ok && scale_to_peak(a, phase, err);
	atoms_free(&atoms);
	if (!ok)
		phase_spectrum_free(phase);
	return ok;
}

void phase_spectrum_free(phase_spectrum *phase)
{
	free(phase->at);
	phase->at = NULL;
}

/* Largest |k| on the detector plus the aperture's radius: no higher T_g brings intensity to it. */
static double reach_per_A(const acquisition *a)
{
	const optics_geometry *g = &a->geometry;
	double corner[2];
	for (int axis = 0; axis < 2; axis++)
		corner[axis] = fmax(fabs(g->centre_px[axis]), fabs((double)a->detector[axis] - 1 - g->centre_px[axis])) * g->sampling_rad[axis];
	return (hypot(corner[0], corner[1]) + g->semiangle_rad + fmax(g->sampling_rad[0], g->sampling_rad[1])) / g->wavelength_A;
}

/* Orders of the series of exp(i phi) until the first one left out, at most peak^(n+1)/(n+1)!, is below 1e-7. */
static int harmonics(double peak)
{
	int n = 1;
	double left_out = peak * peak / 2;
	while (left_out > 1e-7)
		left_out *= peak / (++n + 1);
	return n;
}

/* The n-th harmonic reaches n band limits; a grid that holds phi and aliases no harmonic onto a T_g in use is fine enough. */
static void transmission_size(const acquisition *a, long half[2], size_t n[2])
{
	const double limit = 2 * a->geometry.semiangle_rad / a->geometry.wavelength_A;
	const double band = harmonics(a->phase_peak_rad) * limit, used = fmin(reach_per_A(a), band);
	for (int axis = 0; axis < 2; axis++) {
		const double extent = extent_A(a, axis);
		half[axis] = (long)(used * extent) + 1;
		n[axis] = fast_length((size_t)(fmax(band + used, 2 * limit) * extent) + 3);
	}
}

static bool crop(const double complex *grid, const size_t n[2], transmission *t, ssb_error *err)
{
	const size_t width = (size_t)(2 * t->half[1] + 1);
	const double scale = 1 / ((double)n[0] * (double)n[1]);
	t->at = malloc((size_t)(2 * t->half[0] + 1) * width * sizeof *t->at);
	if (!t->at)
		return ssb_fail(err, SSB_RUNTIME, "out of memory for the specimen");
	for (long i = -t->half[0]; i <= t->half[0]; i++)
		for (long j = -t->half[1]; j <= t->half[1]; j++)
			t->at[(size_t)(i + t->half[0]) * width + (size_t)(j + t->half[1])] =
				(float complex)(scale * grid[wrap(i, n[0]) * n[1] + wrap(j, n[1])]);
	return true;
}

static bool keep_slice(const double complex *grid, transmission *t, ssb_error *err)
{
	const size_t size = t->n[0] * t->n[1];
	t->slice = fftwf_alloc_complex(size);
	if (!t->slice)
		return ssb_fail(err, SSB_RUNTIME, "out of memory for the specimen");
	for (size_t i = 0; i < size; i++)
		t->slice[i] = (float complex)grid[i];
	return true;
}

bool transmission_make(const acquisition *a, const phase_spectrum *phase, size_t slices, transmission *t, ssb_error *err)
{
	*t = (transmission){.slices = slices};
	transmission_size(a, t->half, t->n);
	double complex *grid = phase_grid(phase, t->n, a->memory, err);
	if (!grid)
		return false;
	for (size_t i = 0; i < t->n[0] * t->n[1]; i++) {
		const double phi = creal(grid[i]) / (double)slices;
		grid[i] = CMPLX(cos(phi), sin(phi));
	}
	bool ok;
	if (slices > 1)
		ok = keep_slice(grid, t, err);
	else {
		transform(grid, t->n, FFTW_FORWARD);
		ok = crop(grid, t->n, t, err);
	}
	fftw_free(grid);
	return ok;
}

void transmission_free(transmission *t)
{
	free(t->at);
	fftwf_free(t->slice);
	t->at = t->slice = NULL;
}

float *phase_image(const acquisition *a, const phase_spectrum *phase, size_t upsample, ssb_error *err)
{
	const size_t n[2] = {a->scan[0] * upsample, a->scan[1] * upsample};
	double complex *grid = phase_grid(phase, n, a->memory, err);
	float *image = grid ? malloc(n[0] * n[1] * sizeof *image) : NULL;
	if (grid && !image)
		ssb_fail(err, SSB_RUNTIME, "out of memory for the truth phase");
	for (size_t i = 0; image && i < n[0] * n[1]; i++)
		image[i] = (float)creal(grid[i]);
	fftw_free(grid);
	return image;
}
