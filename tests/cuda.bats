# The CUDA backend as it is built. What its kernels compute is checked by tests/unit/cuda_shim.c (on the host) and cuda_device.c.
load helpers

# The build with CUDA, kept in build-cuda: BUILD is that of the suites
cuda_build() {
	command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || skip "no nvcc"
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" -j2 CUDA=1 SAN= BUILD=build-cuda build-cuda/bin/ssb-fit build-cuda/bin/ssb-recon \
		>make.txt 2>&1 || { tail -n 20 make.txt; return 1; }
	PATH=$top/build-cuda/bin:$PATH
}

has_cuda() { ssb-recon --version | grep -q 'backend cuda'; }

@test "a build without CUDA refuses --device cuda, and says so" {
	! has_cuda || skip "this build has CUDA"
	fails 4 "device 'cuda' is not part of this build" ssb-recon --device cuda --c10 0nm x.spectrum
	fails 4 "device 'cuda' is not part of this build" ssb-fit --device cuda x.spectrum
}

@test "a device that no backend has is a wrong usage" {
	fails 2 "no device is called 'gpu'" ssb-recon --device gpu --c10 0nm x.spectrum
}

@test "--device auto says what it took; without it that takes -v" {
	run ssb-recon --device auto --c10 0nm x.spectrum
	[ "$status" -ne 0 ]
	[[ $output == "ssb-recon: computing on "* ]]
	run ssb-recon --c10 0nm x.spectrum
	[[ $output != *"computing on"* ]]
	run ssb-recon -v --c10 0nm x.spectrum
	[[ $output == "ssb-recon: computing on "* ]]
	run ssb-recon --device cpu -v --c10 0nm x.spectrum
	[[ $output != *"computing on"* ]]
}

@test "the CUDA backend compiles and links with nvcc" {
	cuda_build
	has_cuda
	ssb-fit --version | grep -q 'backend cuda'
}

@test "a machine without a device refuses --device cuda, and --device auto takes the CPU" {
	cuda_build
	run ssb-recon --device auto --c10 0nm x.spectrum
	[[ $output != *"computing on a CUDA device"* ]] || skip "this machine has a CUDA device"
	[[ $output == "ssb-recon: computing on the CPU: no CUDA device works here: "* ]]
	fails 4 "no CUDA device works here: " ssb-recon --device cuda --c10 0nm x.spectrum
	fails 4 "no CUDA device works here: " ssb-fit --device cuda x.spectrum
}
