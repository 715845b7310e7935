/* S, W and U on the CPU. */
#include "tools/transfer/cpu.h"

#include <stdlib.h>
#include <string.h>
#include "tools/transfer/quadratic.h"
#include "tools/transfer/rows.h"
#include "tools/transfer/thin.h"

/* gamma and G over a piece, with one term's amplitude and exponential. */
typedef struct piece_gamma {
	double a[PIECE_ROOM], e_re[PIECE_ROOM], e_im[PIECE_ROOM], re[PIECE_ROOM], im[PIECE_ROOM], G_re[PIECE_ROOM], G_im[PIECE_ROOM];
} piece_gamma;

ALWAYS_INLINE void fill_gamma(const row_table *t, const row_frequency *f, const piece *p, piece_gamma *x)
{
	for (size_t j = 0; j < whole_lanes(p->count); j++)
		x->re[j] = x->im[j] = 0;
	for (int term = 0; term < 2; term++) {
		if (p->from[term] == p->to[term])
			continue;
		piece_aperture(t, f, p, term, x->a);
		if (t->pixels.thickness != 0)
			piece_thickness(t, f, p, term, x->a);
		piece_exponential(t, f, p, term, x->e_re, x->e_im);
		for (size_t j = 0; j < whole_lanes(p->count); j++) {
			const double a = term == 0 ? x->a[j] : -x->a[j];
			x->re[j] += a * x->e_re[j];
			x->im[j] += a * x->e_im[j];
		}
	}
}

/* Add a q's S (re, im), W and, if asked for, U to s[5]; `sign` is that of Im G. */
KERNEL static void add_pieces(const row_table *t, const row_frequency *f, const piece *list, size_t pieces, const float *G, double sign,
                              bool with_U, double s[5])
{
	piece_gamma x;
	memset(&x, 0, sizeof x); /* what is beyond a piece must be finite */
	for (size_t i = 0; i < pieces; i++) {
		const size_t n = whole_lanes(list[i].count);
		double s_re = 0, s_im = 0, w = 0, u_re = 0, u_im = 0;
		fill_gamma(t, f, &list[i], &x);
		piece_G(&list[i], G, sign, x.G_re, x.G_im);
#pragma omp simd reduction(+ : s_re, s_im, w)
		for (size_t j = 0; j < n; j++) {
			add_S(x.G_re[j], x.G_im[j], x.re[j], x.im[j], &s_re, &s_im);
			w += x.re[j] * x.re[j] + x.im[j] * x.im[j];
		}
		if (with_U)
#pragma omp simd reduction(+ : u_re, u_im)
			for (size_t j = 0; j < n; j++)
				add_U(x.G_re[j], x.G_im[j], x.re[j], x.im[j], &u_re, &u_im);
		s[0] += s_re, s[1] += s_im, s[2] += w, s[3] += u_re, s[4] += u_im;
	}
}

/* Any chi, thickness and U, in double precision. */
static bool general_sums(const evidence *e, const row_table *t, const frequency *f, size_t count, bool with_U, sums *out)
{
	bool ok = true;
#pragma omp parallel reduction(&& : ok)
	{
		piece *list = malloc(t->most_pieces * sizeof *list);
		float complex *scratch = malloc(e->pixels * sizeof *scratch);
		ok = list && scratch;
#pragma omp for schedule(dynamic, bins_per_turn(count))
		for (size_t i = 0; i < count; i++)
			if (ok) {
				double s[5] = {0, 0, 0, 0, 0};
				const row_frequency at = row_frequency_make(t, f[i].q);
				const size_t pieces = row_pieces(t, &at, list);
				const float complex *G = evidence_G(e, f[i].bin, 0, e->pixels, scratch);
				add_pieces(t, &at, list, pieces, (const float *)G, f[i].conjugate ? -1 : 1, with_U, s);
				out[i] = (sums){.S = CMPLX(s[0], s[1]), .W = s[2], .U = CMPLX(s[3], s[4])};
			}
		free(list);
		free(scratch);
	}
	return ok;
}

bool cpu_sums(const evidence *e, const optics_parameters *p, const frequency *f, size_t count, bool with_U, sums *out, ssb_error *err)
{
	row_table table;
	if (!row_table_make(&table, e, p))
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	const bool ok = with_U || table.pixels.thickness != 0 ? general_sums(e, &table, f, count, with_U, out)
	                : quadratic_suits(&table)             ? quadratic_sums(e, &table, f, count, out)
	                                                      : thin_sums(e, &table, f, count, out);
	row_table_free(&table);
	return ok ? evidence_is_sound(e, err) : ssb_fail(err, SSB_RUNTIME, "out of memory");
}
