# The thin acquisitions of ../shared/data from file to phase: fits against the oracle's table, phases against the truth.
load helpers

setup() {
	needs_shared
	cd "$BATS_TEST_TMPDIR" || return
}

truth() { "$PYTHON" -c "import json, sys; t = json.load(open('$SHARED/data/$1/truth.json')); print($2)"; }

# Orders above C12 that the truth holds, as --fix options
held() {
	truth "$1" "' '.join(f\"--fix {o}={t[o + '_nm']}nm\" + (f\",{t['phi' + o[1:] + '_deg']}deg\" if int(o[2]) else '')
		for o in ('C21','C23','C30','C32','C34','C41','C43','C45','C50','C52','C54','C56') if t[o + '_nm'])"
}

# acquisition NAME given|rule [twice]
acquisition() {
	local name=$1 mode=$2 twice=${3:-} sampling=
	[ "$mode" = rule ] || sampling="--sampling $(truth "$name" "t['detector_sampling_mrad']")"
	ssb-decode -q "$SHARED/data/$name/${name}_master.h5" --scan "$(truth "$name" "'%dx%d' % tuple(t['scan_shape'])")" -o x.region
	# shellcheck disable=SC2046,SC2086
	ssb-prep -q x.region $sampling --kv "$(truth "$name" "t['voltage_kV']")" --semiangle "$(truth "$name" "t['semiangle_mrad']")" \
		--step "$(truth "$name" "t['scan_step_A']")" -o x.spectrum
	# shellcheck disable=SC2046
	ssb-fit -q x.spectrum $(held "$name") -o x.fit
	ssb-recon -q x.spectrum x.fit -o x.phase
	[ -z "$twice" ] || ssb-recon -q x.spectrum x.fit --upsample auto -o x2.phase
	"$PYTHON" "$top/tests/fit_shared.py" "$SHARED/data/$name" "$mode" x.fit x.phase ${twice:+x2.phase}
}

@test "graphene-thin, sampling given" { acquisition graphene-thin given twice; }
@test "graphene-thin, sampling by the rule" { acquisition graphene-thin rule; }
@test "mos2-lowdose, sampling given" { acquisition mos2-lowdose given; }
@test "mos2-lowdose, sampling by the rule" { acquisition mos2-lowdose rule; }
@test "rect-rotated, sampling given" { acquisition rect-rotated given; }
@test "rect-rotated, sampling by the rule" { acquisition rect-rotated rule; }
@test "u32-highcount, sampling given" { acquisition u32-highcount given; }
@test "u32-highcount, sampling by the rule" { acquisition u32-highcount rule; }
@test "focus-180, sampling given" { acquisition focus-180 given twice; }
@test "focus-180, sampling by the rule" { acquisition focus-180 rule; }

@test "srtio3-thick-tilt is beyond the thin model, and the fit says so" {
	name=srtio3-thick-tilt
	ssb-decode -q "$SHARED/data/$name/${name}_master.h5" --scan 64x64 -o x.region
	# shellcheck disable=SC2046
	ssb-prep -q x.region --kv "$(truth $name "t['voltage_kV']")" --semiangle "$(truth $name "t['semiangle_mrad']")" \
		--step "$(truth $name "t['scan_step_A']")" --rotation "$(truth $name "t['rotation_deg']")" --transpose no -o x.spectrum
	ssb-fit -q x.spectrum -o x.fit 2>err.txt
	grep -q "of the signal is explained: a thick or strong specimen" err.txt
}

# thick NAME: all of it from zero, tilt and thickness, too
thick() {
	ssb-decode -q "$SHARED/data/$1/$1_master.h5" --scan 64x64 -o x.region
	ssb-prep -q x.region --kv "$(truth "$1" "t['voltage_kV']")" --semiangle "$(truth "$1" "t['semiangle_mrad']")" \
		--step "$(truth "$1" "t['scan_step_A']")" --sampling "$(truth "$1" "t['detector_sampling_mrad']")" -o x.spectrum
	ssb-fit -q x.spectrum --fit C10,C12,rotation,tilt,thickness -o x.fit 2>/dev/null
	"$PYTHON" - "$2" <<-'PYTHON'
	import json, sys, ssbfile
	fit = {p["name"]: p["value"] for p in ssbfile.load("x.fit").meta["parameters"]}
	for name, (value, most) in json.loads(sys.argv[1]).items():
	    assert abs(fit[name] - value) <= most, (name, fit[name], value)
	PYTHON
}

# the optima that ../shared/data's own reference found
@test "thick-weak-tilt with tilt and thickness" {
	thick thick-weak-tilt '{"C10": [-7, 0.02], "C12": [2, 0.02], "phi12": [25, 0.2], "tilt_r": [-3.46, 0.05], "tilt_c": [4.84, 0.06], "thickness": [8.68, 0.05]}'
}
@test "srtio3-thick-tilt with tilt and thickness" {
	thick srtio3-thick-tilt '{"C10": [-4.38, 0.05], "C12": [1.52, 0.02], "phi12": [-70.5, 0.5], "tilt_r": [2.81, 0.1], "tilt_c": [-1.5, 0.1], "thickness": [8.13, 0.15]}'
}
