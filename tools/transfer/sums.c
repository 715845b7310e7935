/* S, W and U on the CPU. */
#include "tools/transfer/cpu.h"

#include "tools/transfer/gamma.h"
#include "tools/transfer/kernel.h"

/* gamma = T_- - T_+ over T_-'s amplitude and phase */
KERNEL static void combine(double *restrict am, double *restrict pm, const double *restrict ap, const double *restrict pp, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double re, im;
		gamma_of_terms(am[i], pm[i], ap[i], pp[i], &re, &im);
		am[i] = re;
		pm[i] = im;
	}
}

KERNEL static void accumulate(const double *restrict g_re, const double *restrict g_im, const double *restrict G_re,
                              const double *restrict G_im, size_t n, double out[3])
{
	double s_re = 0, s_im = 0, w = 0;
#pragma omp simd reduction(+ : s_re, s_im, w)
	for (size_t i = 0; i < n; i++) {
		add_S(G_re[i], G_im[i], g_re[i], g_im[i], &s_re, &s_im);
		w += g_re[i] * g_re[i] + g_im[i] * g_im[i];
	}
	out[0] = s_re, out[1] = s_im, out[2] = w;
}

KERNEL static void accumulate_unit(const double *restrict g_re, const double *restrict g_im, const double *restrict G_re,
                                   const double *restrict G_im, size_t n, double out[2])
{
	double u_re = 0, u_im = 0;
#pragma omp simd reduction(+ : u_re, u_im)
	for (size_t i = 0; i < n; i++)
		add_U(G_re[i], G_im[i], g_re[i], g_im[i], &u_re, &u_im);
	out[0] = u_re, out[1] = u_im;
}

void overlap_gamma(overlap *o, const pixel_table *t, const double q[2])
{
	overlap_terms(o, t, q);
	combine(o->term[0].amplitude, o->term[0].phase, o->term[1].amplitude, o->term[1].phase, o->count);
}

static void sum_frequency(const evidence *e, const pixel_table *t, overlap *o, const frequency *f, bool with_U, sums *out)
{
	double s[3], u[2] = {0, 0};
	overlap_select(o, t, f->q, e->row[f->bin], f->conjugate);
	overlap_gamma(o, t, f->q);
	accumulate(o->term[0].amplitude, o->term[0].phase, o->G_re, o->G_im, o->count, s);
	if (with_U)
		accumulate_unit(o->term[0].amplitude, o->term[0].phase, o->G_re, o->G_im, o->count, u);
	*out = (sums){.S = CMPLX(s[0], s[1]), .W = s[2], .U = CMPLX(u[0], u[1])};
}

bool cpu_sums(const evidence *e, const optics_parameters *p, const frequency *f, size_t count, bool with_U, sums *out, ssb_error *err)
{
	pixel_table table;
	if (!pixel_table_make(&table, e, p))
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	bool ok = true;
#pragma omp parallel reduction(&& : ok)
	{
		overlap o;
		ok = overlap_make(&o, e->pixels);
#pragma omp for schedule(dynamic, 16)
		for (size_t i = 0; i < count; i++)
			if (ok)
				sum_frequency(e, &table, &o, &f[i], with_U, &out[i]);
		overlap_free(&o);
	}
	pixel_table_free(&table);
	return ok || ssb_fail(err, SSB_RUNTIME, "out of memory");
}
