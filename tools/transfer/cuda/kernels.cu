/* The sums over k as CUDA kernels; every formula is the shared headers'. No atomics: a block belongs to one frequency, its threads take
 * every 128th pixel, and their sums are added by a tree of fixed shape, so that the results are the same bytes in every run. */
#include "tools/transfer/cuda/device.h"
#include "tools/transfer/cuda/launch.h"

static size_t blocks_for(size_t threads)
{
	return (threads + THREADS - 1) / THREADS;
}

/* Each row's sum over the block, to its first element. */
DEVICE_FUNCTION void sum_block(double (*part)[THREADS], int rows)
{
	for (unsigned half = THREADS / 2; half > 0; half /= 2)
		EACH_THREAD(t)
			if (t < half)
				for (int i = 0; i < rows; i++)
					part[i][t] += part[i][t + half];
}

DEVICE_FUNCTION void read_G(const device_rows *rows, const device_frequency *f, size_t b, double G[2])
{
	const float *at = rows->G + 2 * (f->row * rows->stride + rows->first + b);
	G[0] = at[0];
	G[1] = f->sign * at[1];
}

/* ---- self-test ---- */

KERNEL_FUNCTION void self_test_kernel(double *out)
{
	SHARED double part[1][THREADS];
	EACH_THREAD(t)
		part[0][t] = (double)(THIS_BLOCK * THREADS + t) * (double)(THIS_BLOCK * THREADS + t);
	sum_block(part, 1);
	EACH_THREAD(t)
		if (t == 0)
			out[THIS_BLOCK] = part[0][0];
}

bool launch_self_test(double *out, size_t blocks, ssb_error *err)
{
	LAUNCH(self_test_kernel, blocks, out);
	return device_launched("self_test", err);
}

/* ---- gamma and its sums ---- */

DEVICE_FUNCTION void term_at(const pixel_table *t, size_t b, const double q[2], const double qd[2], int sign, double *amplitude,
                             double *phase)
{
	const double kr = t->scan[0][b], kc = t->scan[1][b];
	*amplitude = t->aperture[b] * aperture_value(t->detector[0][b] + sign * qd[0], t->detector[1][b] + sign * qd[1], t->wavelength,
	                                             t->semiangle, t->sampling);
	*phase = sign * (polynomial_value(&t->chi, kr + sign * q[0], kc + sign * q[1]) - t->chi_k[b]);
	if (t->thickness != 0)
		*amplitude *= sinc_value(t->thickness / 2 * thickness_rate(sign, t->wavelength, q[0] * q[0] + q[1] * q[1], kr * q[0] + kc * q[1],
		                                                           2 * M_PI * (q[0] * t->tilt[0] + q[1] * t->tilt[1])));
}

/* False outside the double overlaps. */
DEVICE_FUNCTION bool gamma_at(const pixel_table *t, size_t b, const double q[2], const double qd[2], double gamma[2])
{
	double amplitude[2], phase[2];
	if (!in_overlap(t->detector[0][b], t->detector[1][b], qd[0], qd[1], t->reach * t->reach))
		return false;
	term_at(t, b, q, qd, -1, &amplitude[0], &phase[0]);
	term_at(t, b, q, qd, +1, &amplitude[1], &phase[1]);
	gamma_of_terms(amplitude[0], phase[0], amplitude[1], phase[1], &gamma[0], &gamma[1]);
	return true;
}

KERNEL_FUNCTION void sums_kernel(pixel_table t, device_rows rows, const device_frequency *frequencies, bool with_U, double *out)
{
	SHARED double part[5][THREADS];
	const device_frequency f = frequencies[THIS_BLOCK];
	double qd[2];
	to_detector_frame(f.q, t.transposed, t.cosine, t.sine, qd);
	EACH_THREAD(i) {
		double s[5] = {0, 0, 0, 0, 0};
		for (size_t b = i; b < t.pixels; b += THREADS) {
			double g[2], G[2];
			if (!gamma_at(&t, b, f.q, qd, g))
				continue;
			read_G(&rows, &f, b, G);
			add_S(G[0], G[1], g[0], g[1], &s[0], &s[1]);
			s[2] += g[0] * g[0] + g[1] * g[1];
			if (with_U)
				add_U(G[0], G[1], g[0], g[1], &s[3], &s[4]);
		}
		for (int j = 0; j < 5; j++)
			part[j][i] = s[j];
	}
	sum_block(part, 5);
	EACH_THREAD(i)
		if (i < 5)
			out[5 * THIS_BLOCK + i] = part[i][0];
}

