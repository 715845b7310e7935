/* One source for the kernels: CUDA's launch under nvcc, loops over blocks and threads elsewhere.
 *
 * A kernel is written per block. What one thread does between two barriers stands in EACH_THREAD(t) …: under CUDA a barrier, then the
 * statement once in every thread; elsewhere a loop over the threads. So what passes from one EACH_THREAD to the next is in SHARED or
 * global memory or the same for all threads, and every thread of a block comes by every EACH_THREAD. */
#ifndef CUDA_LAUNCH_H
#define CUDA_LAUNCH_H

#include <stddef.h>

enum { THREADS = 128 }; /* per block; a power of two */

#ifdef __CUDACC__
#define KERNEL_FUNCTION static __global__
#define DEVICE_FUNCTION static __device__ inline
#define SHARED __shared__
#define THIS_BLOCK ((size_t)blockIdx.x)
#define EACH_THREAD(t) for (unsigned t = (__syncthreads(), threadIdx.x), t##_now = 1; t##_now; t##_now = 0)
#define LAUNCH(kernel, blocks, ...) kernel<<<(unsigned)(blocks), THREADS>>>(__VA_ARGS__)
#else
static size_t launch_block;
#define KERNEL_FUNCTION static
#define DEVICE_FUNCTION static inline
#define SHARED
#define THIS_BLOCK launch_block
#define EACH_THREAD(t) for (unsigned t = 0; t < THREADS; t++)
#define LAUNCH(kernel, blocks, ...) for (launch_block = 0; launch_block < (blocks); launch_block++) kernel(__VA_ARGS__)
#endif

#endif
