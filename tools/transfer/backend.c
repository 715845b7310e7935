#include "tools/transfer/backend.h"

#include <string.h>
#include "tools/transfer/cpu.h"

const backend backend_cpu = {
	.name = "cpu",
	.sums = cpu_sums,
	.derivatives = cpu_derivatives,
	.search = cpu_search,
	.mean_phase = cpu_mean_phase,
};

const backend *backend_open(const char *device, ssb_error *err)
{
	if (!strcmp(device, "cpu") || !strcmp(device, "auto"))
		return &backend_cpu;
	ssb_fail(err, strcmp(device, "cuda") ? SSB_USAGE : SSB_NO_BACKEND,
	         strcmp(device, "cuda") ? "no device is called '%s' (auto, cpu, cuda)" : "device '%s' is not part of this build", device);
	return NULL;
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
