/* The transfer library against the oracle's golden vectors: gamma, the CPU backend, the neighbour start. */
#include "tests/unit/backend_checks.h"
#include "tests/unit/noise.h"

#include "tools/transfer/cpu.h"
#include "tools/transfer/gamma.h"
#include "tools/transfer/optics_io.h"
#include "tools/transfer/sincos.h"

static void check_gamma(const golden_case *g)
{
	const evidence *e = g->e;
	const npy expected = npy_read(g->folder, "gamma.npy"), picks = npy_read(g->folder, "picks.npy");
	pixel_table t;
	overlap o;
	float complex *scratch = malloc(e->pixels * sizeof *scratch);
	double worst = 0;
	if (!pixel_table_make(&t, e, &g->p) || !overlap_make(&o, e->pixels))
		exit(1);
	for (size_t i = 0; i < e->bins; i++) {
		double q[2];
		double complex gamma[6] = {0};
		evidence_q(e, i, q);
		overlap_select(&o, &t, q, evidence_G(e, i, 0, e->pixels, scratch), false);
		overlap_gamma(&o, &t, q);
		for (size_t j = 0; j < o.count; j++)
			for (size_t pick = 0; pick < 6; pick++)
				if (o.index[j] == (uint32_t)creal(npy_at(&picks, pick)))
					gamma[pick] = CMPLX(o.term[0].amplitude[j], o.term[0].phase[j]);
		for (size_t pick = 0; pick < 6; pick++)
			worst = fmax(worst, cabs(gamma[pick] - npy_at(&expected, i * 6 + pick)));
	}
	CHECK(worst < 1e-11, "%s: gamma (off by %.1e)", g->name, worst);
	free(scratch);
	pixel_table_free(&t);
	overlap_free(&o);
}

static void check_acquisition(const char *vectors, const char *name)
{
	char folder[512];
	snprintf(folder, sizeof folder, "%s/%s", vectors, name);
	const json_t *a = json_vector(folder, "acquisition.json"), *C = json_object_get(a, "neighbour_start_C_A");
	const bool transposed = json_is_true(json_object_get(a, "transpose"));
	const evidence *e = evidence_vector(folder);
	const neighbour_estimate n = neighbour_start(e, 1e-3 /* every q */, NULL, &transposed);
	const char *const names[3] = {"C10", "C12a", "C12b"};
	CHECK(n.found, "%s: a neighbour start is found", name);
	for (int i = 0; i < 3; i++)
		CHECK(fabs(n.C_A[i] - number(C, names[i])) < 1e-3, "%s: neighbour start %s %.4f, oracle %.4f", name, names[i], n.C_A[i],
		      number(C, names[i]));
	CHECK(fabs(n.rotation_rad - number(a, "neighbour_start_rotation_rad")) < 1e-5, "%s: neighbour start rotation %.6f, oracle %.6f", name,
	      n.rotation_rad, number(a, "neighbour_start_rotation_rad"));
}

/* Rounding of the vector sine and cosine against the library's, over phases of every size that chi reaches. */
static void check_sincos(void)
{
	double worst = 0;
	for (long i = -2000000; i <= 2000000; i++) {
		const double x = (double)i * 0.4999 + 1e-3 * (double)(i % 977);
		double s, c;
		sine_cosine(x * 1e-2, &s, &c);
		worst = fmax(worst, fmax(fabs(s - sin(x * 1e-2)), fabs(c - cos(x * 1e-2))));
		sine_cosine(x, &s, &c);
		worst = fmax(worst, fmax(fabs(s - sin(x)), fabs(c - cos(x))));
	}
	CHECK(worst <= 2 * 2.220446049250313e-16, "sine and cosine to 2 ulp of 1 (%.2e)", worst);
}

