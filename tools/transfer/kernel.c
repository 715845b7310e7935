#include "tools/transfer/kernel.h"

#include <stdlib.h>
#include <string.h>
#include "tools/transfer/gamma.h"

bool pixel_table_make(pixel_table *t, const evidence *e, const optics_parameters *p)
{
	const optics_geometry *g = &e->geometry;
	const double scale = exp(p->log_sampling);
	const double widest = g->sampling_rad[0] > g->sampling_rad[1] ? g->sampling_rad[0] : g->sampling_rad[1];
	*t = (pixel_table){
		.pixels = e->pixels, .wavelength = g->wavelength_A, .semiangle = scale * g->semiangle_rad,
		.sampling = {scale * g->sampling_rad[0], scale * g->sampling_rad[1]},
		.reach = scale * (g->semiangle_rad + widest / 2) / g->wavelength_A,
		.cosine = cos(p->rotation_rad), .sine = sin(p->rotation_rad), .transposed = p->transposed,
		.tilt = {p->tilt_rad[0], p->tilt_rad[1]}, .thickness = p->thickness_A,
		.chi = chi_from_coefficients(p->C_A, g->wavelength_A),
	};
	double *memory = malloc(PIXEL_ARRAYS * e->pixels * sizeof *memory);
	if (!memory)
		return false;
	pixel_table_place(t, memory);
	for (size_t b = 0; b < e->pixels; b++) {
		double k[2], s[2];
		evidence_k(e, b, k);
		k[0] *= scale, k[1] *= scale;
		to_scan_frame(k, t->transposed, t->cosine, t->sine, s);
		t->detector[0][b] = k[0], t->detector[1][b] = k[1];
		t->scan[0][b] = s[0], t->scan[1][b] = s[1];
		t->aperture[b] = aperture_value(k[0], k[1], t->wavelength, t->semiangle, t->sampling);
		t->chi_k[b] = polynomial_value(&t->chi, s[0], s[1]);
	}
	return true;
}

void pixel_table_free(pixel_table *t)
{
	free(t->detector[0]);
	t->detector[0] = NULL;
}

bool overlap_make(overlap *o, size_t pixels)
{
	const size_t stride = (pixels + 15) / 8 * 8; /* doubles, with room for a whole vector at the end */
	enum { ARRAYS = 12 };
	*o = (overlap){.memory = aligned_alloc(64, (ARRAYS + 1) * stride * sizeof(double))};
	if (!o->memory)
		return false;
	double **arrays[ARRAYS] = {&o->detector[0], &o->detector[1], &o->scan[0], &o->scan[1], &o->aperture, &o->chi_k, &o->G_re, &o->G_im,
	                           &o->term[0].amplitude, &o->term[0].phase, &o->term[1].amplitude, &o->term[1].phase};
	for (size_t i = 0; i < ARRAYS; i++)
		*arrays[i] = (double *)o->memory + i * stride;
	o->index = (uint32_t *)((double *)o->memory + ARRAYS * stride);
	return true;
}

void overlap_free(overlap *o)
{
	free(o->memory);
}

KERNEL static void gather(double *restrict to, const double *restrict from, const uint32_t *restrict index, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[index[i]];
}

KERNEL static void mark(unsigned char *restrict inside, const double *restrict kr, const double *restrict kc, double qr, double qc,
                        double reach2, size_t pixels)
{
	for (size_t b = 0; b < pixels; b++)
		inside[b] = in_overlap(kr[b], kc[b], qr, qc, reach2);
}

