# ssb-recon: estimators, upsampling, orientation and what it refuses.
load helpers
export SOURCE_DATE_EPOCH=1
truth="--c10 -12nm --c12 2nm,20deg --rotation 15 --transpose no"

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	ssb-sim -q odd --scan 33x47 --detector 30x32 --radius 11 --dose 2000 --phase 0.2 --kv 200 --step 0.3 --specimen atoms --truth-upsample 2
	ssb-decode -q odd_master.h5 --scan 33x47 -o odd.region
	ssb-prep -q odd.region --kv 200 --semiangle 30 --step 0.3 --sampling 2.727272727 -o odd.spectrum 2>/dev/null
	ssb-fit -q odd.spectrum -o odd.fit
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	for f in "$BATS_FILE_TMPDIR"/odd*; do ln -sf "$f" .; done
}

check() { # PHASE PYTHON: with p = the phase as float64, meta
	"$PYTHON" - "$1" <<PYTHON
import sys, numpy as np, ssbfile
f = ssbfile.load(sys.argv[1])
p, meta = np.array(f["phase"], float), f.meta
def compare(a, b):
    a, b = a - a.mean(), b - b.mean()
    return (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()), (a * b).sum() / (b * b).sum()
$2
PYTHON
}

@test "ls against the truth: an odd scan, no shift, no flip, the right scale" {
	ssb-recon -q odd.spectrum odd.fit -u 2 -o x.phase
	check x.phase '
t = np.load("odd_truth_phase.npy").astype(float)
assert p.shape == (66, 94) == t.shape and f["phase"].dtype == np.float32
corr, slope = compare(p, t)
assert corr > 0.93 and 0.95 < slope < 1.05, (corr, slope)
for other in (np.roll(p, 1, 0), np.roll(p, 1, 1), p[::-1], p[:, ::-1]):
    assert compare(other, t)[0] < corr - 0.01
assert meta["sampling_A"] == [0.15, 0.15] and meta["estimator"] == "ls" and meta["upsample"] == 2
assert meta["object_wave"] == "exp(i phase)" and meta["polarity"] > 0'
}

@test "the other estimators show the same specimen" {
	for e in ssb mean-phase; do
		ssb-recon -q odd.spectrum $truth -e $e -u 2 -o x.phase
		check x.phase 't = np.load("odd_truth_phase.npy").astype(float); c = compare(p, t)[0]; assert c > 0.8, c'
	done
}

@test "upsampling auto covers 2 alpha / lambda and keeps what the native grid holds" {
	ssb-recon -q odd.spectrum $truth -u auto -o x.phase
	check x.phase 'assert meta["upsample"] == 2 and p.shape == (66, 94)'
}

@test "all fourteen orders change the phase" {
	ssb-recon -q odd.spectrum $truth -o plain.phase
	for order in c21=200nm,30deg c23=200nm,30deg c30=20um c32=10um,20deg c34=10um,20deg c41=1mm,10deg c43=1mm,10deg c45=1mm,10deg \
		c50=30mm c52=30mm,5deg c54=30mm,5deg c56=30mm,5deg; do
		ssb-recon -q odd.spectrum $truth "--${order%%=*}" "${order#*=}" -o x.phase
		ORDER=${order%%=*} check x.phase '
import os
plain = np.array(ssbfile.load("plain.phase")["phase"], float)
assert np.abs(p - plain).max() > 1e-3 * plain.std(), os.environ["ORDER"]
assert any(k.startswith(os.environ["ORDER"].upper()) for k in meta["optics"])'
	done
}

@test "an option takes the place of the fit's value, the rest of the fit stays" {
	ssb-recon -q odd.spectrum odd.fit --c10 -20nm -o x.phase
	check x.phase '
fit = ssbfile.load("odd.fit").meta["optics"]
assert meta["optics"]["C10_nm"] == -20 and meta["optics"]["C12_nm"] == fit["C12_nm"] and "parameters" not in meta'
}

@test "without a fit the rotation comes from the centre of mass, and that is said" {
	ssb-recon odd.spectrum --c10 -12nm -o x.phase 2>err.txt
	grep -q "from the centre of mass" err.txt
	grep -q "warning: .*leaves a half turn open" err.txt
	check x.phase 'assert meta["optics"]["rotation_deg"] != 0 and "half turn" in meta["warnings"][-1]["text"]'
}

@test "the opposite branch is the conjugate object" {
	ssb-recon -q odd.spectrum $truth -o a.phase
	ssb-recon -q odd.spectrum --c10 12nm --c12 2nm,110deg --rotation 195 --transpose no -o b.phase
	check b.phase 'a = np.array(ssbfile.load("a.phase")["phase"], float); assert np.abs(a + p).max() < 1e-5 * np.abs(a).max() and meta["polarity"] < 0'
}