/* L and its derivatives by all parameters at p, over the bins with a weight. */
static void likelihood_at(const golden_case *g, const optics_parameters *p, const frequency *f, const double *weight, likelihood *out)
{
	ssb_error err;
	int parameter[FIT_PARAMETERS];
	sums *s = malloc(g->e->bins * sizeof *s);
	for (int i = 0; i < FIT_PARAMETERS; i++)
		parameter[i] = i;
	if (!backend_cpu.sums(g->e, p, f, g->e->bins, false, s, &err) ||
	    !backend_cpu.derivatives(g->e, p, parameter, FIT_PARAMETERS, f, g->e->bins, weight, s, out, &err))
		exit(1);
	free(s);
}

/* Each derivative, alone and with every other, at a point where all parameters count, against differences of L and of the gradient.
 * Steps are in units of 1/sqrt(J_ii) L; those of rotation and sampling are small, to stay between the kinks of the aperture's ramp. */
static void check_differences(const golden_case *g)
{
	static likelihood at, up, down;
	const evidence *e = g->e;
	const double k = e->geometry.semiangle_rad / e->geometry.wavelength_A;
	optics_parameters p = {.tilt_rad = {3e-3, -5e-3}, .thickness_A = 60, .rotation_rad = 0.4, .log_sampling = 0.03, .transposed = g->p.transposed};
	for (int i = 0; i < ABERRATIONS; i++) {
		double unit[ABERRATIONS] = {0};
		unit[i] = 1;
		const polynomial chi = chi_from_coefficients(unit, e->geometry.wavelength_A);
		p.C_A[i] = (0.5 - 0.1 * (i % 7)) / fabs(polynomial_value(&chi, 0.8 * k, 0.6 * k)); /* rad at the edge, in one direction */
	}
	frequency *f = calloc(e->bins, sizeof *f);
	double *weight = calloc(e->bins, sizeof *weight), worst = 0, worst_hessian = 0;
	for (size_t i = 0; i < e->bins; i++) {
		f[i].bin = i;
		evidence_q(e, i, f[i].q);
		weight[i] = hypot(f[i].q[0], f[i].q[1]) < 1.5 * k ? evidence_multiplicity(e, i) : 0;
	}
	likelihood_at(g, &p, f, weight, &at);
	for (int i = 0; i < FIT_PARAMETERS; i++) {
		const double scale = sqrt(at.L / at.gauss_newton[i * FIT_PARAMETERS + i]), h = (i >= ROTATION ? 1e-7 : 1e-4) * scale;
		optics_parameters high = p, low = p;
		fit_parameter_set(&high, i, fit_parameter_get(&p, i) + h);
		fit_parameter_set(&low, i, fit_parameter_get(&p, i) - h);
		likelihood_at(g, &high, f, weight, &up);
		likelihood_at(g, &low, f, weight, &down);
		worst = fmax(worst, fabs((up.L - down.L) / (2 * h) - at.gradient[i]) * scale / at.L);
		for (int j = 0; j < FIT_PARAMETERS; j++) {
			const double other = sqrt(at.L / at.gauss_newton[j * FIT_PARAMETERS + j]), difference = (up.gradient[j] - down.gradient[j]) / (2 * h);
			worst_hessian = fmax(worst_hessian, fabs(difference - at.hessian[i * FIT_PARAMETERS + j]) * scale * other / at.L);
		}
	}
	CHECK(worst < 1e-6, "%s: gradient by differences (%.1e)", g->name, worst);
	CHECK(worst_hessian < 1e-6, "%s: Hessian by differences (%.1e)", g->name, worst_hessian);
	free(f);
	free(weight);
}

/* A detector scaled in the evidence is a detector scaled by the parameter. */
static void check_sampling(const golden_case *g)
{
	ssb_error err;
	evidence scaled = *g->e;
	optics_parameters p = g->p;
	p.log_sampling = -0.04;
	for (int axis = 0; axis < 2; axis++)
		scaled.geometry.sampling_rad[axis] *= exp(p.log_sampling);
	scaled.geometry.semiangle_rad *= exp(p.log_sampling);
	double worst = 0, most = 0;
	for (size_t i = 0; i < g->e->bins; i++) {
		frequency f = {.bin = i};
		sums by_parameter, by_evidence;
		evidence_q(g->e, i, f.q);
		if (!backend_cpu.sums(g->e, &p, &f, 1, false, &by_parameter, &err) || !backend_cpu.sums(&scaled, &g->p, &f, 1, false, &by_evidence, &err))
			exit(1);
		worst = fmax(worst, cabs(by_parameter.S - by_evidence.S));
		most = fmax(most, cabs(by_evidence.S));
	}
	CHECK(worst < 1e-12 * most, "%s: S under a scaled detector (%.1e)", g->name, worst / most);
}

