#include "tools/transfer/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>
#include "tools/transfer/cuda/device.h"
#include "tools/transfer/host.h"
#include "tools/transfer/kernel.h"
#include "tools/transfer/plane.h"

enum { MOST_FREQUENCIES = 65536, MOST_DERIVATIVES = 512, MOST_BINS = 64, MOST_IMAGES = 256 };
static const size_t STAGED_BYTES = (size_t)256 << 20;

/* G on the device, or room for some rows of it. */
struct device_evidence {
	float *G;          /* on the device */
	size_t elements;   /* room in G, complex */
	float *packed;     /* as many on the host, to gather rows in; NULL: all of G is on the device */
};

/* ---- what one call holds ---- */

typedef struct work {
	const evidence *e;
	ssb_error *err;
	pixel_table host, table;        /* table: its arrays on the device */
	size_t batch;                   /* the most frequencies at a time */
	device_frequency *gathered, *f; /* host, device */
	device_rows rows;
	void *device[8], *memory[8];    /* what work_close releases */
	size_t device_count, memory_count;
} work;

static void *on_device(work *w, size_t bytes)
{
	void *memory = device_allocate(bytes ? bytes : 1, w->err);
	if (memory)
		w->device[w->device_count++] = memory;
	return memory;
}

static void *copied(work *w, const void *from, size_t bytes)
{
	void *memory = on_device(w, bytes);
	return memory && device_upload(memory, from, bytes, w->err) ? memory : NULL;
}

static void *zeroed(work *w, size_t bytes)
{
	void *memory = on_device(w, bytes);
	return memory && device_zero(memory, bytes, w->err) ? memory : NULL;
}

static void *on_host(work *w, size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);
	if (memory)
		w->memory[w->memory_count++] = memory;
	else
		ssb_fail(w->err, SSB_RUNTIME, "out of memory");
	return memory;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t at_least_one(size_t n)
{
	return n ? n : 1;
}

/* How many items of this size half of the free memory holds. */
static bool room_for(const work *w, size_t bytes_each, size_t most, size_t *count)
{
	size_t free_bytes;
	if (!device_free_memory(&free_bytes, w->err))
		return false;
	*count = at_least_one(least(free_bytes / 2 / bytes_each, most));
	return true;
}

/* The pixels under p, and room for batches of at most `most` frequencies of `pixels` pixels each. */
static bool work_open(work *w, const evidence *e, const optics_parameters *p, size_t most, size_t pixels, ssb_error *err)
{
	*w = (work){.e = e, .err = err};
	if (!pixel_table_make(&w->host, e, p))
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	w->batch = at_least_one(least(most, MOST_FREQUENCIES));
	if (e->device->packed)
		w->batch = at_least_one(least(w->batch, e->device->elements / pixels));
	double *arrays = copied(w, w->host.detector[0], PIXEL_ARRAYS * e->pixels * sizeof *arrays);
	if (!arrays)
		return false;
	w->table = w->host;
	pixel_table_place(&w->table, arrays);
	return (w->gathered = on_host(w, w->batch * sizeof *w->gathered)) && (w->f = on_device(w, w->batch * sizeof *w->f));
}

static void work_close(work *w)
{
	for (size_t i = 0; i < w->device_count; i++)
		device_release(w->device[i]);
	for (size_t i = 0; i < w->memory_count; i++)
		free(w->memory[i]);
	pixel_table_free(&w->host);
}

static void copy_G(const evidence *e, size_t bin, size_t first, size_t count, float complex *to)
{
	const float complex *G = evidence_G(e, bin, first, count, to);
	if (G != to)
		memcpy(to, G, count * sizeof *to);
}