@test "positions without a frame change the scale of no estimator" {
	ssb-decode -q odd_master.h5 --scan 33x47 --roi full -o full.region
	"$PYTHON" -c 'import numpy as np, ssbfile; np.save("short.npy", np.array(ssbfile.load("full.region")["counts"]).reshape(-1, 30, 32)[:-141])'
	ssb-decode -q short.npy --scan 33x47 --partial -o short.region 2>/dev/null
	ssb-prep -q short.region --kv 200 --semiangle 30 --step 0.3 --sampling 2.727272727 -o short.spectrum 2>/dev/null
	for e in ls ssb mean-phase; do
		ssb-recon -q odd.spectrum $truth -e $e -o all.phase
		ssb-recon -q short.spectrum $truth -e $e -o short.phase
		check short.phase '
corr, slope = compare(p[12:18], np.array(ssbfile.load("all.phase")["phase"], float)[12:18]) # far from the hole: 12 nm x 30 mrad
assert corr > 0.99 and abs(slope - 1) < 0.03, (meta["estimator"], corr, slope)'
	done
}

@test "the same bytes at 1 and 2 threads, from a pipe and a file, twice" {
	for e in ls ssb mean-phase; do
		ssb-recon -q -t 1 -e $e -u 2 odd.spectrum odd.fit -o a.phase
		ssb-recon -q -t 2 -e $e -u 2 odd.spectrum odd.fit -o b.phase
		ssb-recon -q -e $e -u 2 - odd.fit <odd.spectrum >c.phase
		ssb-recon -q -e $e -u 2 odd.spectrum - <odd.fit >d.phase
		cmp a.phase b.phase && cmp a.phase c.phase && cmp a.phase d.phase
	done
}

@test "--c10 LO:HI:N: each image of the stack is the single one, thin or not" {
	for e in ls ssb mean-phase joint; do
		ssb-recon -q -t 2 odd.spectrum odd.fit -e $e -u 2 --c10 -20nm:0nm:4 --thin -o stack.phase
		ssb-recon -q -t 1 odd.spectrum odd.fit -e $e -u 2 --c10 -13.333333nm -o one.phase
		ESTIMATOR=$e check stack.phase '
import os
one = ssbfile.load("one.phase")
assert p.shape == (4, 66, 94) and f["thin"].shape == p.shape, os.environ["ESTIMATOR"]
assert meta["stack"]["parameter"] == "C10" and meta["stack"]["unit"] == "nm" and meta["stack"]["values"] == [-20, -13.333333, -6.666667, 0]
assert (f["phase"][1] == one["phase"]).all() and (f["thin"] == f["phase"]).all() and not (f["phase"][0] == f["phase"][1]).any()
assert meta["stack"]["polarity"][1] == one.meta["polarity"] and "polarity" not in meta and "parameters" not in meta
assert "C10_nm" not in meta["optics"] and {**meta["optics"], "C10_nm": -13.333333} == one.meta["optics"]'
	done
}

@test "a stack through the focus is sharpest there" {
	ssb-recon -q odd.spectrum odd.fit -u 2 --c10 -22nm:-2nm:11 -o stack.phase
	check stack.phase '
t = np.load("odd_truth_phase.npy").astype(float)
corr = [compare(image, t)[0] for image in p]
assert np.argmax(corr) == 5 and corr[5] > 0.93 and meta["stack"]["values"][5] == -12, corr'
}

@test "--thin: the same parameters without tilt and thickness" {
	optics '{"tilt_mrad": [3, -2], "thickness_nm": 20.0}'
	ssb-recon odd.spectrum other.fit --thin -o thick.phase 2>err.txt
	if grep -q "phase itself" err.txt; then return 1; fi
	optics '{}'
	ssb-recon odd.spectrum other.fit --thin -o plain.phase 2>err.txt
	grep -q "no thickness: 'thin' is the phase itself" err.txt
	check thick.phase '
plain = ssbfile.load("plain.phase")
assert (f["thin"] == plain["phase"]).all() and (plain["thin"] == plain["phase"]).all()
assert np.abs(p - plain["phase"]).max() > 0.01 * p.std() and meta["optics"]["thickness_nm"] == 20'
}

