/* The CUDA backend without a device: the same kernels, compiled for the host, with the host's memory and FFTW. */
#include "tests/unit/backend_checks.h"

#include <fftw3.h>
#include "tools/transfer/cuda/kernels.cu"
#include "tools/transfer/cuda/cuda.c" // NOLINT(bugprone-suspicious-include)

/* ---- the device ---- */

static struct {
	size_t free_bytes; /* what it says is free */
	bool absent, zeros; /* no device; one that returns zeros */
	size_t held;        /* allocations not released */
	size_t fails_after; /* so many allocations */
} shim;

bool device_find(ssb_error *err)
{
	return !shim.absent || ssb_fail(err, SSB_NO_BACKEND, "the shim is absent");
}

bool device_free_memory(size_t *bytes, ssb_error *err)
{
	(void)err;
	*bytes = shim.free_bytes;
	return true;
}

void *device_allocate(size_t bytes, ssb_error *err)
{
	if (shim.fails_after-- == 0) {
		ssb_fail(err, SSB_RUNTIME, "cannot take device memory: the shim's is full");
		return NULL;
	}
	shim.held++;
	void *memory = fftw_malloc(bytes);
	memset(memory, 0xff, bytes); /* NaN: what is read before it is written shows */
	return memory;
}

void device_release(void *memory)
{
	shim.held -= memory != NULL;
	fftw_free(memory);
}

bool device_zero(void *memory, size_t bytes, ssb_error *err)
{
	(void)err;
	memset(memory, 0, bytes);
	return true;
}

bool device_upload(void *to, const void *from, size_t bytes, ssb_error *err)
{
	(void)err;
	memcpy(to, from, bytes);
	return true;
}

bool device_download(void *to, const void *from, size_t bytes, ssb_error *err)
{
	(void)err;
	if (shim.zeros)
		memset(to, 0, bytes);
	else
		memcpy(to, from, bytes);
	return true;
}

bool device_launched(const char *kernel, ssb_error *err)
{
	(void)kernel, (void)err;
	return true;
}

struct device_transforms {
	fftw_plan to_real;
	fftwf_plan forward;
};

device_transforms *device_transforms_make(bool to_real, const size_t size[2], size_t batch, ssb_error *err)
{
	(void)err;
	device_transforms *t = calloc(1, sizeof *t);
	const int n[2] = {(int)size[0], (int)size[1]}, half = n[1] / 2 + 1, complex_shape[2] = {n[0], half}, real_shape[2] = {n[0], 2 * half};
	if (to_real)
		t->to_real = fftw_plan_many_dft_c2r(2, n, (int)batch, NULL, complex_shape, 1, n[0] * half, NULL, real_shape, 1, 2 * n[0] * half,
		                                    FFTW_ESTIMATE);
	else
		t->forward = fftwf_plan_many_dft(2, n, (int)batch, NULL, NULL, 1, n[0] * n[1], NULL, NULL, 1, n[0] * n[1], FFTW_FORWARD,
		                                 FFTW_ESTIMATE);
	return t;
}

bool device_transforms_run(const device_transforms *t, void *data, ssb_error *err)
{
	(void)err;
	if (t->to_real)
		fftw_execute_dft_c2r(t->to_real, data, data);
	else
		fftwf_execute_dft(t->forward, data, data);
	return true;
}

void device_transforms_free(device_transforms *t)
{
	if (!t)
		return;
	if (t->to_real)
		fftw_destroy_plan(t->to_real);
	if (t->forward)
		fftwf_destroy_plan(t->forward);
	free(t);
}

/* ---- the checks ---- */

static const size_t ROOMY = (size_t)64 << 20;

static void reset(size_t free_bytes)
{
	memset(&shim, 0, sizeof shim);
	shim.free_bytes = free_bytes;
	shim.fails_after = SIZE_MAX;
}