bool launch_sums(const pixel_table *t, device_rows rows, const device_frequency *f, size_t count, bool with_U, double *out, ssb_error *err)
{
	LAUNCH(sums_kernel, count, *t, rows, f, with_U, out);
	return device_launched("sums", err);
}

/* ---- derivatives ---- */

enum { MOST_ITEMS = FIT_PARAMETERS + FIT_PARAMETERS * (FIT_PARAMETERS + 1) / 2 };

/* One term of gamma and its derivatives at one pixel: the columns of derivatives.c. */
typedef struct term_element {
	double a, A, e[2], z[2], y[2];
	double a_by[FRAME_DERIVATIVES], psi_by[FRAME_DERIVATIVES];
	thickness_path path;
	double d[FIT_PARAMETERS], u[FIT_PARAMETERS], along[FIT_PARAMETERS][2];
} term_element;

typedef struct pixel_element {
	bool inside;
	double G[2], g[2], gi[FIT_PARAMETERS][2];
	term_element term[2];
} pixel_element;

/* A block's: 128 pixels at a time, and the items' sums so far. */
typedef struct derivative_scratch {
	pixel_element pixel[THREADS];
	double part[MOST_ITEMS][4];
} derivative_scratch;

size_t derivatives_items(size_t n)
{
	return n + n * (n + 1) / 2;
}

size_t derivatives_scratch_bytes(void)
{
	return sizeof(derivative_scratch);
}

/* Slopes along the frame of a function whose gradient is f[1], f[2]: its value at k + d less that at k, times sign. */
DEVICE_FUNCTION void slopes_at(const polynomial *f, double r, double c, double dr, double dc, int sign, double by[2])
{
	const double fr = polynomial_value(&f[1], r + dr, c + dc) - polynomial_value(&f[1], r, c);
	const double fc = polynomial_value(&f[2], r + dr, c + dc) - polynomial_value(&f[2], r, c);
	by[BY_R] = sign * (fc * r - fr * c);
	by[BY_S] = sign * (fr * r + fc * c);
}

/* The frame's derivatives of psi. */
DEVICE_FUNCTION void phase_derivatives(const polynomial *chi, double r, double c, double dr, double dc, int sign,
                                       double by[FRAME_DERIVATIVES])
{
	const double turn[2] = {-c, r}, grow[2] = {r, c};
	double at[6];
	for (int i = 1; i < 6; i++)
		at[i] = sign * (polynomial_value(&chi[i], r + dr, c + dc) - polynomial_value(&chi[i], r, c));
	frame_derivatives(at + 1, at + 3, turn, grow, 1, by);
}

DEVICE_FUNCTION void set_path(const derivative_model *m, const pixel_table *t, size_t b, const double q[2], int sign, thickness_path *path)
{
	const thickness_path thin = {{1, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0}};
	*path = thin;
	if (m->thick)
		thickness_path_at(sign, t->scan[0][b], t->scan[1][b], q, q[0] * q[0] + q[1] * q[1],
		                  2 * M_PI * (q[0] * t->tilt[0] + q[1] * t->tilt[1]), t->wavelength, t->thickness, path);
}

/* da/di of a special */
DEVICE_FUNCTION double amplitude_by(const term_element *e, int parameter)
{
	return parameter < ROTATION ? 0 : e->a_by[parameter - ROTATION];
}

/* d psi/di, dA/di and d2psi/(di d frame) of every parameter */
DEVICE_FUNCTION void set_slopes(const derivative_model *m, double r, double c, const double q[2], int sign, term_element *e)
{
	const double dr = sign * q[0], dc = sign * q[1];
	for (size_t i = 0; i < m->n; i++) {
		const int parameter = m->parameter[i];
		const polynomial *p = m->basis[i];
		if (parameter < ABERRATIONS) {
			e->d[i] = sign * (polynomial_value(&p[0], r + dr, c + dc) - polynomial_value(&p[0], r, c));
			if (m->moves)
				slopes_at(p, r, c, dr, dc, sign, e->along[i]);
			e->u[i] = 0;
			continue;
		}
		e->d[i] = parameter < ROTATION ? 0 : e->psi_by[parameter - ROTATION];
		e->u[i] = amplitude_slope(e->a, amplitude_by(e, parameter), e->path.w[0], e->path.w[1], e->path.x[parameter - TILT_R]);
	}
}

