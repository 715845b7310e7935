# ssb-fit --objective variance on simulated acquisitions of known truth: the published objective, and where it fails.
load helpers
export SOURCE_DATE_EPOCH=1

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	simulate bright --dose 36
	simulate dark --dose 1.2 --seed 3
	for o in likelihood variance; do
		fit bright.spectrum --objective $o -o bright.$o
		fit dark.spectrum --objective $o -o dark.$o
	done
}

# simulate NAME [ssb-sim options]: NAME.spectrum of a small acquisition
simulate() {
	local name=$1; shift
	ssb-sim -q "$name" --scan 30x32 --detector 26x26 --radius 8 --kv 200 --semiangle 20 --step 0.3 --specimen amorphous --phase 0.2 \
		--rotation 15 --c10 8nm --c12 3nm,20deg "$@"
	ssb-decode -q "${name}_master.h5" --scan 30x32 | ssb-prep -q - --kv 200 --semiangle 20 --step 0.3 --sampling 2.5 -o "$name.spectrum" 2>/dev/null
}

# The rotation is held, as in the published fit.
fit() { ssb-fit -q --fit C10,C12 --fix rotation=15deg --fix transposed=no --range C10=-20nm:20nm --range C12=6nm "$@" 2>/dev/null; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	ln -sf "$BATS_FILE_TMPDIR"/*.spectrum "$BATS_FILE_TMPDIR"/*.{likelihood,variance} .
}

check() {
	"$PYTHON" - <<PYTHON
import numpy as np, ssbfile
meta = lambda name: ssbfile.load(name).meta
def error_nm(m):
    o, turn = m["optics"], np.deg2rad(40)
    C12 = o["C12_nm"] * np.exp(2j * np.deg2rad(o["phi12_deg"]))
    return np.hypot(o["C10_nm"] - 8, abs(C12 - 3 * np.exp(1j * turn)))
$1
PYTHON
}

@test "at 36 counts the published objective finds the truth; each objective is the lower, or higher, at its own optimum" {
	check '
likelihood, variance = meta("bright.likelihood"), meta("bright.variance")
assert variance["fitted_objective"] == "variance" and likelihood["fitted_objective"] == "likelihood"
assert error_nm(variance) < 0.5 and error_nm(likelihood) < 0.3, (error_nm(variance), error_nm(likelihood))
assert variance["objective"]["variance_rad2"] < variance["variance_fit"][0]["start_rad2"] and "variance_rad2" not in likelihood["objective"]
assert variance["objective"]["likelihood"] < likelihood["objective"]["likelihood"]'
}

@test "two descents, of which the lower is the result; the likelihood optimum is the first start" {
	check '
m = meta("bright.variance")
first, second = m["variance_fit"]
assert first["origin"] == "likelihood" and second["origin"] == "coherent power"
assert all(d["variance_rad2"] <= d["start_rad2"] and d["stopped"].startswith("converged") and d["evaluations"] > 10 for d in (first, second))
best = min((first, second), key=lambda d: d["variance_rad2"])
assert m["optics"] == best["optimum"] and m["objective"]["variance_rad2"] == best["variance_rad2"]
assert first["start"] == meta("bright.likelihood")["optics"]
off = error_nm({"optics": second["start"]})
assert off < 2, off'
}

@test "at 1.2 counts it is further from the truth than the likelihood" {
	check '
likelihood, variance = error_nm(meta("dark.likelihood")), error_nm(meta("dark.variance"))
print("error at 1.2 counts: variance %.2f nm, likelihood %.2f nm" % (variance, likelihood))
assert likelihood < 1.5 and variance > likelihood, (variance, likelihood)'
}

@test "no error bars where there are none" {
	check '
f = ssbfile.load("bright.variance")
assert "covariance" not in f.arrays
assert all(p.get("standard_error") is None for p in f.meta["parameters"])'
}

@test "the same bytes with 1 and 2 threads, from a file and from a pipe" {
	fit -t 1 bright.spectrum --objective variance -o one
	fit -t 2 - --objective variance <bright.spectrum >two
	cmp one two
	cmp <("$PYTHON" -c 'import ssbfile; print(ssbfile.load("one").meta["variance_fit"])') \
	    <("$PYTHON" -c 'import ssbfile; print(ssbfile.load("bright.variance").meta["variance_fit"])')
}

@test "an unknown objective is refused" {
	fails 2 "objective" ssb-fit bright.spectrum --objective loss -o x
}