/* S, W, U by rows against gamma element by element. */
static void check_rows(const evidence *e)
{
	ssb_error err;
	pixel_table t;
	overlap o;
	const optics_parameters p = {.C_A = {[C10] = 150, [C21a] = 2e4, [C30] = 1e6}, .rotation_rad = 2, .thickness_A = 40, .tilt_rad = {1e-3, 2e-3}};
	double worst = 0;
	if (!pixel_table_make(&t, e, &p) || !overlap_make(&o, e->pixels))
		exit(1);
	for (size_t i = 0; i < e->bins; i++) {
		frequency f = {.bin = i, .conjugate = i % 2};
		sums got, expected = {0};
		evidence_q(e, i, f.q);
		overlap_select(&o, &t, f.q, e->row[i], f.conjugate);
		overlap_gamma(&o, &t, f.q);
		for (size_t j = 0; j < o.count; j++) {
			const double complex gamma = CMPLX(o.term[0].amplitude[j], o.term[0].phase[j]), G = CMPLX(o.G_re[j], o.G_im[j]);
			expected.S += G * conj(gamma);
			expected.W += creal(gamma * conj(gamma));
			expected.U += cabs(gamma) > GAMMA_ZERO ? G * conj(gamma) / cabs(gamma) : 0;
		}
		if (!backend_cpu.sums(e, &p, &f, 1, true, &got, &err))
			exit(1);
		worst = fmax(worst, fmax(cabs(got.S - expected.S), fmax(fabs(got.W - expected.W), cabs(got.U - expected.U))));
	}
	CHECK(worst < 1e-9, "long rows with holes: S, W, U as pixel by pixel (%.1e)", worst);
	pixel_table_free(&t);
	overlap_free(&o);
}

/* Through a header and back: what differs from the spectrum's is kept, what does not is no key. */
static void check_header(void)
{
	ssb_error err;
	optics_parameters p = {.C_A = {[C10] = -120, [C21b] = 3000}, .rotation_rad = 0.5, .log_sampling = log(1.0125)}, back;
	json_t *optics = optics_to_json(&p);
	CHECK(number(optics, "detector_scale") == 1.0125 && optics_from_json(&back, optics, &err) && fabs(back.log_sampling - p.log_sampling) < 1e-15,
	      "detector_scale goes through a header");
	json_object_set_new(optics, "detector_scale", json_integer(0));
	CHECK(!optics_from_json(&back, optics, &err) && err.status == SSB_BAD_INPUT, "a scale of 0: %s", err.text);
	json_decref(optics);
	p.log_sampling = 1e-8;
	optics = optics_to_json(&p);
	CHECK(!json_object_get(optics, "detector_scale"), "a scale of 1 is no key");
	json_decref(optics);
}

int main(void)
{
	check_sincos();
	check_header();
	const golden_case noise = {.name = "long rows with holes", .e = noise_evidence()};
	check_rows(noise.e);
	check_differences(&noise);
	for (size_t i = 0; i < golden_count(); i++) {
		const golden_case g = golden_read(i);
		check_gamma(&g);
		check_golden(&backend_cpu, &g);
		check_sampling(&g);
		if (i == 1 || i == 2)
			check_differences(&g);
	}
	check_acquisition(golden_vectors(), "even");
	check_acquisition(golden_vectors(), "odd");
	if (golden_count() == 3)
		test_skip("the oracle's other cases", "no ../shared");
	return test_end();
}