DEVICE_FUNCTION void set_term(const derivative_model *m, const pixel_table *t, size_t b, const double q[2], int sign, const double G[2],
                              term_element *e)
{
	const double r = t->scan[0][b], c = t->scan[1][b], dr = sign * q[0], dc = sign * q[1];
	double qd[2], q1d[2];
	to_detector_frame(q, t->transposed, t->cosine, t->sine, qd);
	to_detector_frame(q, t->transposed, -t->sine, t->cosine, q1d); /* of rotation + pi/2 */
	e->a = amplitude_derivatives(sign, t->detector[0][b], t->detector[1][b], qd, q1d, t->aperture[b], t->wavelength, t->semiangle,
	                             t->sampling, e->a_by);
	set_path(m, t, b, q, sign, &e->path);
	e->A = e->a * e->path.w[0];
	if (m->moves)
		phase_derivatives(m->chi, r, c, dr, dc, sign, e->psi_by);
	sine_cosine(sign * (polynomial_value(&m->chi[0], r + dr, c + dc) - t->chi_k[b]), &e->e[1], &e->e[0]);
	evidence_in_phase(sign, G[0], G[1], e->e[0], e->e[1], &e->z[0], &e->z[1]);
	set_slopes(m, r, c, q, sign, e);
}

DEVICE_FUNCTION void set_pixel(const derivative_model *m, const pixel_table *t, const device_rows *rows, const device_frequency *f, size_t b,
                               pixel_element *p)
{
	double qd[2];
	to_detector_frame(f->q, t->transposed, t->cosine, t->sine, qd);
	p->inside = b < t->pixels && in_overlap(t->detector[0][b], t->detector[1][b], qd[0], qd[1], t->reach * t->reach);
	if (!p->inside)
		return;
	term_element *minus = &p->term[0], *plus = &p->term[1];
	read_G(rows, f, b, p->G);
	set_term(m, t, b, f->q, -1, p->G, minus);
	set_term(m, t, b, f->q, +1, p->G, plus);
	for (int j = 0; j < 2; j++)
		p->g[j] = minus->A * minus->e[j] - plus->A * plus->e[j];
	gamma_in_phase(-1, p->g[0], p->g[1], minus->e[0], minus->e[1], &minus->y[0], &minus->y[1]);
	gamma_in_phase(+1, p->g[0], p->g[1], plus->e[0], plus->e[1], &plus->y[0], &plus->y[1]);
	for (size_t i = 0; i < m->n; i++)
		gamma_slope(minus->u[i], minus->A * minus->d[i], minus->e[0], minus->e[1], plus->u[i], plus->A * plus->d[i], plus->e[0], plus->e[1],
		            &p->gi[i][0], &p->gi[i][1]);
}

/* Index of the frame's second derivative by two of rotation, sampling. */
DEVICE_FUNCTION int second_by(int a, int b)
{
	return BY_RR + (a == SAMPLING) + (b == SAMPLING);
}

/* d2x/dadb */
DEVICE_FUNCTION double second_x_at(const thickness_path *path, int a, int b)
{
	if (a >= ROTATION && b >= ROTATION)
		return path->x_frame[second_by(a, b) - BY_RR];
	return a == THICKNESS ? path->x_thickness[b - TILT_R] : b == THICKNESS ? path->x_thickness[a - TILT_R] : 0;
}

DEVICE_FUNCTION void pair_factor_at(const derivative_model *m, const term_element *e, size_t i, size_t j, double *re, double *im)
{
	const int a = m->parameter[i], b = m->parameter[j];
	const bool move = a >= ROTATION && b >= ROTATION;
	pair_factor(e->A, e->d[i], e->d[j], e->u[i], e->u[j], re, im);
	if (a >= ABERRATIONS && b >= ABERRATIONS) {
		*re += amplitude_curvature(e->a, amplitude_by(e, a), amplitude_by(e, b), move ? e->a_by[second_by(a, b)] : 0, e->path.w[0],
		                           e->path.w[1], e->path.w[2], e->path.x[a - TILT_R], e->path.x[b - TILT_R], second_x_at(&e->path, a, b));
		*im += move ? e->A * e->psi_by[second_by(a, b)] : 0;
	} else if (a >= ROTATION || b >= ROTATION) {
		*im += e->A * (a >= ROTATION ? e->along[j][a - ROTATION] : e->along[i][b - ROTATION]);
	}
}

