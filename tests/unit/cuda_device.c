/* The CUDA backend on a real device, where this build and machine have one. */
#include "tests/unit/backend_checks.h"

int main(void)
{
	ssb_error err;
	const backend *b = backend_open("cuda", &err);
	if (!b) {
		CHECK(err.status == SSB_NO_BACKEND, "no CUDA here: exit status 4");
		test_skip("the CUDA backend on a device", err.text);
		return test_end();
	}
	for (size_t i = 0; i < golden_count(); i++) {
		const golden_case g = golden_read(i);
		check_device(b, &g);
	}
	return test_end();
}
