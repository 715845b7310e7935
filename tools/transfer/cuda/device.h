/* What the CUDA backend asks of a device: memory, transforms and kernels. device.cu does the first two with CUDA, the unit tests with
 * the host's memory and FFTW; kernels.cu is compiled for both. Functions fail with SSB_RUNTIME and CUDA's text, unless said otherwise.
 * Pointers are to device memory where named so by a comment. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include "tools/transfer/derivative.h"
#include "tools/transfer/lookup.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "formats/status.h"

/* ---- memory ---- */

/* SSB_NO_BACKEND when this machine has no device. */
bool device_find(ssb_error *err);
bool device_free_memory(size_t *bytes, ssb_error *err);
void *device_allocate(size_t bytes, ssb_error *err); /* NULL: failed */
void device_release(void *memory);                   /* NULL is allowed */
bool device_zero(void *memory, size_t bytes, ssb_error *err);
bool device_upload(void *to, const void *from, size_t bytes, ssb_error *err);
bool device_download(void *to, const void *from, size_t bytes, ssb_error *err);

/* ---- transforms, in place ---- */

typedef struct device_transforms device_transforms;

/* `batch` transforms of size[0] x size[1], one after the other in memory: complex float forward, or from the half plane in complex
 * double to reals whose rows are padded to its length. */
device_transforms *device_transforms_make(bool to_real, const size_t size[2], size_t batch, ssb_error *err);
bool device_transforms_run(const device_transforms *t, void *data, ssb_error *err);
void device_transforms_free(device_transforms *t); /* NULL is allowed */

/* ---- kernels ---- */

/* Whether the kernel just launched was accepted; with SSB_CUDA_SYNC (make CUDA_SYNC=1) also whether it ran. */
bool device_launched(const char *kernel, ssb_error *err);

/* Rows of G on the device: element b of row i is G[2 (i stride + first + b)]. */
typedef struct device_rows {
	const float *G;
	size_t stride, first;
} device_rows;

typedef struct device_frequency {
	double q[2];
	size_t row;
	double sign; /* of Im G: -1 for the conjugate */
} device_frequency;

/* A bin of the half plane, made of frequencies first … first + count - 1. */
typedef struct device_point { size_t at, first, count; } device_point;

/* out[block] = the sum of the squares of block THREADS … (block + 1) THREADS - 1. */
bool launch_self_test(double *out, size_t blocks, ssb_error *err);

/* out[5 i]: S, W, U of frequency i. The arrays of `t` (here and below), f and out are on the device. */
bool launch_sums(const pixel_table *t, device_rows rows, const device_frequency *f, size_t count, bool with_U, double *out, ssb_error *err);

/* The sums of host.h's derivative_sums, four doubles each: (S1, V) of every parameter, then (S2, X, Y) of every pair i >= j. `m` and
 * `scratch` (derivatives_scratch_bytes a frequency) are on the device. */
size_t derivatives_items(size_t n);
size_t derivatives_scratch_bytes(void);
bool launch_derivatives(const pixel_table *t, const derivative_model *m, device_rows rows, const device_frequency *f, size_t count,
                        void *scratch, double *out, ssb_error *err);

/* Elements of X_-, X_+ (2 x `plane` complex a frequency, zeroed before) at at[b], and W of each look-up. */
bool launch_detector_planes(const pixel_table *t, device_rows rows, const device_frequency *f, size_t count, const size_t *at, size_t plane,
                            float *X, lookup *l, ssb_error *err);

/* Add the scores of every candidate (three doubles each) at `bins` look-ups, in their order. */
bool launch_scores(const lookup *l, const float *X, size_t bins, const size_t size[2], const double *C_A, size_t count, double floor,
                   double *score, ssb_error *err);

/* Set the points' bins in each pixel's half-plane spectrum (`plane` complex a pixel). */
bool launch_sidebands(const pixel_table *t, device_rows rows, const device_frequency *f, const device_point *points, size_t count,
                      size_t plane, double *spectrum, ssb_error *err);

/* Add phi and phi^2 of `pixels` images, one after the other, at every position; image rows are `stride` long, images `image` apart. */
bool launch_phases(const double *h, size_t pixels, size_t rows, size_t columns, size_t stride, size_t image, double dc, double *sum,
                   double *squares, ssb_error *err);

#ifdef __cplusplus
}
#endif
#endif
