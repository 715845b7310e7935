/* Device memory and transforms with CUDA and cuFFT; the only file that calls them. */
#include "tools/transfer/cuda/device.h"

#include <cuda_runtime.h>
#include <cufft.h>
#include <stdlib.h>

static bool cuda_ok(cudaError_t status, const char *what, ssb_error *err)
{
	return status == cudaSuccess || ssb_fail(err, SSB_RUNTIME, "cannot %s: %s", what, cudaGetErrorString(status));
}

static bool cufft_ok(cufftResult status, const char *what, ssb_error *err)
{
	return status == CUFFT_SUCCESS || ssb_fail(err, SSB_RUNTIME, "cannot %s: cuFFT error %d%s", what, (int)status,
	                                           status == CUFFT_ALLOC_FAILED ? " (out of device memory)" : "");
}

bool device_find(ssb_error *err)
{
	int count = 0;
	const cudaError_t status = cudaGetDeviceCount(&count);
	if (status == cudaSuccess && count > 0)
		return true;
	return ssb_fail(err, SSB_NO_BACKEND, "%s", status == cudaSuccess ? "no CUDA device is there" : cudaGetErrorString(status));
}

bool device_free_memory(size_t *bytes, ssb_error *err)
{
	size_t total;
	return cuda_ok(cudaMemGetInfo(bytes, &total), "ask for the device's free memory", err);
}

void *device_allocate(size_t bytes, ssb_error *err)
{
	void *memory = NULL;
	return cuda_ok(cudaMalloc(&memory, bytes), "take device memory", err) ? memory : NULL;
}

void device_release(void *memory)
{
	(void)cudaFree(memory); /* whatever it says was said by the call that failed */
}

bool device_zero(void *memory, size_t bytes, ssb_error *err)
{
	return cuda_ok(cudaMemset(memory, 0, bytes), "clear device memory", err);
}

bool device_upload(void *to, const void *from, size_t bytes, ssb_error *err)
{
	return cuda_ok(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy to the device", err);
}

bool device_download(void *to, const void *from, size_t bytes, ssb_error *err)
{
	return cuda_ok(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy from the device", err);
}

bool device_launched(const char *kernel, ssb_error *err)
{
	const cudaError_t status = cudaGetLastError();
	if (status != cudaSuccess)
		return ssb_fail(err, SSB_RUNTIME, "cannot launch %s: %s", kernel, cudaGetErrorString(status));
#ifdef SSB_CUDA_SYNC
	const cudaError_t ran = cudaDeviceSynchronize();
	if (ran != cudaSuccess)
		return ssb_fail(err, SSB_RUNTIME, "%s failed: %s", kernel, cudaGetErrorString(ran));
#endif
	return true;
}

struct device_transforms {
	cufftHandle plan;
	bool to_real;
};

device_transforms *device_transforms_make(bool to_real, const size_t size[2], size_t batch, ssb_error *err)
{
	device_transforms *t = (device_transforms *)calloc(1, sizeof *t);
	if (!t) {
		ssb_fail(err, SSB_RUNTIME, "out of memory");
		return NULL;
	}
	const int rows = (int)size[0], columns = (int)size[1], half = columns / 2 + 1;
	int n[2] = {rows, columns}, complex_shape[2] = {rows, half}, real_shape[2] = {rows, 2 * half};
	t->to_real = to_real;
	const cufftResult status =
		to_real ? cufftPlanMany(&t->plan, 2, n, complex_shape, 1, rows * half, real_shape, 1, 2 * rows * half, CUFFT_Z2D, (int)batch)
		        : cufftPlanMany(&t->plan, 2, n, NULL, 1, rows * columns, NULL, 1, rows * columns, CUFFT_C2C, (int)batch);
	if (cufft_ok(status, "plan transforms", err))
		return t;
	free(t);
	return NULL;
}

bool device_transforms_run(const device_transforms *t, void *data, ssb_error *err)
{
	const cufftResult status = t->to_real
		? cufftExecZ2D(t->plan, (cufftDoubleComplex *)data, (cufftDoubleReal *)data)
		: cufftExecC2C(t->plan, (cufftComplex *)data, (cufftComplex *)data, CUFFT_FORWARD);
	return cufft_ok(status, "run transforms", err) && device_launched("transforms", err);
}

void device_transforms_free(device_transforms *t)
{
	if (!t)
		return;
	(void)cufftDestroy(t->plan);
	free(t);
}
