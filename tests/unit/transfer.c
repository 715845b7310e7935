/* The transfer library against the oracle's golden vectors: gamma, S, W, L and derivatives, phase images, neighbour start.
 *
 * Bounds: G comes as float32, whose relative rounding is at most 6e-8 per element; S and the images are sums of it with independent
 * signs, so 1e-6 of the largest value is safe; W does not depend on G and must agree to double rounding. */
#include "tests/unit/test.h"

#include <unistd.h>
#include "tests/unit/vectors.h"
#include "tools/transfer/cpu.h"
#include "tools/transfer/reconstruct.h"
#include "tools/transfer/sincos.h"

static double largest(const npy *a)
{
	double most = 0;
	for (size_t i = 0; i < a->count; i++)
		most = fmax(most, cabs(npy_at(a, i)));
	return most;
}

static void check_gamma(const char *folder, const char *name, const evidence *e, const optics_parameters *p)
{
	const npy expected = npy_read(folder, "gamma.npy"), picks = npy_read(folder, "picks.npy");
	pixel_table t;
	overlap o;
	double worst = 0;
	if (!pixel_table_make(&t, e, p) || !overlap_make(&o, e->pixels))
		exit(1);
	for (size_t i = 0; i < e->bins; i++) {
		double q[2];
		double complex gamma[6] = {0};
		evidence_q(e, i, q);
		overlap_select(&o, &t, q, e->row[i], false);
		overlap_gamma(&o, &t, q);
		for (size_t j = 0; j < o.count; j++)
			for (size_t pick = 0; pick < 6; pick++)
				if (o.index[j] == (uint32_t)creal(npy_at(&picks, pick)))
					gamma[pick] = CMPLX(o.term[0].amplitude[j], o.term[0].phase[j]);
		for (size_t pick = 0; pick < 6; pick++)
			worst = fmax(worst, cabs(gamma[pick] - npy_at(&expected, i * 6 + pick)));
	}
	CHECK(worst < 1e-11, "%s: gamma (off by %.1e)", name, worst);
	pixel_table_free(&t);
	overlap_free(&o);
}

static void check_sums(const char *folder, const char *name, const evidence *e, const optics_parameters *p, sums *out, frequency *f)
{
	const npy S = npy_read(folder, "S.npy"), W = npy_read(folder, "W.npy");
	double worst_S = 0, worst_W = 0;
	ssb_error err;
	for (size_t i = 0; i < e->bins; i++) {
		f[i] = (frequency){.bin = i};
		evidence_q(e, i, f[i].q);
	}
	CHECK(backend_cpu.sums(e, p, f, e->bins, false, out, &err), "%s: sums", name);
	for (size_t i = 0; i < e->bins; i++) {
		worst_S = fmax(worst_S, cabs(out[i].S - npy_at(&S, i)));
		worst_W = fmax(worst_W, fabs(out[i].W - creal(npy_at(&W, i))));
	}
	CHECK(worst_S < 1e-6 * largest(&S), "%s: S (%.1e of the largest)", name, worst_S / largest(&S));
	CHECK(worst_W < 1e-11 * largest(&W), "%s: W (%.1e of the largest)", name, worst_W / largest(&W));
}

static void check_matrix(const char *folder, const char *name, const char *file, const double *got, size_t n, double bound)
{
	const npy expected = npy_read(folder, file);
	/* the diagonal sets the scale: parameters differ by ten orders of magnitude */
	double worst = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			const double scale = sqrt(fabs(creal(npy_at(&expected, i * n + i)) * creal(npy_at(&expected, j * n + j))));
			worst = fmax(worst, fabs(got[i * n + j] - creal(npy_at(&expected, i * n + j))) / scale);
		}
	CHECK(worst < bound, "%s: %s (%.1e of the diagonal)", name, file, worst);
}

