/* A backend against the oracle's golden vectors: S, W, L and derivatives, phase images, search.
 *
 * Bounds: G comes as float32, whose relative rounding is at most 6e-8 per element; S and the images are sums of it with independent
 * signs, so 1e-6 of the largest value is safe; W does not depend on G and must agree to double rounding, but on the CPU where a general chi's
 * sines are of single precision (thin.h), and kappa with it: 1e-7 of the largest is safe for errors with independent signs. */
#ifndef UNIT_BACKEND_CHECKS_H
#define UNIT_BACKEND_CHECKS_H

#include <unistd.h>
#include "tests/unit/test.h"
#include "tests/unit/vectors.h"
#include "tools/transfer/reconstruct.h"

/* One of the oracle's cases. The first three are in tests/golden too, the others only where ../shared is. */
typedef struct golden_case {
	char folder[1024];
	const char *name;
	evidence *e;
	optics_parameters p;
} golden_case;

static const char *const golden_names[] = {"quadratic", "tilt-thickness", "transposed", "odd-orders", "all-orders", "rotated"};

static const char *golden_vectors(void)
{
	return access("../shared/oracle/vectors", R_OK) == 0 ? "../shared/oracle/vectors" : "tests/golden/transfer";
}

static size_t golden_count(void)
{
	return strcmp(golden_vectors(), "tests/golden/transfer") ? 6 : 3;
}

static golden_case golden_read(size_t i)
{
	golden_case g = {.name = golden_names[i]};
	char acquisition[1024];
	snprintf(g.folder, sizeof g.folder, "%s/cases/%s", golden_vectors(), g.name);
	const json_t *c = json_vector(g.folder, "case.json");
	snprintf(acquisition, sizeof acquisition, "%s/%s", golden_vectors(), json_string_value(json_object_get(c, "acquisition")));
	g.e = evidence_vector(acquisition);
	g.p = parameters_vector(c, json_is_true(json_object_get(json_vector(acquisition, "acquisition.json"), "transpose")));
	return g;
}

static double largest(const npy *a)
{
	double most = 0;
	for (size_t i = 0; i < a->count; i++)
		most = fmax(most, cabs(npy_at(a, i)));
	return most;
}

/* What W may be off by where the sines are of single precision. */
static double single_W(const backend *b, const optics_parameters *p)
{
	return b == &backend_cpu && p->thickness_A == 0 && chi_from_coefficients(p->C_A, 1).degree > 2 ? 1e-7 : 0;
}

static void check_sums(const backend *b, const char *folder, const char *name, const evidence *e, const optics_parameters *p, sums *out, frequency *f)
{
	const npy S = npy_read(folder, "S.npy"), W = npy_read(folder, "W.npy");
	double worst_S = 0, worst_W = 0;
	ssb_error err;
	for (size_t i = 0; i < e->bins; i++) {
		f[i] = (frequency){.bin = i};
		evidence_q(e, i, f[i].q);
	}
	CHECK(b->sums(e, p, f, e->bins, false, out, &err), "%s: sums", name);
	for (size_t i = 0; i < e->bins; i++) {
		worst_S = fmax(worst_S, cabs(out[i].S - npy_at(&S, i)));
		worst_W = fmax(worst_W, fabs(out[i].W - creal(npy_at(&W, i))));
	}
	CHECK(worst_S < 1e-6 * largest(&S), "%s: S (%.1e of the largest)", name, worst_S / largest(&S));
	CHECK(worst_W < (1e-11 + single_W(b, p)) * largest(&W), "%s: W (%.1e of the largest)", name, worst_W / largest(&W));
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

static void check_derivatives(const backend *b, const char *folder, const char *name, const evidence *e, const optics_parameters *p, const sums *s,
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
	CHECK(b->derivatives(e, p, parameter, n, f, e->bins, weight, s, &out, &err), "%s: derivatives", name);
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
	check_matrix(folder, name, "sum_kappa.npy", out.sum_kappa, n, 1e-9 + single_W(b, p));
}

static void check_mean_phase(const backend *b, const char *folder, const char *name, const evidence *e, const optics_parameters *p)
{
	const json_t *c = json_vector(folder, "case.json");
	for (size_t factor = 1; factor <= 3; factor += 2) {
		char file[64];
		snprintf(file, sizeof file, "mean_phase_x%zu.npy", factor);
		const npy expected = npy_read(folder, file);
		double *image = malloc(expected.count * sizeof *image), variance = 0, worst = 0;
		ssb_error err;
		const bool ok = b->mean_phase(e, p, factor, image, &variance, &err);
		for (size_t i = 0; i < expected.count; i++)
			worst = fmax(worst, fabs(image[i] - creal(npy_at(&expected, i))));
		CHECK(ok && worst < 1e-6 * largest(&expected), "%s: mean phase x%zu (%.1e of the largest)", name, factor, worst / largest(&expected));
		if (factor == 1)
			CHECK(fabs(variance / number(c, "variance_loss") - 1) < 1e-6, "%s: variance (%.1e)", name,
			      variance / number(c, "variance_loss") - 1);
		free(image);
	}
}

static void check_reconstructions(const backend *b, const char *folder, const char *name, const evidence *e, const optics_parameters *p)
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
			const bool ok = reconstruct(b, e, p, i == 0 ? ESTIMATOR_LS : ESTIMATOR_SSB, factor, number(c, "eps_ls"), image, &err);
			for (size_t j = 0; j < expected.count; j++)
				worst = fmax(worst, fabs(image[j] - creal(npy_at(&expected, j))));
			CHECK(ok && worst < 1e-6 * largest(&expected), "%s: %s (%.1e of the largest)", name, file, worst / largest(&expected));
			if (i == 0 && factor == 1)
				CHECK(fabs(phase_polarity(image, expected.count) - number(c, "polarity_ls_x1")) < 1e-5, "%s: polarity", name);
			free(image);
		}
}