/* Make `pixels` elements from `first` on of the rows of `count` (at most w->batch) frequencies ready: w->f, w->rows. */
static bool stage(work *w, const frequency *f, size_t count, size_t first, size_t pixels)
{
	struct device_evidence *d = w->e->device;
	w->rows = d->packed ? (device_rows){.G = d->G, .stride = pixels} : (device_rows){.G = d->G, .stride = w->e->pixels, .first = first};
#pragma omp parallel for
	for (size_t i = 0; i < count; i++) {
		w->gathered[i] = (device_frequency){.q = {f[i].q[0], f[i].q[1]}, .row = d->packed ? i : f[i].bin, .sign = f[i].conjugate ? -1 : 1};
		if (d->packed)
			copy_G(w->e, f[i].bin, first, pixels, (float complex *)d->packed + i * pixels);
	}
	return evidence_is_sound(w->e, w->err) && (!d->packed || device_upload(d->G, d->packed, count * pixels * sizeof(float complex), w->err)) &&
	       device_upload(w->f, w->gathered, count * sizeof *w->f, w->err);
}

/* ---- G ---- */

/* Every row, as many at once as a buffer holds. */
static bool upload_rows(const evidence *e, ssb_error *err)
{
	const size_t row = e->pixels * sizeof(float complex), most = at_least_one(STAGED_BYTES / row);
	float complex *rows = malloc(most * row);
	bool ok = rows || ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t first = 0; ok && first < e->bins; first += most) {
		const size_t count = least(most, e->bins - first);
#pragma omp parallel for
		for (size_t i = 0; i < count; i++)
			copy_G(e, first + i, 0, e->pixels, rows + i * e->pixels);
		ok = device_upload(e->device->G + 2 * first * e->pixels, rows, count * row, err);
	}
	free(rows);
	return ok && evidence_is_sound(e, err);
}

static void cuda_detach(evidence *e)
{
	device_release(e->device->G);
	free(e->device->packed);
	free(e->device);
	e->device = NULL;
}

static bool cuda_attach(evidence *e, ssb_error *err)
{
	size_t free_bytes;
	if (!device_free_memory(&free_bytes, err))
		return false;
	struct device_evidence *d = e->device = calloc(1, sizeof *d);
	if (!d)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	const size_t element = sizeof(float complex);
	const bool resident = e->bins * e->pixels <= free_bytes / 4 * 3 / element; /* the rest is for the calls */
	d->elements = resident ? e->bins * e->pixels : least(free_bytes / 4, STAGED_BYTES) / element;
	d->elements = d->elements < 2 * e->pixels ? 2 * e->pixels : d->elements; /* a point of mean_phase has up to two frequencies */
	bool ok = (d->G = device_allocate(d->elements * element, err));
	if (ok && resident)
		ok = upload_rows(e, err);
	else if (ok)
		ok = (d->packed = malloc(d->elements * element)) || ssb_fail(err, SSB_RUNTIME, "out of memory");
	if (!ok)
		cuda_detach(e);
	return ok;
}

/* ---- S, W, U ---- */

static bool cuda_sums(const evidence *e, const optics_parameters *p, const frequency *f, size_t count, bool with_U, sums *out,
                      ssb_error *err)
{
	work w;
	bool ok = work_open(&w, e, p, count, e->pixels, err);
	double *device = ok ? on_device(&w, w.batch * 5 * sizeof *device) : NULL;
	double *s = device ? on_host(&w, w.batch * 5 * sizeof *s) : NULL;
	ok = s;
	for (size_t first = 0; ok && first < count; first += w.batch) {
		const size_t n = least(w.batch, count - first);
		ok = stage(&w, f + first, n, 0, e->pixels) && launch_sums(&w.table, w.rows, w.f, n, with_U, device, err) &&
		     device_download(s, device, n * 5 * sizeof *s, err);
		for (size_t i = 0; ok && i < n; i++)
			out[first + i] = (sums){.S = CMPLX(s[5 * i], s[5 * i + 1]), .W = s[5 * i + 2], .U = CMPLX(s[5 * i + 3], s[5 * i + 4])};
	}
	work_close(&w);
	return ok;
}

/* ---- derivatives ---- */

/* The device's items as the sums of one q. */
static void unpack(derivative_sums *s, size_t n, const double (*item)[4])
{
	for (size_t i = 0; i < n; i++) {
		s->S1[i] = CMPLX(item[i][0], item[i][1]);
		s->V[i] = CMPLX(item[i][2], item[i][3]);
	}
	item += n;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++, item++) {
			s->S2[i][j] = CMPLX((*item)[0], (*item)[1]);
			s->X[i][j] = (*item)[2];
			s->Y[i][j] = (*item)[3];
		}
}