static void check_derivatives(const char *folder, const char *name, const evidence *e, const optics_parameters *p, const sums *s,
                              const frequency *f)
{
	ssb_error err;
	const json_t *c = json_vector(folder, "case.json"), *names = json_object_get(c, "names");
	const npy m = npy_read(folder, "m_used.npy"), gradient = npy_read(folder, "dL.npy");
	int parameter[FIT_PARAMETERS];
	double weight[4096];
	const size_t n = json_array_size(names);
	static likelihood out;
	for (size_t i = 0; i < n; i++)
		for (int j = 0; j < FIT_PARAMETERS; j++)
			if (!strcmp(fit_parameter_name(j), json_string_value(json_array_get(names, i))))
				parameter[i] = j;
	for (size_t i = 0; i < e->bins; i++)
		weight[i] = creal(npy_at(&m, i));
	CHECK(backend_cpu.derivatives(e, p, parameter, n, f, e->bins, weight, s, &out, &err), "%s: derivatives", name);
	CHECK(fabs(out.L / number(c, "L") - 1) < 1e-6, "%s: L (%.1e)", name, out.L / number(c, "L") - 1);
	double worst = 0;
	for (size_t i = 0; i < n; i++) {
		const npy J = npy_read(folder, "gauss_newton.npy");
		const double scale = sqrt(creal(npy_at(&J, i * n + i)) * out.L);
		worst = fmax(worst, fabs(out.gradient[i] - creal(npy_at(&gradient, i))) / scale);
	}
	CHECK(worst < 1e-6, "%s: dL (%.1e of sqrt(J L))", name, worst);
	check_matrix(folder, name, "d2L.npy", out.hessian, n, 1e-4);
	check_matrix(folder, name, "gauss_newton.npy", out.gauss_newton, n, 1e-5);
	check_matrix(folder, name, "sum_kappa.npy", out.sum_kappa, n, 1e-9);
}

static void check_mean_phase(const char *folder, const char *name, const evidence *e, const optics_parameters *p)
{
	const json_t *c = json_vector(folder, "case.json");
	for (size_t factor = 1; factor <= 3; factor += 2) {
		char file[64];
		snprintf(file, sizeof file, "mean_phase_x%zu.npy", factor);
		const npy expected = npy_read(folder, file);
		double *image = malloc(expected.count * sizeof *image), variance = 0, worst = 0;
		ssb_error err;
		const bool ok = backend_cpu.mean_phase(e, p, factor, image, &variance, &err);
		for (size_t i = 0; i < expected.count; i++)
			worst = fmax(worst, fabs(image[i] - creal(npy_at(&expected, i))));
		CHECK(ok && worst < 1e-6 * largest(&expected), "%s: mean phase x%zu (%.1e of the largest)", name, factor, worst / largest(&expected));
		if (factor == 1)
			CHECK(fabs(variance / number(c, "variance_loss") - 1) < 1e-6, "%s: variance (%.1e)", name,
			      variance / number(c, "variance_loss") - 1);
		free(image);
	}
}

static void check_reconstructions(const char *folder, const char *name, const evidence *e, const optics_parameters *p)
{
	const json_t *c = json_vector(folder, "case.json");
	const char *const estimators[] = {"ls", "ssb"};
	for (int i = 0; i < 2; i++)
		for (size_t factor = 1; factor <= 3; factor += 2) {
			char file[64];
			ssb_error err;
			snprintf(file, sizeof file, "%s_x%zu.npy", estimators[i], factor);
			const npy expected = npy_read(folder, file);
			double *image = malloc(expected.count * sizeof *image), worst = 0;
			const bool ok = reconstruct(&backend_cpu, e, p, i == 0 ? ESTIMATOR_LS : ESTIMATOR_SSB, factor, number(c, "eps_ls"), image, &err);
			for (size_t j = 0; j < expected.count; j++)
				worst = fmax(worst, fabs(image[j] - creal(npy_at(&expected, j))));
			CHECK(ok && worst < 1e-6 * largest(&expected), "%s: %s (%.1e of the largest)", name, file, worst / largest(&expected));
			if (i == 0 && factor == 1)
				CHECK(fabs(phase_polarity(image, expected.count) - number(c, "polarity_ls_x1")) < 1e-5, "%s: polarity", name);
			free(image);
		}
}

