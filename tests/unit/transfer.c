/* The transfer library against the oracle's golden vectors: gamma, the CPU backend, the neighbour start. */
#include "tests/unit/backend_checks.h"

#include "tools/transfer/cpu.h"
#include "tools/transfer/sincos.h"

static void check_gamma(const golden_case *g)
{
	const evidence *e = g->e;
	const npy expected = npy_read(g->folder, "gamma.npy"), picks = npy_read(g->folder, "picks.npy");
	pixel_table t;
	overlap o;
	double worst = 0;
	if (!pixel_table_make(&t, e, &g->p) || !overlap_make(&o, e->pixels))
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
	CHECK(worst < 1e-11, "%s: gamma (off by %.1e)", g->name, worst);
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

int main(void)
{
	check_sincos();
	for (size_t i = 0; i < golden_count(); i++) {
		const golden_case g = golden_read(i);
		check_gamma(&g);
		check_golden(&backend_cpu, &g);
	}
	check_acquisition(golden_vectors(), "even");
	check_acquisition(golden_vectors(), "odd");
	if (golden_count() == 3)
		test_skip("the oracle's other cases", "no ../shared");
	return test_end();
}