# optics JSON: other.fit, which is odd.fit with these changes of its optics; and its branches
optics() {
	PYTHONPATH=$PYTHONPATH:$BATS_TEST_DIRNAME/golden/format "$PYTHON" - "$1" <<-'PY'
		import json, sys, ssbfile
		from make import container
		meta = ssbfile.load("odd.fit").meta
		meta["optics"].update(json.loads(sys.argv[1]))
		here, C12 = meta["optics"], [p for p in meta["parameters"] if p["name"] != "C10"]
		there = {**here, "C10_nm": -here["C10_nm"], "phi12_deg": here["phi12_deg"] - 90, "rotation_deg": here["rotation_deg"] - 180}
		opposite = [{"name": "C10", "unit": "nm", "value": there["C10_nm"], "status": "fitted"}] + C12
		meta["branches"] = [{"branch": "0", "optics": here, "parameters": meta["parameters"], "polarity": {"value": 1.0}},
		                    {"branch": "180", "optics": there, "parameters": opposite, "polarity": {"value": -1.0}}]
		open("other.fit", "wb").write(container("fit", [], [], meta)[0])
	PY
}

@test "--branch takes one of two, with its parameters" {
	optics '{}'
	ssb-recon -q odd.spectrum odd.fit -o a.phase
	ssb-recon -q odd.spectrum other.fit --branch 0 -o b.phase
	ssb-recon -q odd.spectrum other.fit --branch 180 -o c.phase
	check a.phase '
b, c = ssbfile.load("b.phase"), ssbfile.load("c.phase")
assert (b["phase"] == f["phase"]).all() and np.abs(c["phase"] + p).max() < 1e-5 * np.abs(p).max()
assert b.meta["optics"] == meta["optics"] and c.meta["optics"]["C10_nm"] == -meta["optics"]["C10_nm"]
assert b.meta["parameters"] == meta["parameters"] and c.meta["parameters"][0]["value"] == -meta["optics"]["C10_nm"]
assert c.meta["fit"]["branch"] == "180" and c.meta["fit"]["polarity"] == {"value": -1.0} and "branch" not in meta["fit"]'
	fails 2 "'odd.fit' holds one branch only (ssb-fit --branch both fits two)" ssb-recon odd.spectrum odd.fit --branch 0 -o x.phase
	fails 2 "it needs a fit" ssb-recon odd.spectrum --c10 0nm --branch 0 -o x.phase
}

@test "--halves: two images of the specimen, and their Fourier ring correlation as numpy has it" {
	for e in ls joint; do
		ssb-recon -q odd.spectrum odd.fit -u 2 -e $e --halves -o $e.phase
		check $e.phase '
t, halves = np.load("odd_truth_phase.npy").astype(float), np.array(f["halves"], float)
assert halves.shape == (2, 66, 94) and all(compare(h, t)[0] > 0.9 for h in halves)
noise = (halves[0] - halves[1]).std() / 2
assert noise > 0 and np.abs(halves.mean(0) - p).std() < 0.5 * noise # (each half has its own W)
frc = meta["fourier_ring_correlation"]
q = np.hypot(np.fft.fftfreq(66, 0.15)[:, None], np.fft.fftfreq(94, 0.15))
width = 1 / (66 * 0.15)
limit = min(2 * 0.03 / meta["wavelength_A"], 1 / 0.3)
ring = np.floor(q / width + 0.5).astype(int)
F, G = np.fft.fft2(halves)
n = int(limit / width - 0.5)
rings = [ring == i for i in range(1, n + 1)]
expected = [(F[r] * G[r].conj()).sum().real / np.sqrt((abs(F[r]) ** 2).sum() * (abs(G[r]) ** 2).sum()) for r in rings]
pixels = np.array([r.sum() for r in rings])
half_bit = (0.2071 + 1.9102 / np.sqrt(pixels)) / (1.2071 + 0.9102 / np.sqrt(pixels))
frequency = width * np.arange(1, n + 1)
for key, value in ("correlation", expected), ("pixels", pixels), ("half_bit_threshold", half_bit), ("frequency_per_A", frequency):
    assert len(frc[key]) == n and np.abs(np.array(frc[key]) - value).max() < 1e-5, key
assert abs(frc["limit_per_A"] - limit) < 1e-9 and frc["limit_is"] == "2 alpha / lambda"
for key, threshold in ("half_bit", half_bit), ("fixed_0143", 0.143 + 0 * half_bit):
    height = np.array(expected) - threshold
    start = np.argmax(height > 0)
    i = start + np.argmax(height[start:] <= 0)
    at = np.interp(0, [height[i], height[i - 1]], [frequency[i], frequency[i - 1]])
    assert frc[key]["result"] == "crosses" and abs(frc[key]["frequency_per_A"] - at) < 1e-5, (frc[key], at)
    assert abs(frc[key]["resolution_A"] * frc[key]["frequency_per_A"] - 1) < 1e-12 and abs(frc[key]["above_from_per_A"] - frequency[start]) < 1e-9'
	done
	ssb-recon -q odd.spectrum odd.fit -u 2 -e ssb --halves -o ssb.phase
	check ssb.phase '
even = (np.array(ssbfile.load("odd.spectrum")["pixel_index"]).sum(1) % 2 == 0).mean()
halves = np.array(f["halves"], float)
assert np.abs(even * halves[0] + (1 - even) * halves[1] - p).max() < 1e-6 * np.abs(p).max() # a mean over the pixels'
	ssb-recon -q -t 1 odd.spectrum odd.fit -u 2 --halves --thin -o a.phase
	ssb-recon -q -t 2 - odd.fit -u 2 --halves --thin <odd.spectrum >b.phase
	cmp a.phase b.phase
}

