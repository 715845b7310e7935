/* S, W and U on the CPU. */
#include "tools/transfer/cpu.h"

#include <stdlib.h>
#include "tools/transfer/rows.h"

/* Both terms of gamma over a piece, 0 where they are not. */
typedef struct piece_terms {
	double a[PIECE], re[2][PIECE], im[2][PIECE];
} piece_terms;

ALWAYS_INLINE void fill_terms(const row_table *t, const row_frequency *f, const piece *p, piece_terms *x)
{
	for (int term = 0; term < 2; term++) {
		piece_aperture(t, f, p, term, x->a);
		if (t->pixels.thickness != 0)
			piece_thickness(t, f, p, term, x->a);
		for (size_t j = 0; j < p->count; j++)
			x->re[term][j] = x->im[term][j] = 0;
		piece_exponential(t, f, p, term, x->re[term], x->im[term]);
		for (size_t j = 0; j < p->count; j++) {
			x->re[term][j] *= x->a[j];
			x->im[term][j] *= x->a[j];
		}
	}
}

/* Add a q's S (re, im), W and, if asked for, U to s[5]; `sign` is that of Im G. */
KERNEL static void add_pieces(const row_table *t, const row_frequency *f, const piece *list, size_t pieces, const float *G, double sign,
                              bool with_U, double s[5])
{
	piece_terms x;
	for (size_t i = 0; i < pieces; i++) {
		const piece *p = &list[i];
		const float *g = G + 2 * p->first;
		double s_re = 0, s_im = 0, w = 0, u_re = 0, u_im = 0;
		fill_terms(t, f, p, &x);
#pragma omp simd reduction(+ : s_re, s_im, w)
		for (size_t j = 0; j < p->count; j++) {
			const double g_re = x.re[0][j] - x.re[1][j], g_im = x.im[0][j] - x.im[1][j];
			add_S(g[2 * j], sign * g[2 * j + 1], g_re, g_im, &s_re, &s_im);
			w += g_re * g_re + g_im * g_im;
		}
		if (with_U)
#pragma omp simd reduction(+ : u_re, u_im)
			for (size_t j = 0; j < p->count; j++)
				add_U(g[2 * j], sign * g[2 * j + 1], x.re[0][j] - x.re[1][j], x.im[0][j] - x.im[1][j], &u_re, &u_im);
		s[0] += s_re, s[1] += s_im, s[2] += w, s[3] += u_re, s[4] += u_im;
	}
}

bool cpu_sums(const evidence *e, const optics_parameters *p, const frequency *f, size_t count, bool with_U, sums *out, ssb_error *err)
{
	row_table table;
	if (!row_table_make(&table, e, p))
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	bool ok = true;
#pragma omp parallel reduction(&& : ok)
	{
		piece *list = malloc(table.most_pieces * sizeof *list);
		ok = list != NULL;
#pragma omp for schedule(dynamic, 16)
		for (size_t i = 0; i < count; i++)
			if (ok) {
				double s[5] = {0, 0, 0, 0, 0};
				const row_frequency at = row_frequency_make(&table, f[i].q);
				const size_t pieces = row_pieces(&table, &at, list);
				add_pieces(&table, &at, list, pieces, (const float *)e->row[f[i].bin], f[i].conjugate ? -1 : 1, with_U, s);
				out[i] = (sums){.S = CMPLX(s[0], s[1]), .W = s[2], .U = CMPLX(s[3], s[4])};
			}
		free(list);
	}
	row_table_free(&table);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}