/* Add a pixel to an item: (S1, V) of parameter i, or (S2, X, Y) of the pair (i, j). */
DEVICE_FUNCTION void add_item(const derivative_model *m, const pixel_element *p, size_t item, double s[4])
{
	size_t i = 0, j = item;
	if (item < m->n) {
		add_S(p->G[0], p->G[1], p->gi[item][0], p->gi[item][1], &s[0], &s[1]);
		add_S(p->gi[item][0], p->gi[item][1], p->g[0], p->g[1], &s[2], &s[3]);
		return;
	}
	for (j -= m->n; j > i; i++)
		j -= i + 1;
	s[2] += p->gi[i][0] * p->gi[j][0] + p->gi[i][1] * p->gi[j][1];
	for (int k = 0; k < 2; k++) {
		const term_element *e = &p->term[k];
		double re, im;
		pair_factor_at(m, e, i, j, &re, &im);
		add_second(re, im, e->z[0], e->z[1], e->y[0], e->y[1], &s[0], &s[1], &s[3]);
	}
}

/* Few items: several lanes share the pixels of each. */
KERNEL_FUNCTION void derivatives_kernel(pixel_table t, const derivative_model *m, device_rows rows, const device_frequency *frequencies,
                                        derivative_scratch *scratches, double *out)
{
	derivative_scratch *scratch = &scratches[THIS_BLOCK];
	const device_frequency f = frequencies[THIS_BLOCK];
	const size_t items = m->n + m->n * (m->n + 1) / 2, lanes = items < THREADS ? THREADS / items : 1;
	EACH_THREAD(thread)
		for (size_t w = thread; w < items * lanes; w += THREADS)
			for (int c = 0; c < 4; c++)
				scratch->part[w][c] = 0;
	for (size_t first = 0; first < t.pixels; first += THREADS) {
		EACH_THREAD(thread)
			set_pixel(m, &t, &rows, &f, first + thread, &scratch->pixel[thread]);
		EACH_THREAD(thread)
			for (size_t w = thread; w < items * lanes; w += THREADS) {
				double s[4] = {0, 0, 0, 0};
				for (size_t k = w % lanes; k < THREADS; k += lanes)
					if (scratch->pixel[k].inside)
						add_item(m, &scratch->pixel[k], w / lanes, s);
				for (int c = 0; c < 4; c++)
					scratch->part[w][c] += s[c];
			}
	}
	EACH_THREAD(thread)
		for (size_t w = thread; w < 4 * items; w += THREADS) {
			double sum = 0;
			for (size_t lane = 0; lane < lanes; lane++)
				sum += scratch->part[w / 4 * lanes + lane][w % 4];
			out[4 * items * THIS_BLOCK + w] = sum;
		}
}

bool launch_derivatives(const pixel_table *t, const derivative_model *m, device_rows rows, const device_frequency *f, size_t count,
                        void *scratch, double *out, ssb_error *err)
{
	LAUNCH(derivatives_kernel, count, *t, m, rows, f, (derivative_scratch *)scratch, out);
	return device_launched("derivatives", err);
}

/* ---- exhaustive search ---- */

KERNEL_FUNCTION void detector_planes_kernel(pixel_table t, device_rows rows, const device_frequency *frequencies, const size_t *at,
                                            size_t plane, float *X, lookup *l)
{
	SHARED double part[3][THREADS];
	const device_frequency f = frequencies[THIS_BLOCK];
	double qd[2];
	to_detector_frame(f.q, t.transposed, t.cosine, t.sine, qd);
	EACH_THREAD(i) {
		double W[3] = {0, 0, 0};
		for (size_t b = i; b < t.pixels; b += THREADS) {
			double G[2], element[2][2];
			read_G(&rows, &f, b, G);
			if (!lookup_element(&t, b, f.q, qd, G[0], G[1], element, W))
				continue;
			for (size_t j = 0; j < 2; j++)
				for (size_t k = 0; k < 2; k++)
					X[2 * ((2 * THIS_BLOCK + j) * plane + at[b]) + k] = (float)element[j][k];
		}
		for (int j = 0; j < 3; j++)
			part[j][i] = W[j];
	}
	sum_block(part, 3);
	EACH_THREAD(i)
		if (i < 3)
			l[THIS_BLOCK].W[i] = part[i][0];
}