void overlap_select(overlap *o, const pixel_table *t, const double q[2], const float complex *G, bool conjugate)
{
	double qd[2];
	to_detector_frame(q, t->transposed, t->cosine, t->sine, qd);
	unsigned char *inside = (unsigned char *)o->term[0].amplitude; /* free until overlap_terms */
	mark(inside, t->detector[0], t->detector[1], qd[0], qd[1], t->reach * t->reach, t->pixels);
	size_t n = 0;
	for (size_t b = 0; b < t->pixels; b++) {
		o->index[n] = (uint32_t)b;
		n += inside[b];
	}
	o->count = n;
	for (int axis = 0; axis < 2; axis++) {
		gather(o->detector[axis], t->detector[axis], o->index, n);
		gather(o->scan[axis], t->scan[axis], o->index, n);
	}
	gather(o->aperture, t->aperture, o->index, n);
	gather(o->chi_k, t->chi_k, o->index, n);
	for (size_t i = 0; i < n; i++) {
		o->G_re[i] = crealf(G[o->index[i]]);
		o->G_im[i] = conjugate ? -cimagf(G[o->index[i]]) : cimagf(G[o->index[i]]);
	}
}

KERNEL static void values2(const double b[7][7], const double *restrict r, const double *restrict c, double dr, double dc, size_t n,
                           double *restrict out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = polynomial_value2(b, r[i] + dr, c[i] + dc);
}

KERNEL static void values4(const double b[7][7], const double *restrict r, const double *restrict c, double dr, double dc, size_t n,
                           double *restrict out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = polynomial_value4(b, r[i] + dr, c[i] + dc);
}

KERNEL static void values6(const double b[7][7], const double *restrict r, const double *restrict c, double dr, double dc, size_t n,
                           double *restrict out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = polynomial_value6(b, r[i] + dr, c[i] + dc);
}

void polynomial_values(const polynomial *p, const double *r, const double *c, double dr, double dc, size_t count, double *out)
{
	(p->degree <= 2 ? values2 : p->degree <= 4 ? values4 : values6)(p->b, r, c, dr, dc, count, out);
}

KERNEL static void amplitudes(const double *restrict A, const double *restrict kr, const double *restrict kc, double qr, double qc,
                              const pixel_table *t, size_t n, double *restrict out)
{
	const double wavelength = t->wavelength, semiangle = t->semiangle, sampling[2] = {t->sampling[0], t->sampling[1]};
	for (size_t i = 0; i < n; i++)
		out[i] = A[i] * aperture_value(kr[i] + qr, kc[i] + qc, wavelength, semiangle, sampling);
}

/* phase = sign (phase - chi_k), where phase holds chi(k + sign q) */
KERNEL static void subtract_chi(double *restrict phase, const double *restrict chi_k, double sign, size_t n)
{
	for (size_t i = 0; i < n; i++)
		phase[i] = sign * (phase[i] - chi_k[i]);
}

KERNEL static void weigh_thickness(double *restrict amplitude, const double *restrict kr, const double *restrict kc, const double q[2],
                                   int sign, const pixel_table *t, size_t n)
{
	const double q2 = q[0] * q[0] + q[1] * q[1], tilt_phase = 2 * M_PI * (q[0] * t->tilt[0] + q[1] * t->tilt[1]);
	const double half = t->thickness / 2, wavelength = t->wavelength, qr = q[0], qc = q[1];
	for (size_t i = 0; i < n; i++)
		amplitude[i] *= sinc_value(half * thickness_rate(sign, wavelength, q2, kr[i] * qr + kc[i] * qc, tilt_phase));
}

void overlap_terms(overlap *o, const pixel_table *t, const double q[2])
{
	double qd[2];
	to_detector_frame(q, t->transposed, t->cosine, t->sine, qd);
	for (int i = 0; i < 2; i++) {
		const int sign = i == 0 ? -1 : 1;
		amplitudes(o->aperture, o->detector[0], o->detector[1], sign * qd[0], sign * qd[1], t, o->count, o->term[i].amplitude);
		polynomial_values(&t->chi, o->scan[0], o->scan[1], sign * q[0], sign * q[1], o->count, o->term[i].phase);
		subtract_chi(o->term[i].phase, o->chi_k, sign, o->count);
		if (t->thickness != 0)
			weigh_thickness(o->term[i].amplitude, o->scan[0], o->scan[1], q, sign, t, o->count);
	}
}

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

void overlap_gamma(overlap *o, const pixel_table *t, const double q[2])
{
	overlap_terms(o, t, q);
	combine(o->term[0].amplitude, o->term[0].phase, o->term[1].amplitude, o->term[1].phase, o->count);
}