/* The look-up on a four times padded grid moves u by at most half a step: each candidate's score within a few per cent of L. */
static void check_search(const char *name, const evidence *e, const optics_parameters *p)
{
	size_t bin[4096], bins = 0;
	double m[4096], score[27], worst = 0, L[27];
	candidate c[27];
	ssb_error err;
	for (size_t i = 0; i < e->bins; i++)
		if ((m[bins] = evidence_multiplicity(e, i)) > 0)
			bin[bins++] = i;
	for (int i = 0; i < 27; i++)
		c[i] = (candidate){{p->C_A[C10] + 40 * (i % 3 - 1), p->C_A[C12a] + 30 * (i / 3 % 3 - 1), p->C_A[C12b] + 30 * (i / 9 - 1)}};
	CHECK(backend_cpu.search(e, p, bin, m, bins, c, 27, score, &err), "%s: search", name);
	for (int i = 0; i < 27; i++) {
		optics_parameters at = *p;
		memcpy(at.C_A, c[i].C_A, sizeof c[i].C_A);
		frequency f[4096];
		sums s[4096];
		L[i] = 0;
		for (size_t j = 0; j < bins; j++) {
			f[j] = (frequency){.bin = bin[j]};
			evidence_q(e, bin[j], f[j].q);
		}
		if (!backend_cpu.sums(e, &at, f, bins, false, s, &err))
			exit(1);
		for (size_t j = 0; j < bins; j++)
			L[i] += s[j].W > 1e-3 ? m[j] * creal(s[j].S * conj(s[j].S)) / s[j].W : 0;
	}
	for (int i = 0; i < 27; i++)
		worst = fmax(worst, fabs(score[i] - L[i]) / L[13]);
	CHECK(worst < 0.12, "%s: search scores within %.1f %% of L", name, 100 * worst);
}

static void check_case(const char *vectors, const char *name)
{
	char folder[512], acquisition[512];
	snprintf(folder, sizeof folder, "%s/cases/%s", vectors, name);
	const json_t *c = json_vector(folder, "case.json");
	const char *which = json_string_value(json_object_get(c, "acquisition"));
	snprintf(acquisition, sizeof acquisition, "%s/%s", vectors, which);
	const evidence *e = evidence_vector(acquisition);
	const optics_parameters p = parameters_vector(c, json_is_true(json_object_get(json_vector(acquisition, "acquisition.json"), "transpose")));
	sums *s = malloc(e->bins * sizeof *s);
	frequency *f = malloc(e->bins * sizeof *f);
	check_gamma(folder, name, e, &p);
	check_sums(folder, name, e, &p, s, f);
	check_derivatives(folder, name, e, &p, s, f);
	check_mean_phase(folder, name, e, &p);
	check_reconstructions(folder, name, e, &p);
	if (p.thickness_A == 0)
		check_search(name, e, &p);
	free(s);
	free(f);
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

int main(void)
{
	const char *const all[] = {"quadratic", "odd-orders", "all-orders", "tilt-thickness", "rotated", "transposed"};
	const char *const few[] = {"quadratic", "tilt-thickness", "transposed"};
	const bool shared = access("../shared/oracle/vectors", R_OK) == 0;
	const char *vectors = shared ? "../shared/oracle/vectors" : "tests/golden/transfer";
	check_sincos();
	for (size_t i = 0; i < (shared ? 6 : 3); i++)
		check_case(vectors, shared ? all[i] : few[i]);
	check_acquisition(vectors, "even");
	check_acquisition(vectors, "odd");
	if (!shared)
		test_skip("the oracle's other cases", "no ../shared");
	return test_end();
}
