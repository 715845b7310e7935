# ssb-fit on simulated acquisitions of known truth: what it finds, what it holds, what it refuses to claim.
load helpers
export SOURCE_DATE_EPOCH=1

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	simulate one --rotation 15 --c10 -12nm --c12 2nm,20deg
	simulate two --rotation 200 --transpose yes --c10 9nm --c12 3nm,-60deg --seed 2
	simulate coma --rotation 100 --c10 -8nm --c12 1nm,50deg --c21 300nm,40deg --c30 20um --seed 3
	simulate weak --phase 0.1 --dose 20 --rotation 200 --transpose yes --c10 9nm --c12 3nm,-60deg --seed 2
	simulate noise --phase 1e-9
}

# simulate NAME [ssb-sim options]: NAME.spectrum of a small acquisition
simulate() {
	local name=$1; shift
	ssb-sim -q "$name" --scan 40x44 --detector 30x32 --radius 11 --dose 30 --phase 0.3 --kv 200 --step 0.35 "$@"
	ssb-decode -q "${name}_master.h5" --scan 40x44 | ssb-prep -q - --kv 200 --semiangle 30 --step 0.35 --sampling 2.727272727 -o "$name.spectrum" 2>/dev/null
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	for f in "$BATS_FILE_TMPDIR"/*.spectrum; do ln -sf "$f" .; done
}

# check FIT PYTHON: with fit = ssbfile of FIT, value(name), error(name), warnings
check() {
	"$PYTHON" - "$1" <<PYTHON
import sys, numpy as np, ssbfile
fit = ssbfile.load(sys.argv[1])
meta, warnings = fit.meta, " | ".join(w["text"] for w in fit.meta["warnings"])
by_name = {p["name"]: p for p in meta["parameters"]}
value, error = (lambda n: by_name[n]["value"]), (lambda n: by_name[n]["standard_error"])
def near(name, truth, most, period=0):
    off = value(name) - truth
    off -= period * round(off / period) if period else 0
    assert abs(off) <= 4 * error(name) + 0.01 * abs(truth) and error(name) <= most, (name, value(name), error(name), truth)
$2
PYTHON
}

@test "defocus, astigmatism and rotation from zero" {
	ssb-fit -q one.spectrum -o one.fit
	check one.fit '
near("C10", -12, 0.1); near("C12", 2, 0.1); near("phi12", 20, 2, 180); near("rotation", 15, 1, 360)
assert meta["optics"]["transposed"] is False and meta["found"] is True
assert meta["objective"]["explained"] > 0.9, meta["objective"]
assert meta["polarity"]["value"] > 0.2'
}

@test "a transposed detector, C10 above 0, a rotation beyond 180 degrees" {
	ssb-fit -q two.spectrum -o two.fit
	check two.fit '
near("C10", 9, 0.1); near("C12", 3, 0.1); near("phi12", -60, 2, 180); near("rotation", 200, 1, 360)
assert meta["optics"]["transposed"] is True'
}

@test "an optimum on a kink of the aperture's edge: no error bars, but what the data determine is not thrown away" {
	ssb-sim -q kink --scan 32x32 --step 0.3 --detector 26x26 --kv 200 --semiangle 20 --radius 8 --specimen atoms --seed 1026 \
		--rotation=325.9325deg --transpose yes --c10=4.634053nm --c12=8.688175nm,37.8879deg --dose 0.7 --phase 0.8
	ssb-decode -q kink_master.h5 --scan 32x32 | ssb-prep -q - --kv 200 --semiangle 20 --step 0.3 --sampling 2.5 -o kink.spectrum 2>/dev/null
	ssb-fit -q kink.spectrum --range C10=-20nm:20nm --range C12=12nm -o kink.fit 2>/dev/null
	check kink.fit '
assert meta["found"] is True and all(p["status"] == "fitted" and "standard_error" not in p for p in by_name.values()), by_name
assert abs(abs(value("C10")) - 4.6) < 0.5 and abs(value("C12") - 8.7) < 1 and abs(value("rotation") % 180 - 146) < 5, by_name
assert "no error bars" in warnings, warnings'
}

@test "a signal too weak for neighbours and centre of mass: every rotation is looked at" {
	ssb-fit -q weak.spectrum --range C10=-15nm:15nm --range C12=5nm -o weak.fit 2>/dev/null
	check weak.fit '
near("C10", 9, 0.3); near("C12", 3, 0.3); near("phi12", -60, 4, 180); near("rotation", 200, 2, 360)
assert meta["optics"]["transposed"] is True and "too low to say" in warnings'
}

@test "the covariance belongs to the standard errors" {
	ssb-fit -q one.spectrum -o one.fit
	check one.fit '
c = fit["covariance"]
assert meta["covariance_names"] == ["C10", "C12a", "C12b", "rotation"] and c.shape == (4, 4)
assert np.allclose(c, c.T) and (np.linalg.eigvalsh(c) > 0).all()
assert np.isclose(np.sqrt(c[0, 0]) / 10, error("C10")) and np.isclose(np.rad2deg(np.sqrt(c[3, 3])), error("rotation"))
a = 2 * np.deg2rad(value("phi12")); u = np.array([np.cos(a), np.sin(a)])
assert np.isclose(np.sqrt(u @ c[1:3, 1:3] @ u) / 10, error("C12"))'
}

@test "higher orders are held: without them less is explained" {
	ssb-fit -q coma.spectrum --range rotation=90deg:110deg --fix transposed=no --range C10=-15nm:15nm --range C12=5nm -o free.fit 2>/dev/null
	ssb-fit -q coma.spectrum --range C10=-15nm:15nm --range C12=5nm --fix C21=300nm,40deg --fix C30=20um -o coma.fit
	check coma.fit '
near("C10", -8, 0.1); near("C12", 1, 0.1); near("phi12", 50, 4, 180); near("rotation", 100, 1, 360)
assert by_name["C21"]["status"] == "fixed" and abs(value("C30") - 20000) < 1e-6
other = ssbfile.load("free.fit").meta["objective"]
assert other["likelihood"] < meta["objective"]["likelihood"] and other["explained"] < meta["objective"]["explained"] - 0.02'
}

@test "a strong specimen, beyond the weak-phase model by more than the error bars: a warning" {
	simulate strong --phase 2 --rotation 15 --c10 -12nm --c12 2nm,20deg
	ssb-fit -q strong.spectrum --fix transposed=no --range C10=-15nm:-9nm --range C12=4nm -o strong.fit 2>/dev/null
	check strong.fit '
assert abs(value("C10") + 12) > 10 * error("C10") and 0.5 < meta["objective"]["explained"] < 0.9
assert "error bars do not cover" in warnings, warnings'
}

@test "what is fixed stays, the rest follows" {
	ssb-fit -q one.spectrum --fix C12=0 --fix rotation=15deg --fix transposed=no -o fixed.fit
	check fixed.fit '
assert value("C12") == 0 and value("rotation") == 15 and by_name["rotation"]["status"] == "fixed"
assert meta["covariance_names"] == ["C10"] and abs(value("C10") + 12) < 1
assert meta["polarity"]["branch"] == "given"'
}

@test "everything fixed: nothing is fitted, the objective is stated" {
	ssb-fit -q one.spectrum --fix C10=-12nm --fix C12=2nm,20deg --fix rotation=15deg --fix transposed=no -o fixed.fit
	check fixed.fit '
assert value("C10") == -12 and meta["covariance_names"] == [] and meta["stopped"] == "nothing is fitted"
assert meta["objective"]["explained"] > 0.9'
}

@test "a start from another fit ends at the same optimum, without a search" {
	ssb-fit -q one.spectrum -o one.fit
	ssb-fit -q one.spectrum --start one.fit -o again.fit
	check again.fit '
one = ssbfile.load("one.fit").meta
assert [s["origin"] for s in meta["starts"]] == ["given"]
for p, q in zip(meta["parameters"], one["parameters"]):
    assert abs(p["value"] - q["value"]) < 1e-3 * q["standard_error"], (p, q)'
}

@test "the orientation that ssb-prep was given is held from a start, too" {
	ssb-fit -q one.spectrum -o one.fit
	ssb-decode -q "$BATS_FILE_TMPDIR/one_master.h5" --scan 40x44 |
		ssb-prep -q - --kv 200 --semiangle 30 --step 0.35 --sampling 2.727272727 --rotation 16 --transpose no -o given.spectrum 2>/dev/null
	ssb-fit -q given.spectrum --start one.fit -o given.fit
	check given.fit 'assert value("rotation") == 16 and by_name["rotation"]["status"] == "fixed" and len(meta["covariance_names"]) == 3'
}

@test "a centre of mass that does not move: nothing is found, and that is said" {
	"$PYTHON" -c 'import numpy as np; r, c = np.indices((24, 24)); a = 7 * ((r - 11)**2 + (c - 11)**2 < 36); np.save("flat.npy", np.broadcast_to(a, (8, 9, 24, 24)).astype("u2"))'
	ssb-decode -q flat.npy | ssb-prep -q - --kv 200 --semiangle 30 --step 0.4 -o flat.spectrum 2>/dev/null
	ssb-fit -q flat.spectrum -o flat.fit 2>err.txt
	grep -q "nothing was found" err.txt
	fails 3 "does not move: give --rotation and --transpose" ssb-recon flat.spectrum --c10 1nm -o x.phase
}

@test "pure noise: no parameter, no error bar, status 0 and a warning" {
	ssb-fit noise.spectrum --range C10=-15nm:15nm --range C12=5nm -o noise.fit 2>err.txt
	grep -q "warning: nothing was found" err.txt
	check noise.fit '
assert meta["found"] is False and "optics" not in meta and "nothing was found" in warnings
assert all("value" not in p and "standard_error" not in p for p in meta["parameters"]), meta["parameters"]
assert "covariance" not in fit.arrays'
	fails 3 "found nothing" ssb-recon noise.spectrum noise.fit -o x.phase
	[ ! -e x.phase ]
}

@test "an optimum at the edge of the range is a warning" {
	ssb-fit -q one.spectrum --range C10=-11.5nm:-2nm --fix rotation=15deg -o edge.fit 2>/dev/null
	check edge.fit 'assert "edge of its range" in warnings, warnings'
}

@test "a range of one sign keeps its branch" {
	ssb-fit -q one.spectrum --range C10=0nm:40nm -o wrong.fit 2>err.txt
	check wrong.fit '
assert value("C10") > 0 and meta["polarity"]["branch"] == "given" and "the atoms are dark" in warnings, warnings'
}

@test "the same bytes at 1 and 2 threads, from a pipe and a file, twice" {
	ssb-fit -q -t 1 one.spectrum -o a.fit
	ssb-fit -q -t 2 one.spectrum -o b.fit
	ssb-fit -q one.spectrum -o c.fit
	ssb-fit -q - <one.spectrum >d.fit
	cmp a.fit b.fit && cmp a.fit c.fit && cmp a.fit d.fit
}

@test "the printed values are the values: the phase is the same from the fit and from the command line" {
	ssb-fit -q one.spectrum -o one.fit
	"$PYTHON" - >options <<'PYTHON'
import ssbfile
o = ssbfile.load("one.fit").meta["optics"]
print(f"--c10 {o['C10_nm']}nm --c12 {o['C12_nm']}nm,{o['phi12_deg']}deg --rotation {o['rotation_deg']}deg --transpose no")
PYTHON
	ssb-recon -q one.spectrum one.fit -o a.phase
	# shellcheck disable=SC2046
	ssb-recon -q one.spectrum $(cat options) -o b.phase
	cmp <(ssb-info --array phase a.phase) <(ssb-info --array phase b.phase)
}

@test "bad options" {
	fails 2 "unit" ssb-fit one.spectrum --fix C10=-10 -o x.fit
	fails 2 "no parameter is called 'C99'" ssb-fit one.spectrum --fix C99=1nm -o x.fit
	fails 2 "not NAME=VALUE" ssb-fit one.spectrum --fix C10 -o x.fit
	fails 2 "azimuth" ssb-fit one.spectrum --fix C12=2nm -o x.fit
	fails 2 "yes nor no" ssb-fit one.spectrum --fix transposed=maybe -o x.fit
	fails 2 "two values" ssb-fit one.spectrum --range C10=10nm -o x.fit
	fails 2 "10nm:-10nm" ssb-fit one.spectrum --range C10=10nm:-10nm -o x.fit
	fails 2 "nan" ssb-fit one.spectrum --range C12=nan -o x.fit
	fails 4 "cuda" ssb-fit one.spectrum --device cuda -o x.fit
	fails 1 "do not fit in --memory" ssb-fit one.spectrum --range C12=20um --memory 100M -o x.fit
	fails 2 "gpu" ssb-fit one.spectrum --device gpu -o x.fit
	fails 2 "spectrum" ssb-fit -o x.fit
	[ ! -e x.fit ]
}

@test "bad inputs" {
	ssb-fit -q one.spectrum -o one.fit
	fails 3 "is a fit, not a spectrum" ssb-fit one.fit -o x.fit
	fails 3 "is a spectrum, not a fit" ssb-fit one.spectrum --start two.spectrum -o x.fit
	head -c 100000 one.spectrum >short.spectrum
	fails 3 "short.spectrum" ssb-fit short.spectrum -o x.fit
	fails 1 "/dev/full" ssb-fit -q one.spectrum -o /dev/full
	fails 2 "one.spectrum" ssb-fit one.spectrum -o "$(readlink -f one.spectrum)"
	[ ! -e x.fit ]
}

@test "every order to the third, from zero" {
	simulate third --rotation 100 --c10 -8nm --c12 1nm,50deg --c21 300nm,40deg --c23 200nm,-30deg --c30 10um --seed 3
	ssb-fit -q third.spectrum --range rotation=90deg:110deg --fix transposed=no --order 3 --range C10=-20nm:20nm --range C12=5nm --broad 60 -o third.fit
	check third.fit '
near("C10", -8, 0.2); near("C21", 300, 10); near("C23", 200, 10); near("C30", 10000, 500); near("rotation", 100, 1, 360)
assert len(meta["covariance_names"]) == 13 and by_name["C34"]["status"] == "fitted" and "C41" not in by_name
assert meta["optima"][0]["log_likelihood_behind"] == 0 and meta["optima"][0]["optics"]["C30_nm"]'
}

@test "a list of parameters, and what is not in it stays" {
	ssb-fit -q one.spectrum --fit C10,C12,C21,rotation --fix C30=1um --range C10=-15nm:15nm --range C12=5nm -o list.fit
	check list.fit '
assert meta["covariance_names"] == ["C10", "C12a", "C12b", "C21a", "C21b", "rotation"]
assert by_name["C30"]["status"] == "fixed" and value("C30") == 1000 and abs(value("C21")) < 5 * error("C21") + 20'
}

@test "as many orders as the data support: one" {
	ssb-fit -q one.spectrum --order auto --range C10=-15nm:15nm --range C12=5nm -o auto.fit 2>/dev/null
	check auto.fit '
assert [o["order"] for o in meta["orders"]] == [1, 2, 3, 4, 5] and meta["orders"][0]["taken"]
gained = [o["order"] for o in meta["orders"] if o.get("significance", 0) > 4 and not o["undetermined_directions"]]
assert [o["taken"] for o in meta["orders"]] == [o["order"] <= max(gained + [1]) for o in meta["orders"]]
near("rotation", 15, 1, 360)'
}

@test "as many orders as the data support: two, coma" {
	ssb-fit -q coma.spectrum --range rotation=90deg:110deg --fix transposed=no --order auto --range C10=-15nm:15nm --range C12=5nm --broad 30 -o auto.fit 2>/dev/null
	check auto.fit '
assert meta["orders"][1]["taken"] and meta["orders"][1]["significance"] > 20, meta["orders"]
near("C21", 300, 30)'
}

@test "tilt and thickness, and the comparison with a thin specimen" {
	simulate thick --phase 0.1 --dose 200 --rotation 15 --c10 -10nm --c12 2nm,20deg --thickness 12nm --tilt 6mrad,-4mrad
	ssb-fit -q thick.spectrum --fit C10,C12,rotation,tilt,thickness --range C10=-15nm:15nm --range C12=5nm --range tilt=10mrad --range thickness=20nm -o thick.fit
	check thick.fit '
near("thickness", 12, 1); near("tilt_r", 6, 1); near("tilt_c", -4, 1); near("C10", -10, 0.2)
t = meta["thickness_test"]
assert t["determined"] and t["significance"] > 8 and t["likelihood_thick"] > t["likelihood_thin"]
assert meta["optics"]["thickness_nm"] == value("thickness")'
	ssb-fit -q thick.spectrum --start thick.fit --fit C10,C12,rotation,tilt,thickness --range tilt=10mrad --range thickness=20nm -o again.fit
	check again.fit '
first = {p["name"]: p for p in ssbfile.load("thick.fit").meta["parameters"]}
assert all(abs(value(n) - p["value"]) < 1e-3 * p["standard_error"] for n, p in first.items()) and meta["thickness_test"]["determined"]'
	ssb-recon -q thick.spectrum thick.fit --thin -o thick.phase
	"$PYTHON" -c 'import ssbfile; p = ssbfile.load("thick.phase"); assert abs(p["phase"] - p["thin"]).max() > 0'
}

@test "a thin specimen: no thickness is invented" {
	ssb-fit -q one.spectrum --fit C10,C12,rotation,tilt,thickness --range C10=-15nm:15nm --range C12=5nm -o thin.fit 2>err.txt
	grep -q "do not show a thickness" err.txt
	check thin.fit '
for name in ("tilt_r", "tilt_c", "thickness"):
    assert by_name[name]["status"] == "undetermined" and "value" not in by_name[name]
assert not meta["thickness_test"]["determined"] and "thickness_nm" not in meta["optics"]
near("C10", -12, 0.1)'
}

@test "the detector sampling, calibrated by the scan step" {
	ssb-decode -q "$BATS_FILE_TMPDIR/one_master.h5" --scan 40x44 |
		ssb-prep -q - --kv 200 --semiangle 29.15 --step 0.35 --sampling 2.65 -o off.spectrum 2>/dev/null
	ssb-fit -q off.spectrum --fit C10,C12,rotation,sampling --range C10=-15nm:15nm --range C12=5nm -o off.fit 2>/dev/null
	check off.fit 'near("sampling", 2.7272727, 0.02); near("C10", -12, 0.2); assert meta["optics"]["detector_scale"] > 1.01'
	ssb-recon -q off.spectrum off.fit -o off.phase
}

@test "both branches, and either" {
	options="--range C10=-15nm:15nm --range C12=5nm"
	ssb-fit -q two.spectrum $options --branch both -o both.fit
	check both.fit '
a, b = meta["branches"]
assert (a["branch"], b["branch"]) == ("0", "180") and abs(a["optics"]["rotation_deg"] - 20) < 1 and abs(b["optics"]["rotation_deg"] - 200) < 1
assert a["optics"]["C10_nm"] == -b["optics"]["C10_nm"] and a["polarity"] < 0 < b["polarity"]
assert meta["optics"] == b["optics"]'
	ssb-fit -q two.spectrum $options --branch 0 -o zero.fit
	check zero.fit 'assert abs(value("rotation") - 20) < 1 and value("C10") < 0 and meta["polarity"]["branch"] == "asked for"'
	fails 2 "ruled out" ssb-fit -q two.spectrum --range C10=0nm:15nm --range C12=5nm --branch 0 -o x.fit
}

@test "the published objective: its value in every fit, its optimum on request" {
	ssb-fit -q one.spectrum --objective variance --range C10=-15nm:-8nm --range C12=4nm --fix transposed=no --fix rotation=15deg -o variance.fit
	check variance.fit '
assert meta["fitted_objective"] == "variance" and "standard_error" not in by_name["C10"] and abs(value("C10") + 12) < 0.5
assert len(meta["variance_fit"]) == 2 and meta["objective"]["variance_rad2"] > 0 and meta["objective"]["likelihood"] > 0
assert "no error bars" not in warnings'
}

@test "parameters that the data say nothing of are left out and named" {
	ssb-fit -q one.spectrum --fit C10,C12,tilt --fix thickness=1e-6nm --fix rotation=15deg --fix transposed=no --range C10=-15nm:-8nm --range C12=4nm -o weak.fit 2>/dev/null
	check weak.fit 'assert by_name["tilt_r"]["status"] == "undetermined" and "value" not in by_name["tilt_r"], by_name
near("C10", -12, 0.1)'
}

@test "badly determined combinations stay, with their error bars, and are named" {
	ssb-sim -q few --scan 12x13 --detector 30x32 --radius 11 --dose 30 --phase 0.3 --kv 200 --step 0.35 --rotation 15 --c10 -12nm --c12 2nm,20deg
	ssb-decode -q few_master.h5 --scan 12x13 | ssb-prep -q - --kv 200 --semiangle 30 --step 0.35 --sampling 2.727272727 -o few.spectrum 2>/dev/null
	ssb-fit -q few.spectrum --order 5 --fix rotation=15deg --fix transposed=no --range C10=-15nm:-8nm --range C12=4nm --broad 0 -o few.fit 2>err.txt
	grep -q "the data determine [0-9]* of" err.txt
	check few.fit 'assert meta["undetermined_directions"] and all(d["weights"] for d in meta["undetermined_directions"])'
}

@test "the limit of evaluations ends the fit, and that is said" {
	ssb-fit -q one.spectrum --max-evals 1 --fix transposed=no --fix rotation=15deg -o cut.fit 2>err.txt
	grep -q "max-evals" err.txt
	check cut.fit 'assert "max-evals" in meta["stopped"]'
}

@test "the same bytes at 1 and 2 threads with everything fitted" {
	options="--order 5 --broad 6 --range C10=-15nm:-8nm --range C12=4nm --fix transposed=no"
	ssb-fit -q -t 1 one.spectrum $options -o a.fit 2>/dev/null
	ssb-fit -q -t 2 one.spectrum $options -o b.fit 2>/dev/null
	cmp a.fit b.fit
}

@test "contradictions" {
	ssb-fit -q one.spectrum --range C10=-15nm:15nm --range C12=5nm -o one.fit
	fails 2 "give one of them" ssb-fit one.spectrum --fit C10 --order 2 -o x.fit
	fails 2 "no parameter is called 'C13'" ssb-fit one.spectrum --fit C10,C13 -o x.fit
	fails 2 "there twice" ssb-fit one.spectrum --fit C10,C10 -o x.fit
	fails 2 "is to be fitted, too" ssb-fit one.spectrum --fit C10,C12,rotation --fix C10=1nm -o x.fit
	fails 2 "leaves the rotation out" ssb-fit one.spectrum --fit C10,C12 -o x.fit
	fails 2 "thick specimen alone" ssb-fit one.spectrum --fit C10,rotation,tilt -o x.fit
	fails 2 "none is fitted" ssb-fit one.spectrum --broad 10 -o x.fit
	fails 2 "without a search" ssb-fit one.spectrum --start one.fit --trials 3 -o x.fit
	fails 2 "is not fitted" ssb-fit one.spectrum --range C21=1nm -o x.fit
	fails 2 "outside its range" ssb-fit one.spectrum --start one.fit --range C10=0nm:5nm -o x.fit
	fails 2 "the rotation is given" ssb-fit one.spectrum --fix rotation=15deg --branch both -o x.fit
	fails 2 "neither 1 to 5 nor auto" ssb-fit one.spectrum --order 6 -o x.fit
	fails 2 "pm, A, nm" ssb-fit one.spectrum --range C12=5 -o x.fit
	fails 2 "more than a turn" ssb-fit one.spectrum --range rotation=0deg:400deg -o x.fit
	ssb-decode -q "$BATS_FILE_TMPDIR/one_master.h5" --scan 40x44 |
		ssb-prep -q - --kv 200 --semiangle 28 --step 0.35 --sampling 2.6 -o other.spectrum 2>/dev/null
	fails 3 "28" ssb-fit other.spectrum --start one.fit -o x.fit
	[ ! -e x.fit ]
}