/* The frequencies with a weight. */
typedef struct weighted {
	frequency *f;
	size_t *index; /* in the caller's list */
	size_t count;
} weighted;

static bool weighted_make(weighted *u, work *w, const frequency *f, const double *weight, size_t count)
{
	u->f = on_host(w, count * sizeof *u->f);
	u->index = u->f ? on_host(w, count * sizeof *u->index) : NULL;
	u->count = 0;
	for (size_t i = 0; u->index && i < count; i++)
		if (weight[i] > 0) {
			u->f[u->count] = f[i];
			u->index[u->count++] = i;
		}
	return u->index;
}

static bool cuda_derivatives(const evidence *e, const optics_parameters *p, const int *parameter, size_t n, const frequency *f, size_t count,
                             const double *weight, const sums *known, likelihood *out, ssb_error *err)
{
	work w;
	weighted used;
	derivative_sums s;
	const size_t items = at_least_one(derivatives_items(n)), bytes = items * 4 * sizeof(double) + derivatives_scratch_bytes();
	size_t batch = 0;
	memset(out, 0, sizeof *out);
	bool ok = work_open(&w, e, p, MOST_DERIVATIVES, e->pixels, err) && weighted_make(&used, &w, f, weight, count) &&
	          room_for(&w, bytes, least(w.batch, at_least_one(count)), &batch);
	const derivative_model host_model = ok ? derivative_model_make(&w.host, parameter, n) : (derivative_model){0};
	const derivative_model *model = ok ? copied(&w, &host_model, sizeof host_model) : NULL;
	void *scratch = model ? on_device(&w, batch * derivatives_scratch_bytes()) : NULL;
	double(*device)[4] = scratch ? on_device(&w, batch * items * sizeof *device) : NULL;
	double(*item)[4] = device ? on_host(&w, batch * items * sizeof *item) : NULL;
	ok = item;
	for (size_t first = 0; ok && first < used.count; first += batch) {
		const size_t q = least(batch, used.count - first);
		if (n > 0)
			ok = stage(&w, used.f + first, q, 0, e->pixels) && launch_derivatives(&w.table, model, w.rows, w.f, q, scratch, *device, err) &&
			     device_download(item, device, q * items * sizeof *item, err);
		for (size_t i = 0; ok && i < q; i++) {
			unpack(&s, n, (const double(*)[4])(item + i * items));
			likelihood_add_bin(out, n, &s, weight[used.index[first + i]], &known[used.index[first + i]]);
		}
	}
	likelihood_mirror(out, n); // NOLINT(clang-analyzer-unix.Malloc): w holds what is in `used`
	work_close(&w);
	return ok;
}

/* ---- exhaustive search ---- */

/* Places of the pixels on the padded grid, on the device. */
static size_t *pixel_places(work *w, const search_frame *frame)
{
	size_t *at = on_host(w, w->e->pixels * sizeof *at);
	for (size_t b = 0; at && b < w->e->pixels; b++)
		at[b] = search_frame_at(frame, w->e->pixel[b]);
	return at ? copied(w, at, w->e->pixels * sizeof *at) : NULL;
}

/* What the search holds on the device for a batch of bins. */
typedef struct search_memory {
	size_t *at;
	float *X;
	lookup *l;
	double *C_A, *score;
	device_transforms *transforms;
} search_memory;

static bool search_memory_make(search_memory *s, work *w, const search_frame *frame, size_t batch, const candidate *c, size_t count)
{
	const size_t grid = frame->size[0] * frame->size[1];
	return (s->at = pixel_places(w, frame)) && (s->X = on_device(w, batch * 2 * grid * sizeof(float complex))) &&
	       (s->l = on_device(w, batch * sizeof *s->l)) && (s->C_A = copied(w, c, count * sizeof *c)) &&
	       (s->score = zeroed(w, count * sizeof *s->score)) &&
	       (s->transforms = device_transforms_make(false, frame->size, 2 * batch, w->err));
}