bool launch_detector_planes(const pixel_table *t, device_rows rows, const device_frequency *f, size_t count, const size_t *at, size_t plane,
                            float *X, lookup *l, ssb_error *err)
{
	LAUNCH(detector_planes_kernel, count, *t, rows, f, at, plane, X, l);
	return device_launched("detector_planes", err);
}

KERNEL_FUNCTION void scores_kernel(const lookup *l, const float *X, size_t bins, size_t rows, size_t columns, const double *C_A,
                                   size_t count, double floor, double *score)
{
	const size_t size[2] = {rows, columns}, plane = 2 * rows * columns;
	EACH_THREAD(t) {
		const size_t j = THIS_BLOCK * THREADS + t;
		for (size_t i = 0; j < count && i < bins; i++)
			score[j] += lookup_score(&l[i], size, X + 2 * i * plane, X + (2 * i + 1) * plane, C_A + 3 * j, floor);
	}
}

bool launch_scores(const lookup *l, const float *X, size_t bins, const size_t size[2], const double *C_A, size_t count, double floor,
                   double *score, ssb_error *err)
{
	LAUNCH(scores_kernel, blocks_for(count), l, X, bins, size[0], size[1], C_A, count, floor, score);
	return device_launched("scores", err);
}

/* ---- phase images of single pixels ---- */

KERNEL_FUNCTION void sidebands_kernel(pixel_table t, device_rows rows, const device_frequency *frequencies, const device_point *points,
                                      size_t plane, double *spectrum)
{
	const size_t blocks = (t.pixels + THREADS - 1) / THREADS;
	const device_point point = points[THIS_BLOCK / blocks];
	EACH_THREAD(thread) {
		const size_t b = THIS_BLOCK % blocks * THREADS + thread;
		double re = 0, im = 0;
		for (size_t i = point.first; b < t.pixels && i < point.first + point.count; i++) {
			const device_frequency f = frequencies[i];
			double qd[2], g[2], G[2];
			to_detector_frame(f.q, t.transposed, t.cosine, t.sine, qd);
			if (!gamma_at(&t, b, f.q, qd, g))
				continue;
			read_G(&rows, &f, b, G);
			add_sideband(G[0], G[1], g[0], g[1], (double)point.count, &re, &im);
		}
		if (b < t.pixels) {
			spectrum[2 * (b * plane + point.at)] = re;
			spectrum[2 * (b * plane + point.at) + 1] = im;
		}
	}
}

bool launch_sidebands(const pixel_table *t, device_rows rows, const device_frequency *f, const device_point *points, size_t count,
                      size_t plane, double *spectrum, ssb_error *err)
{
	LAUNCH(sidebands_kernel, count * blocks_for(t->pixels), *t, rows, f, points, plane, spectrum);
	return device_launched("sidebands", err);
}

KERNEL_FUNCTION void phases_kernel(const double *h, size_t pixels, size_t rows, size_t columns, size_t stride, size_t image, double dc,
                                   double *sum, double *squares)
{
	EACH_THREAD(t) {
		const size_t at = THIS_BLOCK * THREADS + t;
		for (size_t i = 0; at < rows * columns && i < pixels; i++) {
			const double phi = atan2(h[i * image + at / columns * stride + at % columns], dc);
			sum[at] += phi;
			squares[at] += phi * phi;
		}
	}
}

bool launch_phases(const double *h, size_t pixels, size_t rows, size_t columns, size_t stride, size_t image, double dc, double *sum,
                   double *squares, ssb_error *err)
{
	LAUNCH(phases_kernel, blocks_for(rows * columns), h, pixels, rows, columns, stride, image, dc, sum, squares);
	return device_launched("phases", err);
}
