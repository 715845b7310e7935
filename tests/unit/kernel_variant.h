/* The sums in single precision compiled for one instruction set (KERNEL), against the library's, which takes the best of this machine. */
#ifndef UNIT_KERNEL_VARIANT_H
#define UNIT_KERNEL_VARIANT_H

#define span_table_make variant_span_table_make
#define span_table_free variant_span_table_free
#define spans_make variant_spans_make
#define spans_free variant_spans_free
#define spans_find variant_spans_find
#define spans_weigh variant_spans_weigh
#define spans_slopes variant_spans_slopes
#define spans_phases variant_spans_phases
#define thin_sums variant_thin_sums
#define quadratic_worker_make variant_quadratic_worker_make
#define quadratic_worker_free variant_quadratic_worker_free
#define quadratic_frequency_make variant_quadratic_frequency_make
#define quadratic_suits variant_quadratic_suits
#define quadratic_sums variant_quadratic_sums
#define quadratic_derivatives_suit variant_quadratic_derivatives_suit
#define quadratic_derivatives variant_quadratic_derivatives
#include "tools/transfer/spans.c" // NOLINT(bugprone-suspicious-include)
#include "tools/transfer/quadratic_rows.c" // NOLINT(bugprone-suspicious-include)
#include "tools/transfer/quadratic.c" // NOLINT(bugprone-suspicious-include)
#include "tools/transfer/quadratic_derivatives.c" // NOLINT(bugprone-suspicious-include)
#include "tools/transfer/thin.c" // NOLINT(bugprone-suspicious-include)
#include "tests/unit/noise.h"
#include "tests/unit/test.h"

enum { SOME = 4 };
static const int some[SOME] = {ROTATION, C12b, C10, C12a};

/* Every bin and, at frequencies beyond the native grid, its conjugate. */
static frequency *every_frequency(const evidence *e)
{
	frequency *f = calloc(2 * e->bins, sizeof *f);
	for (size_t i = 0; i < e->bins; i++) {
		f[i].bin = f[e->bins + i].bin = i;
		f[e->bins + i].conjugate = true;
		evidence_q(e, i, f[i].q);
		for (int axis = 0; axis < 2; axis++)
			f[e->bins + i].q[axis] = 1 / e->step_A[axis] - f[i].q[axis];
	}
	return f;
}

/* S and W, and where chi is quadratic their derivatives. */
static void check_variant(const char *name, const evidence *e, const optics_parameters *p)
{
	const size_t count = 2 * e->bins;
	frequency *f = every_frequency(e);
	sums *best = calloc(count, sizeof *best), *variant = calloc(count, sizeof *variant);
	double *weight = calloc(count, sizeof *weight);
	likelihood *of_best = calloc(1, sizeof *of_best), *of_variant = calloc(1, sizeof *of_variant);
	row_table t;
	ssb_error err;
	if (!row_table_make(&t, e, p) || !cpu_sums(e, p, f, count, false, best, &err) ||
	    !(variant_quadratic_suits(&t) ? variant_quadratic_sums : variant_thin_sums)(e, &t, f, count, variant))
		exit(1);
	CHECK(!memcmp(best, variant, count * sizeof *best), "%s: S and W to the byte", name);
	for (size_t i = 0; i < count; i++)
		weight[i] = best[i].W > 1 ? 2 : 0;
	if (variant_quadratic_derivatives_suit(&t, some, SOME)) {
		CHECK(bins_per_task(count) >= count && variant_quadratic_derivatives(e, &t, some, SOME, f, count, weight, best, of_variant) &&
		              cpu_derivatives(e, p, some, SOME, f, count, weight, best, of_best, &err),
		      "%s: derivatives", name);
		likelihood_mirror(of_variant, SOME);
		CHECK(!memcmp(of_best, of_variant, sizeof *of_best), "%s: to the byte", name);
	}
	row_table_free(&t);
	free(f);
	free(best);
	free(variant);
	free(weight);
	free(of_best);
	free(of_variant);
}

#endif