static bool search_batch(work *w, search_memory *s, const search_frame *frame, size_t batch, const size_t *bin, const double *m, size_t n,
                         size_t candidates)
{
	const size_t grid = frame->size[0] * frame->size[1];
	frequency f[MOST_BINS];
	lookup l[MOST_BINS];
	for (size_t i = 0; i < n; i++) {
		f[i] = (frequency){.bin = bin[i]};
		evidence_q(w->e, bin[i], f[i].q);
		l[i] = lookup_make(w->e, &w->host, frame, bin[i], m[i]);
	}
	return stage(w, f, n, 0, w->e->pixels) && device_upload(s->l, l, n * sizeof *l, w->err) &&
	       device_zero(s->X, batch * 2 * grid * sizeof(float complex), w->err) &&
	       launch_detector_planes(&w->table, w->rows, w->f, n, s->at, grid, s->X, s->l, w->err) &&
	       device_transforms_run(s->transforms, s->X, w->err) &&
	       launch_scores(s->l, s->X, n, frame->size, s->C_A, candidates, search_floor(w->e), s->score, w->err);
}

static bool cuda_search(const evidence *e, const optics_parameters *p, const size_t *bin, const double *m, size_t bins, const candidate *c,
                        size_t count, double *score, ssb_error *err)
{
	const search_frame frame = search_frame_make(e);
	const optics_parameters held = search_held(p);
	work w;
	search_memory s = {0};
	size_t batch = 0;
	const size_t bytes = 4 * frame.size[0] * frame.size[1] * sizeof(float complex); /* as much again for the transforms */
	bool ok = work_open(&w, e, &held, least(bins, MOST_BINS), e->pixels, err) && room_for(&w, bytes, w.batch, &batch) &&
	          search_memory_make(&s, &w, &frame, batch, c, count);
	for (size_t first = 0; ok && count > 0 && first < bins; first += batch)
		ok = search_batch(&w, &s, &frame, batch, bin + first, m + first, least(batch, bins - first), count);
	ok = ok && device_download(score, s.score, count * sizeof *score, err);
	device_transforms_free(s.transforms);
	work_close(&w);
	return ok;
}

/* ---- mean phase ---- */

/* What the phase images of a block of pixels need on the device. */
typedef struct image_memory {
	double *spectrum, *sum, *squares;
	device_point *points, *gathered; /* device, host */
	device_transforms *transforms;
} image_memory;

static bool image_memory_make(image_memory *s, work *w, const plane *p, size_t pixels)
{
	const size_t half = p->rows * (p->columns / 2 + 1), positions = p->rows * p->columns, size[2] = {p->rows, p->columns};
	return (s->spectrum = on_device(w, pixels * half * sizeof(double complex))) && (s->sum = zeroed(w, positions * sizeof *s->sum)) &&
	       (s->squares = zeroed(w, positions * sizeof *s->squares)) && (s->points = on_device(w, w->batch * sizeof *s->points)) &&
	       (s->gathered = on_host(w, w->batch * sizeof *s->gathered)) && (s->transforms = device_transforms_make(true, size, pixels, w->err));
}

/* The spectra of pixels first … first + count - 1, a batch of points (whole ones) after the other. */
static bool fill_spectra(work *w, const image_memory *s, const plane *p, size_t first, size_t count)
{
	const pixel_table table = pixel_table_slice(&w->table, first, count);
	for (size_t point = 0, end; point < p->points; point = end) {
		const size_t from = p->point[point].first;
		size_t n = 0;
		for (end = point; end < p->points && n + p->point[end].count <= w->batch; end++) {
			s->gathered[end - point] = (device_point){.at = p->point[end].at, .first = n, .count = p->point[end].count};
			n += p->point[end].count;
		}
		if (!stage(w, p->frequency + from, n, first, count) ||
		    !device_upload(s->points, s->gathered, (end - point) * sizeof *s->points, w->err) ||
		    !launch_sidebands(&table, w->rows, w->f, s->points, end - point, p->rows * (p->columns / 2 + 1), s->spectrum, w->err))
			return false;
	}
	return true;
}

