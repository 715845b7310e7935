/* The published objective: its arc tangent, its value against the oracle's, its search by coherent power and its minimum. */
#include "tests/unit/test.h"

#include <omp.h>
#include <unistd.h>
#include "tests/unit/vectors.h"
#include "tools/ssb-fit/variance.h"
#include "tools/transfer/arctangent.h"

static const char *vectors(void)
{
	return access("../shared/oracle/vectors", R_OK) == 0 ? "../shared/oracle/vectors" : "tests/golden/transfer";
}

static const evidence *acquisition(const char *name)
{
	char folder[600];
	snprintf(folder, sizeof folder, "%s/%s", vectors(), name);
	return evidence_vector(folder);
}

static void check_arc_tangent(void)
{
	double worst = 0;
	for (int i = -400000; i <= 400000; i++) {
		const float x = 37, y = x * (float)sinh(i / 40000.0);
		worst = i == 0 ? worst : fmax(worst, fabs(arc_tangent(y, x) / atan2((double)y, (double)x) - 1));
	}
	CHECK(worst < 3e-7, "arc tangent (%.1e)", worst);
	CHECK(arc_tangent(0, 0) == 0 && arc_tangent(0, 5) == 0 && fabs(arc_tangent(-3, 0) + M_PI_2) < 1e-7, "arc tangent on the axes");
}

static void check_values(void)
{
	static const char *const names[] = {"quadratic", "tilt-thickness", "transposed", "odd-orders", "all-orders", "rotated"};
	const bool all = strcmp(vectors(), "tests/golden/transfer") != 0;
	for (size_t i = 0; i < (all ? 6 : 3); i++) {
		char folder[600], parent[700];
		snprintf(folder, sizeof folder, "%s/cases/%s", vectors(), names[i]);
		const json_t *c = json_vector(folder, "case.json");
		const char *of = json_string_value(json_object_get(c, "acquisition"));
		snprintf(parent, sizeof parent, "%s/%s", vectors(), of);
		const optics_parameters p = parameters_vector(c, json_is_true(json_object_get(json_vector(parent, "acquisition.json"), "transpose")));
		double rad2 = 0;
		ssb_error err;
		const bool ok = variance_value(&backend_cpu, acquisition(of), &p, &rad2, &err);
		CHECK(ok && fabs(rad2 / number(c, "variance_loss") - 1) < 1e-6, "%s: variance %.6g rad^2 as the oracle's (%.1e)", names[i], rad2,
		      rad2 / number(c, "variance_loss") - 1);
	}
}

/* ---- the fit, on the acquisition `even` ---- */

enum { BINS = 40, MOST_CANDIDATES = 4000 };

/* What a fit of C10, C12 and the rotation there needs. */
typedef struct setting {
	const evidence *e;
	optics_parameters truth;
	int parameter[4];
	double radians_per_unit[4];
	size_t bin[BINS];
	candidate candidate[MOST_CANDIDATES];
	variance_search search;
	variance_problem problem;
} setting;

static void strongest_bins(const evidence *e, size_t *bin)
{
	for (size_t i = 0; i < BINS; i++) {
		double most = -INFINITY;
		for (size_t j = 0; j < e->bins; j++) {
			bool taken = evidence_multiplicity(e, j) == 0;
			for (size_t k = 0; k < i; k++)
				taken |= bin[k] == j;
			if (!taken && evidence_excess(e, j) > most) {
				most = evidence_excess(e, j);
				bin[i] = j;
			}
		}
	}
}

static setting *setting_make(void)
{
	static setting s = {.parameter = {C10, C12a, C12b, ROTATION}};
	const double A_per_radian = 1 / (2 * M_PI * 0.03 * 0.5), spacing_A = 30;
	char folder[600];
	snprintf(folder, sizeof folder, "%s/even", vectors());
	const json_t *truth = json_object_get(json_vector(folder, "acquisition.json"), "truth");
	s.e = acquisition("even");
	s.truth = parameters_vector(truth, false);
	for (int i = 0; i < 4; i++)
		s.radians_per_unit[i] = (s.parameter[i] == ROTATION ? 85 : 1) / A_per_radian;
	strongest_bins(s.e, s.bin);
	s.search = (variance_search){.orientation = &s.truth, .orientations = 1, .candidate = s.candidate, .spacing_A = spacing_A, .bin = s.bin,
	                             .bins = BINS};
	for (int i = -6; i <= 6; i++)
		for (int a = -3; a <= 3; a++)
			for (int b = -3; b <= 3; b++)
				s.candidate[s.search.candidates++] = (candidate){{i * spacing_A, a * spacing_A, b * spacing_A}};
	s.problem = (variance_problem){.b = &backend_cpu, .e = s.e, .parameter = s.parameter, .radians_per_unit = s.radians_per_unit, .n = 4,
	                               .most_evaluations = 1000};
	return &s;
}

static double off_A(const optics_parameters *a, const optics_parameters *b)
{
	double worst = 0;
	for (int i = C10; i <= C12b; i++)
		worst = fmax(worst, fabs(a->C_A[i] - b->C_A[i]));
	return worst;
}

/* By Parseval the variance of small phases is sum m (sum_k |G|^2 / B - |U|^2 / B^2) / G(0)^2 over the half plane, the first sum over
 * overlaps: at a given rotation a constant less the coherent power that is searched. At 20 counts per pixel the arc tangent takes a tenth. */