/* The look-up on a four times padded grid moves u by at most half a step: each candidate's score within a few per cent of L. */
static void check_search(const backend *b, const char *name, const evidence *e, const optics_parameters *p)
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
	CHECK(b->search(e, p, bin, m, bins, c, 27, score, &err), "%s: search", name);
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
		if (!b->sums(e, &at, f, bins, false, s, &err))
			exit(1);
		for (size_t j = 0; j < bins; j++)
			L[i] += s[j].W > 1e-3 ? m[j] * creal(s[j].S * conj(s[j].S)) / s[j].W : 0;
	}
	for (int i = 0; i < 27; i++)
		worst = fmax(worst, fabs(score[i] - L[i]) / L[13]);
	CHECK(worst < 0.12, "%s: search scores within %.1f %% of L", name, 100 * worst);
}

static void check_golden(const backend *b, const golden_case *g)
{
	sums *s = malloc(g->e->bins * sizeof *s);
	frequency *f = malloc(g->e->bins * sizeof *f);
	check_sums(b, g->folder, g->name, g->e, &g->p, s, f);
	check_derivatives(b, g->folder, g->name, g->e, &g->p, s, f);
	check_mean_phase(b, g->folder, g->name, g->e, &g->p);
	check_reconstructions(b, g->folder, g->name, g->e, &g->p);
	if (g->p.thickness_A == 0)
		check_search(b, g->name, g->e, &g->p);
	free(s);
	free(f);
}

/* ---- a backend against the CPU's, which the oracle has checked ---- */

/* Everything a backend computes of one case. */
typedef struct computed {
	size_t sums_count, image_count, candidates;
	sums *sums;
	likelihood few, all;
	double *score, *image, variance;
} computed;

/* Every bin and its conjugate at a frequency beyond the native grid; derivatives at a quarter of them, by all 30 parameters in falling
 * order. */
static computed compute(const backend *b, const golden_case *g)
{
	const evidence *e = g->e;
	enum { SIDE = 7 };
	computed c = {.sums_count = 2 * e->bins, .image_count = 4 * e->scan[0] * e->scan[1], .candidates = SIDE * SIDE * SIDE};
	c.sums = calloc(c.sums_count, sizeof *c.sums);
	c.score = calloc(c.candidates, sizeof *c.score);
	c.image = calloc(c.image_count, sizeof *c.image);
	frequency *f = calloc(c.sums_count, sizeof *f);
	candidate candidates[SIDE * SIDE * SIDE];
	size_t *bin = calloc(e->bins, sizeof *bin);
	double *m = calloc(e->bins, sizeof *m), *weight = calloc(c.sums_count, sizeof *weight);
	const int few[4] = {ROTATION, C10, C12a, C12b};
	int all[FIT_PARAMETERS];
	ssb_error err = {0};
	for (int i = 0; i < FIT_PARAMETERS; i++)
		all[i] = FIT_PARAMETERS - 1 - i;
	for (size_t i = 0; i < e->bins; i++) {
		bin[i] = i;
		f[i].bin = f[e->bins + i].bin = i;
		f[e->bins + i].conjugate = true;
		evidence_q(e, i, f[i].q);
		for (int axis = 0; axis < 2; axis++)
			f[e->bins + i].q[axis] = 1 / e->step_A[axis] - f[i].q[axis];
		m[i] = evidence_multiplicity(e, i);
	}
	for (int i = 0; i < SIDE * SIDE * SIDE; i++)
		candidates[i] = (candidate){{23 * (i % SIDE) - 61.3, 17 * (i / SIDE % SIDE) - 47.1, 19 * (i / SIDE / SIDE) - 53.7}};
	const bool ok = b->sums(e, &g->p, f, c.sums_count, true, c.sums, &err);
	for (size_t i = 0; i < c.sums_count; i += 4)
		weight[i] = c.sums[i].W > 1e-3 ? 2 : 0;
	CHECK(ok && b->derivatives(e, &g->p, few, 4, f, c.sums_count, weight, c.sums, &c.few, &err) &&
	              b->derivatives(e, &g->p, all, FIT_PARAMETERS, f, c.sums_count, weight, c.sums, &c.all, &err) &&
	              b->search(e, &g->p, bin, m, e->bins, candidates, c.candidates, c.score, &err) &&
	              b->mean_phase(e, &g->p, 2, c.image, &c.variance, &err),
	      "%s: all of it on %s%s", g->name, b->name, err.text);
	free(f);
	free(bin);
	free(m);
	free(weight);
	return c;
}