static bool add_images(work *w, const image_memory *s, const plane *p, size_t most)
{
	const size_t stride = p->columns / 2 + 1, half = p->rows * stride;
	bool ok = true;
	for (size_t first = 0; ok && first < w->e->pixels; first += most) {
		const size_t n = least(most, w->e->pixels - first);
		ok = device_zero(s->spectrum, most * half * sizeof(double complex), w->err) && fill_spectra(w, s, p, first, n) &&
		     device_transforms_run(s->transforms, s->spectrum, w->err) &&
		     launch_phases(s->spectrum, n, p->rows, p->columns, 2 * stride, 2 * half, mean_counts(w->e), s->sum, s->squares, w->err);
	}
	return ok;
}

static bool cuda_mean_phase(const evidence *e, const optics_parameters *parameters, size_t factor, double *image, double *variance,
                            ssb_error *err)
{
	plane p;
	work w;
	image_memory s = {0};
	size_t most = 0;
	if (!plane_make(&p, e, factor, err))
		return false;
	const size_t positions = p.rows * p.columns, bytes = 2 * p.rows * (p.columns / 2 + 1) * sizeof(double complex);
	bool ok = work_open(&w, e, parameters, p.frequencies + 1, least(e->pixels, MOST_IMAGES), err) &&
	          room_for(&w, bytes, least(e->pixels, MOST_IMAGES), &most) && image_memory_make(&s, &w, &p, most) && add_images(&w, &s, &p, most);
	double *squares = ok ? on_host(&w, positions * sizeof *squares) : NULL;
	ok = squares && device_download(image, s.sum, positions * sizeof *image, err) &&
	     device_download(squares, s.squares, positions * sizeof *squares, err);
	if (ok)
		mean_phase_finish(image, squares, positions, (double)e->pixels, variance);
	device_transforms_free(s.transforms); // NOLINT(clang-analyzer-unix.Malloc): w holds what is in s
	work_close(&w);
	plane_free(&p);
	return ok;
}

/* ---- the table, and whether it may be used ---- */

const backend backend_cuda = {
	.name = "cuda",
	.attach = cuda_attach,
	.detach = cuda_detach,
	.sums = cuda_sums,
	.derivatives = cuda_derivatives,
	.search = cuda_search,
	.mean_phase = cuda_mean_phase,
};

enum { TEST_BLOCKS = 64, TEST_SIDE = 4 };

/* Sums of squares over blocks whose results were set to -1 before. */
static bool kernels_work(double *memory, ssb_error *err)
{
	double out[TEST_BLOCKS];
	for (size_t i = 0; i < TEST_BLOCKS; i++)
		out[i] = -1;
	if (!device_upload(memory, out, sizeof out, err) || !launch_self_test(memory, TEST_BLOCKS, err) ||
	    !device_download(out, memory, sizeof out, err))
		return false;
	for (size_t i = 0; i < TEST_BLOCKS; i++) {
		const double n = 128, first = (double)i * n; /* sum of (first + t)^2 over t < n */
		if (out[i] != n * first * first + first * n * (n - 1) + (n - 1) * n * (2 * n - 1) / 6)
			return ssb_fail(err, SSB_RUNTIME, "a test kernel gave %.17g in block %zu", out[i], i);
	}
	return true;
}

/* The transform of a point is 1 everywhere. */
static bool transforms_work(float complex *memory, ssb_error *err)
{
	float complex X[TEST_SIDE * TEST_SIDE] = {1};
	const size_t size[2] = {TEST_SIDE, TEST_SIDE};
	device_transforms *t = device_transforms_make(false, size, 1, err);
	bool ok = t && device_upload(memory, X, sizeof X, err) && device_transforms_run(t, memory, err) && device_download(X, memory, sizeof X, err);
	for (size_t i = 0; ok && i < TEST_SIDE * TEST_SIDE; i++)
		if (cabsf(X[i] - 1) > 1e-6f)
			ok = ssb_fail(err, SSB_RUNTIME, "a test transform gave %g", (double)crealf(X[i]));
	device_transforms_free(t);
	return ok;
}

bool cuda_ready(ssb_error *err)
{
	void *memory = NULL;
	const bool ok = device_find(err) && (memory = device_allocate(TEST_BLOCKS * sizeof(double), err)) && kernels_work(memory, err) &&
	                transforms_work(memory, err);
	device_release(memory);
	if (ok)
		return true;
	err->status = SSB_NO_BACKEND;
	return ssb_fail_prefix(err, "no CUDA device works here: ");
}