static void check_parseval(const setting *s)
{
	double variance[2], power[2];
	ssb_error err;
	for (int i = 0; i < 2; i++) {
		optics_parameters p = s->truth;
		p.C_A[C10] += 60 * i;
		sums u;
		power[i] = 0;
		if (!variance_value(&backend_cpu, s->e, &p, &variance[i], &err))
			exit(1);
		for (size_t j = 0; j < s->e->bins; j++) {
			frequency f = {.bin = j};
			evidence_q(s->e, j, f.q);
			if (!backend_cpu.sums(s->e, &p, &f, 1, true, &u, &err))
				exit(1);
			power[i] += evidence_multiplicity(s->e, j) * creal(u.U * conj(u.U));
		}
	}
	double dc = 0;
	for (size_t b = 0; b < s->e->pixels; b++)
		dc += s->e->counts[b];
	const double linear = (power[0] - power[1]) / (dc * dc), exact = variance[1] - variance[0];
	CHECK(exact > 0 && fabs(linear / exact - 1) < 0.2, "60 A of defocus: the variance rises by %.3g, the coherent power falls by %.3g rad^2", exact,
	      linear);
}

static void check_fit(const setting *s)
{
	static variance_optimum out, again;
	optics_parameters start = s->truth;
	ssb_error err;
	start.C_A[C10] += 15;
	start.C_A[C12a] -= 10;
	start.rotation_rad += 0.05;
	omp_set_num_threads(1);
	CHECK(variance_fit(&s->problem, &s->search, &start, &out, &err) && out.starts == 2, "a fit from two starts");
	for (size_t i = 0; i < out.starts; i++) {
		const variance_descent *d = &out.descent[i];
		double rad2 = 0;
		CHECK(d->converged && d->variance_rad2 < d->start_rad2, "%s: %.6g to %.6g rad^2 in %zu evaluations; %s", d->origin, d->start_rad2,
		      d->variance_rad2, d->evaluations, d->stopped);
		CHECK(variance_value(&backend_cpu, s->e, &d->optimum, &rad2, &err) && rad2 == d->variance_rad2, "%s: the value is that of the optimum", d->origin);
		const double turn = fabs(d->optimum.rotation_rad - s->truth.rotation_rad);
		CHECK(off_A(&d->optimum, &s->truth) < 6 && turn < 0.03, "%s: C10, C12 within %.1f A, rotation within %.4f of the truth", d->origin,
		      off_A(&d->optimum, &s->truth), turn);
		CHECK(d->optimum.C_A[C21a] == s->truth.C_A[C21a], "%s: what is not fitted stays", d->origin);
		CHECK(d->variance_rad2 >= out.descent[out.best].variance_rad2, "%s: not below the best", d->origin);
	}
	omp_set_num_threads(2);
	CHECK(variance_fit(&s->problem, &s->search, &start, &again, &err) && again.evaluations == out.evaluations && again.best == out.best,
	      "again with 2 threads");
	for (size_t i = 0; i < out.starts; i++)
		CHECK(off_A(&again.descent[i].optimum, &out.descent[i].optimum) == 0 &&
		              again.descent[i].optimum.rotation_rad == out.descent[i].optimum.rotation_rad &&
		              again.descent[i].variance_rad2 == out.descent[i].variance_rad2,
		      "%s: the same bytes", out.descent[i].origin);
}

static variance_optimum fit_from(const variance_problem *problem, const optics_parameters *start)
{
	variance_optimum out = {0};
	ssb_error err = {0};
	CHECK(variance_fit(problem, NULL, start, &out, &err) && out.starts == 1, "a fit without a search%s", err.text);
	return out;
}

static void check_limits(const setting *s)
{
	variance_problem problem = s->problem;
	double rad2 = 0;
	ssb_error err;
	problem.most_evaluations = 12;
	const variance_optimum cut = fit_from(&problem, &s->truth);
	CHECK(!cut.descent[0].converged && cut.evaluations <= 13, "%zu evaluations: %s", cut.evaluations, cut.descent[0].stopped);
	problem.n = 0;
	const variance_optimum none = fit_from(&problem, &s->truth);
	CHECK(variance_value(&backend_cpu, s->e, &s->truth, &rad2, &err) && none.descent[0].variance_rad2 == rad2 && none.evaluations == 1,
	      "nothing fitted: the value at the start");
	problem.n = 1;
	problem.most_evaluations = 100;
	const variance_optimum one = fit_from(&problem, &s->truth);
	CHECK(one.descent[0].converged && off_A(&one.descent[0].optimum, &s->truth) < 3 && one.descent[0].optimum.C_A[C12a] == s->truth.C_A[C12a],
	      "C10 alone: %.2f A, truth %.2f A", one.descent[0].optimum.C_A[C10], s->truth.C_A[C10]);
	problem.radians_per_unit = (const double[]){0};
	const variance_optimum still = fit_from(&problem, &s->truth);
	CHECK(still.descent[0].optimum.C_A[C10] == s->truth.C_A[C10], "a parameter that makes no phase stays");
	problem.parameter = (const int[]){THICKNESS};
	problem.radians_per_unit = (const double[]){0.01};
	const variance_optimum thin = fit_from(&problem, &s->truth);
	CHECK(thin.descent[0].optimum.thickness_A >= 0, "gamma is even in the thickness, which comes back as %.1f A", thin.descent[0].optimum.thickness_A);
}

int main(void)
{
	check_arc_tangent();
	check_values();
	const setting *s = setting_make();
	check_parseval(s);
	check_fit(s);
	check_limits(s);
	return test_end();
}
