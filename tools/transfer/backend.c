#include "tools/transfer/backend.h"

#include <string.h>
#include "tools/common/message.h"
#include "tools/transfer/cpu.h"
#ifdef SSB_CUDA
#include "tools/transfer/cuda/cuda.h"
#endif

const backend backend_cpu = {
	.name = "cpu",
	.sums = cpu_sums,
	.derivatives = cpu_derivatives,
	.search = cpu_search,
	.mean_phase = cpu_mean_phase,
};

static const backend *open_cuda(ssb_error *err)
{
#ifdef SSB_CUDA
	return cuda_ready(err) ? &backend_cuda : NULL;
#else
	ssb_fail(err, SSB_NO_BACKEND, "device 'cuda' is not part of this build (make CUDA=1)");
	return NULL;
#endif
}

const backend *backend_open(const char *device, ssb_error *err)
{
	if (device && !strcmp(device, "cpu"))
		return &backend_cpu;
	if (device && !strcmp(device, "cuda"))
		return open_cuda(err);
	if (device && strcmp(device, "auto") != 0) {
		ssb_fail(err, SSB_USAGE, "no device is called '%s' (auto, cpu, cuda)", device);
		return NULL;
	}
	const backend *cuda = open_cuda(err);
	void (*const say)(const char *, ...) __attribute__((format(printf, 1, 2))) = device ? message_note : message_detail;
	say("computing on %s%s", cuda ? "a CUDA device" : "the CPU: ", cuda ? "" : err->text);
	return cuda ? cuda : &backend_cpu;
}

bool backend_attach(const backend *b, evidence *e, ssb_error *err)
{
	return !b->attach || b->attach(e, err);
}

void backend_detach(const backend *b, evidence *e)
{
	if (e && e->device)
		b->detach(e);
}
