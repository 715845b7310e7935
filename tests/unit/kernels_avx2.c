/* The sums in single precision as a machine with AVX2 alone has them. */
#if defined(__x86_64__) && !defined(SSB_NO_CLONES)
#define KERNEL __attribute__((target("avx2")))
#include "tests/unit/kernel_variant.h"

int main(void)
{
	const evidence *e = noise_evidence();
	optics_parameters p = {.C_A = {[C10] = -310, [C12a] = 40, [C12b] = -75}, .rotation_rad = 2};
	if (!__builtin_cpu_supports("avx2")) {
		test_skip("AVX2", "this machine has none");
		return test_end();
	}
	check_variant("quadratic", e, &p);
	p.C_A[C21a] = 2e3;
	check_variant("second order", e, &p);
	p.C_A[C30] = 2e6;
	check_variant("third order", e, &p);
	p.C_A[C50] = 4e9;
	check_variant("fifth order", e, &p);
	return test_end();
}
#else
#include "tests/unit/test.h"

int main(void)
{
	test_skip("AVX2", "this build has none");
	return test_end();
}
#endif