static void computed_free(computed *c)
{
	free(c->sums);
	free(c->score);
	free(c->image);
}

/* Largest difference over largest value. */
static double difference(const double *a, const double *b, size_t count)
{
	double worst = 0, most = 0;
	for (size_t i = 0; i < count; i++) {
		worst = fmax(worst, isnan(a[i]) ? INFINITY : fabs(a[i] - b[i]));
		most = fmax(most, fabs(b[i]));
	}
	return worst / most;
}

/* Row by row, since parameters differ by ten orders of magnitude. */
static double matrix_difference(const double *a, const double *b, size_t n)
{
	double worst = 0;
	for (size_t i = 0; i < n; i++)
		worst = fmax(worst, difference(a + i * n, b + i * n, n));
	return worst;
}

/* `single`: what sums of single precision may be off by (quadratic.h), 0 where both are of double. */
static void check_likelihood(const char *name, const likelihood *a, const likelihood *b, size_t n, double single)
{
	double gradient = 0;
	for (size_t i = 0; i < n; i++)
		gradient = fmax(gradient, fabs(a->gradient[i] - b->gradient[i]) / sqrt(b->L * b->gauss_newton[i * n + i]));
	CHECK(fabs(a->L / b->L - 1) < 1e-12 && a->multiplicity == b->multiplicity, "%s: L (%.1e)", name, a->L / b->L - 1);
	CHECK(gradient < 1e-11 + single, "%s: gradient by %zu parameters (%.1e of sqrt(J L))", name, n, gradient);
	CHECK(matrix_difference(a->hessian, b->hessian, n) < 1e-9 + single, "%s: Hessian (%.1e)", name, matrix_difference(a->hessian, b->hessian, n));
	CHECK(matrix_difference(a->gauss_newton, b->gauss_newton, n) < 1e-9, "%s: J (%.1e)", name,
	      matrix_difference(a->gauss_newton, b->gauss_newton, n));
	CHECK(matrix_difference(a->sum_kappa, b->sum_kappa, n) < 1e-9, "%s: sum kappa (%.1e)", name,
	      matrix_difference(a->sum_kappa, b->sum_kappa, n));
}

/* Both sum in double, but the CPU where chi is quadratic; the search's transforms are of float. */
static void check_against_cpu(const computed *c, const golden_case *g)
{
	computed cpu = compute(&backend_cpu, g);
	const double sums_off = difference((const double *)c->sums, (const double *)cpu.sums, 5 * cpu.sums_count);
	const double score_off = difference(c->score, cpu.score, cpu.candidates), image_off = difference(c->image, cpu.image, cpu.image_count);
	const bool quadratic = g->p.thickness_A == 0 && chi_from_coefficients(g->p.C_A, g->e->geometry.wavelength_A).degree <= 2;
	CHECK(sums_off < 1e-12, "%s: S, W, U as on the CPU (%.1e)", g->name, sums_off);
	CHECK(score_off < 1e-5, "%s: search as on the CPU (%.1e)", g->name, score_off);
	CHECK(image_off < 1e-6 && fabs(c->variance / cpu.variance - 1) < 1e-6, "%s: mean phase as on the CPU (%.1e)", g->name, image_off);
	check_likelihood(g->name, &c->few, &cpu.few, 4, quadratic ? 2e-6 : 0);
	check_likelihood(g->name, &c->all, &cpu.all, FIT_PARAMETERS, 0);
	computed_free(&cpu);
}

static bool same_bytes(const computed *a, const computed *b)
{
	return !memcmp(a->sums, b->sums, a->sums_count * sizeof *a->sums) && !memcmp(&a->few, &b->few, sizeof a->few) &&
	       !memcmp(&a->all, &b->all, sizeof a->all) && !memcmp(a->score, b->score, a->candidates * sizeof *a->score) &&
	       !memcmp(a->image, b->image, a->image_count * sizeof *a->image) && a->variance == b->variance;
}

/* A backend with a device of its own on one case: golden vectors, the CPU, and the same bytes twice. */
__attribute__((unused)) static void check_device(const backend *b, const golden_case *g)
{
	ssb_error err = {0};
	CHECK(backend_attach(b, g->e, &err), "%s: attached%s", g->name, err.text);
	check_golden(b, g);
	computed first = compute(b, g), second = compute(b, g);
	check_against_cpu(&first, g);
	CHECK(same_bytes(&first, &second), "%s: the same bytes twice", g->name);
	computed_free(&first);
	computed_free(&second);
	backend_detach(b, g->e);
}

#endif
