/* ssb-fit's ascent and error bars against the oracle's optima, and every derivative against finite differences. */
#include "tests/unit/test.h"

#include <unistd.h>
#include "tests/unit/vectors.h"
#include "tools/ssb-fit/certificate.h"

static int parameter_of(const char *name)
{
	for (int i = 0; i < FIT_PARAMETERS; i++)
		if (!strcmp(fit_parameter_name(i), name))
			return i;
	exit(fprintf(stderr, "no parameter %s\n", name));
}

static evaluations spent = {.most = 1e9, .bins = 1};

static objective all_bins(const evidence *e)
{
	objective f;
	size_t *bin = malloc(e->bins * sizeof *bin);
	for (size_t i = 0; i < e->bins; i++)
		bin[i] = i;
	if (!objective_make(&f, &backend_cpu, e, bin, e->bins, &spent))
		exit(1);
	free(bin);
	return f;
}

static void check_optimum(const char *vectors, const char *name)
{
	char folder[600], acquisition[600];
	snprintf(folder, sizeof folder, "%s/fits/%s", vectors, name);
	snprintf(acquisition, sizeof acquisition, "%s/%s", vectors, name);
	const json_t *fit = json_vector(folder, "fit.json"), *names = json_object_get(fit, "names");
	const evidence *e = evidence_vector(acquisition);
	parameter_set set = {.n = json_array_size(names)};
	ssb_error err;
	optimum o = {.p.transposed = json_is_true(json_object_get(json_vector(acquisition, "acquisition.json"), "transpose"))};
	const size_t n = set.n;
	int *parameter = set.parameter;
	for (size_t i = 0; i < n; i++) {
		parameter[i] = parameter_of(json_string_value(json_array_get(names, i)));
		fit_parameter_set(&o.p, parameter[i], element(fit, "start", i));
	}
	for (int i = 0; i < ABERRATIONS; i++)
		if (json_object_get(json_object_get(fit, "start_C_A"), aberration_terms[i].name))
			o.p.C_A[i] = number(json_object_get(fit, "start_C_A"), aberration_terms[i].name);
	objective f = all_bins(e);
	const ascent a = {.most_steps = 60, .enough = 1e-4, .q_rms = 0.3, .sigma2 = evidence_sigma2(e)};
	const bool ok = newton_ascend(&f, &a, &set, &o, NULL, &err);
	CHECK(ok && o.converged, "%s: converged after %zu evaluations", name, spent.spent);
	const certificate c = certify(&f, &o, n);
	const npy covariance = npy_read(folder, "covariance.npy");
	double worst = 0, worst_covariance = 0;
	for (size_t i = 0; i < n; i++) {
		worst = fmax(worst, fabs(fit_parameter_get(&o.p, parameter[i]) - element(fit, "optimum", i)) / element(fit, "sd", i));
		for (size_t j = 0; j < n; j++)
			worst_covariance = fmax(worst_covariance, fabs(c.covariance[i * n + j] - creal(npy_at(&covariance, i * n + j))) /
			                                                  (element(fit, "sd", i) * element(fit, "sd", j)));
	}
	CHECK(worst < 1e-3, "%s: optimum within %.1e standard errors of the oracle's", name, worst);
	CHECK(c.has_covariance && worst_covariance < 1e-3, "%s: covariance within %.1e", name, worst_covariance);
	CHECK(fabs(c.explained - element(fit, "explained_fraction_and_sd", 0)) < 1e-5, "%s: explained %.4f", name, c.explained);
	CHECK(fabs(c.explained_noise - element(fit, "explained_fraction_and_sd", 1)) < 1e-5, "%s: its noise %.4f", name, c.explained_noise);
	objective_free(&f);
}

static optics_parameters nudged(optics_parameters p, int parameter, double by)
{
	fit_parameter_set(&p, parameter, fit_parameter_get(&p, parameter) + by);
	return p;
}

/* Steps of a given size in units of 1/sqrt(J_ii / L): small against the curvature, large against rounding. */
static void check_differences(const evidence *e, const optics_parameters *p, const char *name)
{
	objective f = all_bins(e);
	int parameter[FIT_PARAMETERS];
	likelihood at, *up = malloc(sizeof *up), *down = malloc(sizeof *down);
	ssb_error err;
	double L, L_up, L_down, worst = 0, worst_hessian = 0;
	for (int i = 0; i < FIT_PARAMETERS; i++)
		parameter[i] = i;
	if (!objective_value(&f, p, &L, &err) || !objective_derivatives(&f, p, parameter, FIT_PARAMETERS, &at, &err))
		exit(1);
	for (int i = 0; i < FIT_PARAMETERS; i++) {
		const double scale = sqrt(L / at.gauss_newton[i * FIT_PARAMETERS + i]), h = (i >= ROTATION ? 1e-6 : 1e-4) * scale;
		const optics_parameters high = nudged(*p, i, h), low = nudged(*p, i, -h);
		if (!objective_value(&f, &high, &L_up, &err) || !objective_derivatives(&f, &high, parameter, FIT_PARAMETERS, up, &err) ||
		    !objective_value(&f, &low, &L_down, &err) || !objective_derivatives(&f, &low, parameter, FIT_PARAMETERS, down, &err))
			exit(1);
		worst = fmax(worst, fabs((L_up - L_down) / (2 * h) - at.gradient[i]) * scale / L);
		for (int j = 0; j < FIT_PARAMETERS; j++) {
			const double scale_j = sqrt(L / at.gauss_newton[j * FIT_PARAMETERS + j]);
			const double difference = (up->gradient[j] - down->gradient[j]) / (2 * h);
			worst_hessian = fmax(worst_hessian, fabs(difference - at.hessian[i * FIT_PARAMETERS + j]) * scale * scale_j / L);
		}
	}
	CHECK(worst < 1e-6, "%s: gradient of all %d parameters by differences (%.1e)", name, FIT_PARAMETERS, worst);
	CHECK(worst_hessian < 1e-4, "%s: Hessian of all %d parameters by differences (%.1e)", name, FIT_PARAMETERS, worst_hessian);
	free(up);
	free(down);
	objective_free(&f);
}

int main(void)
{
	const char *vectors = access("../shared/oracle/vectors", R_OK) == 0 ? "../shared/oracle/vectors" : "tests/golden/transfer";
	char folder[600], acquisition[600];
	check_optimum(vectors, "even");
	check_optimum(vectors, "odd");
	snprintf(folder, sizeof folder, "%s/cases/transposed", vectors);
	snprintf(acquisition, sizeof acquisition, "%s/odd", vectors);
	const optics_parameters p = parameters_vector(json_vector(folder, "case.json"), true);
	check_differences(evidence_vector(acquisition), &p, "transposed");
	return test_end();
}
