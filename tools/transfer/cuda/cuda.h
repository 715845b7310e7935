/* The CUDA backend (see backend.h for what each function does). It keeps G on the device where that fits, and otherwise takes the rows
 * of each batch of frequencies there. */
#ifndef CUDA_CUDA_H
#define CUDA_CUDA_H

#include "tools/transfer/backend.h"

extern const backend backend_cuda;

/* Whether a device is here and computes what it should: a device that returns zeros without an error is refused. Otherwise
 * SSB_NO_BACKEND. */
bool cuda_ready(ssb_error *err);

#endif