@test "a fit of another calibration is refused with the two numbers" {
	ssb-prep -q odd.region --kv 200 --semiangle 30 --step 0.3 --sampling 2.8 -o other.spectrum 2>/dev/null
	fails 3 "detector_sampling_mrad is 2.72727273, 2.72727273 in the fit and 2.8, 2.8 in the spectrum" ssb-recon other.spectrum odd.fit -o x.phase
	ssb-prep -q odd.region --kv 300 --semiangle 30 --step 0.3 --sampling 2.727272727 -o other.spectrum 2>/dev/null
	fails 3 "high_tension_kV is 200 in the fit and 300 in the spectrum" ssb-recon other.spectrum odd.fit -o x.phase
	[ ! -e x.phase ]
}

@test "bad options and inputs" {
	fails 2 "needs a fit or aberrations" ssb-recon odd.spectrum -o x.phase
	fails 2 "unit" ssb-recon odd.spectrum --c10 -10 -o x.phase
	fails 2 "azimuth" ssb-recon odd.spectrum --c12 2nm -o x.phase
	fails 2 "azimuth" ssb-recon odd.spectrum --c30 2um,10deg -o x.phase
	fails 2 "upsample" ssb-recon odd.spectrum --c10 0nm --upsample 0 -o x.phase
	fails 2 "epsilon" ssb-recon odd.spectrum --c10 0nm --epsilon -1 -o x.phase
	fails 2 "estimator" ssb-recon odd.spectrum --c10 0nm --estimator best -o x.phase
	fails 4 "cuda" ssb-recon odd.spectrum --c10 0nm --device cuda -o x.phase
	fails 3 "is a spectrum, not a fit" ssb-recon odd.spectrum odd.spectrum -o x.phase
	fails 3 "is a region, not a spectrum" ssb-recon odd.region odd.fit -o x.phase
	fails 2 "standard input" ssb-recon - - -o x.phase
	fails 1 "--memory" ssb-recon odd.spectrum --c10 0nm --upsample 4000000000 -o x.phase
	fails 1 "--memory" ssb-recon odd.spectrum --c10 0nm --upsample 8 --memory 4M -o x.phase # takes 8M
	fails 2 "LO:HI:N" ssb-recon odd.spectrum --c10 -10nm:10nm -o x.phase
	fails 2 "unit" ssb-recon odd.spectrum --c10 -10:10nm:3 -o x.phase
	fails 2 "lower value comes first" ssb-recon odd.spectrum --c10 10nm:-10nm:3 -o x.phase
	fails 2 "at least 2" ssb-recon odd.spectrum --c10 -10nm:10nm:1 -o x.phase
	fails 2 "whole number" ssb-recon odd.spectrum --c10 -10nm:10nm:3.5 -o x.phase
	fails 2 "c30" ssb-recon odd.spectrum --c30 -10nm:10nm:3 -o x.phase
	fails 2 "exclude each other" ssb-recon odd.spectrum --c10 -10nm:10nm:3 --halves -o x.phase
	fails 1 "300 images of 33 x 47 positions, 4 times upsampled, take 239 MB, which do not fit in --memory" \
		ssb-recon odd.spectrum --c10 -10nm:10nm:300 -u 4 --memory 100M -o x.phase
	fails 1 "--memory" ssb-recon odd.spectrum --c10 -10nm:10nm:18000000000000000000 --thin -o x.phase
	fails 1 "/dev/full" ssb-recon -q odd.spectrum odd.fit -o /dev/full
	[ ! -e x.phase ]
}

@test "a wrong byte in G is refused, from a file and from a pipe" {
	"$PYTHON" -c '
b = bytearray(open("odd.spectrum", "rb").read()); b[len(b) // 2] ^= 1; open("flipped.spectrum", "wb").write(b)'
	fails 3 "of 'G' fails its checksum" ssb-recon flipped.spectrum odd.fit -o x.phase
	fails 3 "of 'G' fails its checksum" ssb-fit flipped.spectrum --start odd.fit -o x.fit
	fails 3 "of 'G' fails its checksum" ssb-fit flipped.spectrum --start odd.fit --map C10=-2nm:2nm:3 -o x.map
	fails 3 "of 'G' fails its checksum" ssb-recon - odd.fit -o x.phase < <(cat flipped.spectrum)
}
