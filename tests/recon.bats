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
	fails 1 "/dev/full" ssb-recon -q odd.spectrum odd.fit -o /dev/full
	[ ! -e x.phase ]
}