/* Where G or the work on it does not fit at once, batches are smaller and the bytes the same. */
static void check_small_memory(const golden_case *g)
{
	ssb_error err;
	reset(ROOMY);
	CHECK(backend_attach(&backend_cuda, g->e, &err) && !g->e->device->packed, "%s: G stays on a large device", g->name);
	computed resident = compute(&backend_cuda, g);
	shim.free_bytes = 8 * 8 * g->e->pixels;
	computed pieces = compute(&backend_cuda, g);
	backend_detach(&backend_cuda, g->e);
	reset(8 * 8 * g->e->pixels);
	CHECK(backend_attach(&backend_cuda, g->e, &err) && g->e->device->packed, "%s: and not on a small one", g->name);
	computed staged = compute(&backend_cuda, g);
	backend_detach(&backend_cuda, g->e);
	CHECK(same_bytes(&resident, &pieces), "%s: the same bytes with little room to work in", g->name);
	CHECK(same_bytes(&resident, &staged), "%s: the same bytes from a small one", g->name);
	computed_free(&resident);
	computed_free(&pieces);
	computed_free(&staged);
}

/* Memory that runs out at any allocation is an error with its text, and nothing stays held. */
static void check_failures(const golden_case *g)
{
	const size_t f_count = 3, bin[1] = {1};
	const double m[1] = {2}, weight[3] = {2, 2, 2};
	const int parameter[1] = {C10};
	const frequency f[3] = {{.bin = 1}, {.bin = 2}, {.bin = 3}};
	const candidate c = {{0, 0, 0}};
	const sums known[3] = {{.S = 1, .W = 1}, {.S = 1, .W = 1}, {.S = 1, .W = 1}};
	sums out[3];
	static likelihood l;
	double score, *image = malloc(g->e->scan[0] * g->e->scan[1] * sizeof *image);
	size_t failed = 0, said = 0;
	reset(ROOMY);
	ssb_error err;
	if (!backend_attach(&backend_cuda, g->e, &err))
		exit(1);
	const size_t before = shim.held;
	for (int function = 0; function < 4; function++)
		for (size_t allocations = 0;; allocations++) {
			shim.fails_after = allocations;
			const bool ok = function == 0   ? backend_cuda.sums(g->e, &g->p, f, f_count, true, out, &err)
			                : function == 1 ? backend_cuda.derivatives(g->e, &g->p, parameter, 1, f, f_count, weight, known, &l, &err)
			                : function == 2 ? backend_cuda.search(g->e, &g->p, bin, m, 1, &c, 1, &score, &err)
			                                : backend_cuda.mean_phase(g->e, &g->p, 1, image, NULL, &err);
			if (ok)
				break;
			failed++;
			said += err.status == SSB_RUNTIME && strstr(err.text, "the shim's is full");
		}
	CHECK(failed == 3 + 5 + 7 + 6 && said == failed, "%zu failed allocations, %zu with their text", failed, said);
	CHECK(shim.held == before, "and nothing stays held (%zu, %zu before)", shim.held, before);
	backend_detach(&backend_cuda, g->e);
	shim.fails_after = 0;
	CHECK(!backend_attach(&backend_cuda, g->e, &err) && !g->e->device && err.status == SSB_RUNTIME, "no room for G: %s", err.text);
	free(image);
}

static void check_ready(void)
{
	ssb_error err;
	reset(1 << 20);
	CHECK(cuda_ready(&err), "a device that computes is taken");
	shim.zeros = true;
	CHECK(!cuda_ready(&err) && err.status == SSB_NO_BACKEND && strstr(err.text, "test kernel gave 0"), "zeros: %s", err.text);
	reset(1 << 20);
	shim.absent = true;
	CHECK(!cuda_ready(&err) && err.status == SSB_NO_BACKEND && strstr(err.text, "no CUDA device works here"), "absent: %s", err.text);
	CHECK(shim.held == 0, "nothing stays held");
}

int main(void)
{
	check_ready();
	for (size_t i = 0; i < golden_count(); i++) {
		const golden_case g = golden_read(i);
		reset(ROOMY);
		check_device(&backend_cuda, &g);
		CHECK(shim.held == 0, "%s: nothing stays held", g.name);
	}
	const golden_case g = golden_read(0);
	check_small_memory(&g);
	check_failures(&g);
	return test_end();
}
