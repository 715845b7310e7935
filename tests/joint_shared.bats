# ssb-recon --estimator joint on graphene-thin, whose scan is too coarse for 2 alpha / lambda: against the truth, ls and the acquisitions'
# own check, which solves the aliases with dense matrices.
load helpers

setup() {
	needs_shared
	cd "$BATS_TEST_TMPDIR" || return
}

@test "graphene-thin: nearer to the truth than ls, and the image of dense matrices" {
	truth="--c10 -10nm --c12 2nm,20deg --rotation 0 --transpose no"
	ssb-decode -q "$SHARED/data/graphene-thin/graphene-thin_master.h5" --scan 64x64 -o x.region
	ssb-prep -q x.region --kv 300 --semiangle 30 --step 0.26625 --sampling 1.6304347826086958 --centre 31.62,30.87 --radius 18.4 -o x.spectrum 2>err.txt
	ssb-recon -q x.spectrum $truth -u auto -o ls.phase
	ssb-recon -q x.spectrum $truth -e joint -o joint.phase
	"$PYTHON" - "$SHARED/data" <<'PYTHON'
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import check_acquisitions as check
import numpy as np
import ssbfile

folder = pathlib.Path(sys.argv[1]) / "graphene-thin"
t, truth = json.loads((folder / "truth.json").read_text()), np.load(folder / "truth_phase_4x.npy")
phase = {name: np.array(ssbfile.load(name + ".phase")["phase"], float) for name in ("ls", "joint")}
meta = ssbfile.load("joint.phase").meta
corr = {name: check.compare(check.upsample(image, truth.shape), truth)[0] for name, image in phase.items()}
print(corr, meta["noise_amplification"])
# 0.9563 is ls of the check; its 0.9414 of joint is at a ridge of 0.001 times the pixels, which is a third of 0.001 times the largest W
assert abs(corr["ls"] - 0.9563) < 0.001 and corr["joint"] > corr["ls"] + 0.002, corr
assert 1 < meta["noise_amplification"] < 1.01

frames, mask = check.read(folder, t)
pixels = np.array(ssbfile.load("x.spectrum")["pixel_index"])
mask[:] = True
mask[pixels[:, 0], pixels[:, 1]] = False
_, kr, kc = check.spectrum(frames[:1].repeat(64 * 64, 0), mask, t)
q = np.fft.fftfreq(128, t["scan_step_A"] / 2)
largest = max((np.abs(check.gamma(np.full(128, row), q, kr, kc, t)) ** 2).sum(0).max() for row in q)
dense, I0, _, count = check.reconstruct(frames, mask, t, 2, joint=True, eps=1e-3 * largest / len(pixels))
inside = np.hypot(q[:, None], q) < 0.999 * meta["semiangle_mrad"] * 2e-3 / t["wavelength_A"] # beyond it the check leaves the soft edge out
off = np.abs(np.fft.fft2(phase["joint"] * meta["I0_counts"] / I0 - dense))[inside].max() / np.abs(np.fft.fft2(dense)).max()
assert off < 5e-5, off # G is in single precision
PYTHON
}
