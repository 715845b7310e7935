# ssb-recon --estimator joint: undersampled scans of ssb-sim against their truth and against ls.
load helpers
export SOURCE_DATE_EPOCH=1
truth="--c10 -12nm --c12 2nm,20deg --rotation 15 --transpose no"

# acquisition NAME STEP ARGUMENTS…: a 24 x 21 scan, its truth six times finer
acquisition() {
	local name=$1 step=$2; shift 2
	ssb-sim -q "$name" --scan 24x21 --detector 36x38 --radius 12 --kv 200 --phase 0.1 --step "$step" --dtype u4 --truth-upsample 6 \
		--specimen amorphous "$@"
	ssb-decode -q "${name}_master.h5" --scan 24x21 -o x.region
	ssb-prep -q x.region --kv 200 --semiangle 30 --step "$step" --sampling 2.5 -o "$name.spectrum" 2>/dev/null
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	acquisition twice 0.35 --dose 100000   # 2 alpha / lambda asks for 2 times, 3 times
	acquisition thrice 0.6 --dose 100000
	acquisition noisy 0.35 --dose 20
	acquisition fine 0.2 --dose 20
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	for f in "$BATS_FILE_TMPDIR"/*; do ln -sf "$f" .; done
}

check() { # PHASE PYTHON: with p = the phase as float64, meta; correlation and slope against a truth
	"$PYTHON" - "$1" <<PYTHON
import sys, numpy as np, ssbfile
def load(path): return np.array(ssbfile.load(path)["phase"], float)
p, meta = load(sys.argv[1]), ssbfile.load(sys.argv[1]).meta
def finer(x, shape): # the same Fourier series on a finer grid
    f, out = np.fft.fft2(x), np.zeros(shape, complex)
    r, c = (np.rint(np.fft.fftfreq(n, 1 / n)).astype(int) for n in x.shape)
    r, c = r[np.abs(r) < x.shape[0] / 2], c[np.abs(c) < x.shape[1] / 2]
    out[np.ix_(r % shape[0], c % shape[1])] = f[np.ix_(r % x.shape[0], c % x.shape[1])]
    return np.fft.ifft2(out).real * (np.prod(shape) / x.size)
def compare(x, name):
    t = np.load(name + "_truth_phase.npy").astype(float)
    x, t = finer(x, t.shape), t - t.mean()
    return (x * t).sum() / np.sqrt((x * x).sum() * (t * t).sum()), (x * t).sum() / (t * t).sum()
$2
PYTHON
}

@test "twice and thrice undersampled: nearer to the truth than ls, at the same scale" {
	for name in twice thrice; do
		ssb-recon -q $name.spectrum $truth -u auto -o ls.phase
		ssb-recon -q $name.spectrum $truth -e joint -o joint.phase
		NAME=$name check joint.phase '
import os
name = os.environ["NAME"]
(joint, slope), (ls, _) = compare(p, name), compare(load("ls.phase"), name)
print(name, joint, ls, slope)
assert 1 - joint < 0.6 * (1 - ls) and joint > 0.98 and abs(slope - 1) < 0.02, (joint, ls, slope)
assert meta["estimator"] == "joint" and meta["upsample"] == {"twice": 2, "thrice": 3}[name] and meta["epsilon"] == 1e-3'
	done
}

@test "the replicas of q = 0, where the direct beam is, stay 0" {
	ssb-recon -q thrice.spectrum $truth -e joint -o x.phase
	check x.phase 'f = np.abs(np.fft.fft2(p)); assert f[::24, ::21].max() < 1e-5 * f.max() and f[:24, 1:21].min() > 0'
}

@test "a scan that is fine enough: joint is ls" {
	ssb-recon -q fine.spectrum $truth -o ls.phase
	ssb-recon -q fine.spectrum $truth -e joint -u 1 -o joint.phase
	check joint.phase '
off = np.abs(p - load("ls.phase")).max() / p.std()
assert off < 1e-5 and abs(meta["noise_amplification"] - 1) < 1e-6, (off, meta["noise_amplification"])'
}

@test "the noise amplification is said, kept, and what the images of pure noise show" {
	ssb-recon noisy.spectrum --c10 0nm --rotation 15 --transpose no -e joint -o joint.phase 2>err.txt
	ssb-recon -q noisy.spectrum --c10 0nm --rotation 15 --transpose no -u auto -o ls.phase
	grep -qE "^ssb-recon: noise amplification [0-9.]+: the variance of shot noise" err.txt
	check joint.phase '
noise, said = meta["noise_amplification"], float(open("err.txt").read().split("noise amplification ")[1].split(":")[0])
assert noise > 1.05 and abs(noise - said) < 1e-4, (noise, said)
ratio = p.var() / load("ls.phase").var() # at this dose and focus the images hold little else
assert abs(ratio / noise - 1) < 0.1, (ratio, noise)'
}

@test "a stack, its thin images and halves" {
	ssb-recon -q twice.spectrum --c10 -14nm:-12nm:2 --c12 2nm,20deg --rotation 15 --transpose no -e joint --thin -o stack.phase
	ssb-recon -q twice.spectrum $truth -e joint --halves -o one.phase
	check stack.phase '
one = ssbfile.load("one.phase")
assert np.array_equal(p[1], load("one.phase")) and np.array_equal(np.array(ssbfile.load("stack.phase")["thin"], float), p)
assert len(meta["noise_amplification"]) == 2 and meta["noise_amplification"][1] == one.meta["noise_amplification"]
halves = np.array(one["halves"], float)
assert all(compare(h, "twice")[0] > 0.97 for h in halves), [compare(h, "twice") for h in halves]'
}

@test "fewer pixels than auto leave aliases beyond the image: that is a warning" {
	ssb-recon -q thrice.spectrum $truth -e joint -u 2 -o x.phase 2>err.txt
	grep -q "warning: upsampled 2 times, not 3: aliases from beyond" err.txt
	check x.phase 'assert "aliases" in meta["warnings"][-1]["text"]'
}

@test "the same bytes at 1 and 2 threads, from a pipe and a file" {
	ssb-recon -q -t 1 thrice.spectrum $truth -e joint -o a.phase
	ssb-recon -q -t 2 thrice.spectrum $truth -e joint -o b.phase
	ssb-recon -q - $truth -e joint <thrice.spectrum >c.phase
	cmp a.phase b.phase && cmp a.phase c.phase
}

@test "what joint refuses" {
	fails 2 "--epsilon 1e-13 is too small to tell aliases apart: 1e-12 or more" ssb-recon thrice.spectrum $truth -e joint --epsilon 1e-13 -o x.phase
	fails 4 "cuda" ssb-recon thrice.spectrum $truth -e joint --device cuda -o x.phase
	fails 2 "no device is called 'gpu'" ssb-recon thrice.spectrum $truth -e joint --device gpu -o x.phase
	fails 1 "aliases do not fit in --memory" ssb-recon -t 2 thrice.spectrum $truth -e joint --memory 450K -o x.phase
	ssb-recon thrice.spectrum $truth -e joint --device auto -o x.phase 2>err.txt
	grep -q "computing on the CPU: the estimator joint runs nowhere else" err.txt
}
