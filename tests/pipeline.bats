#!/usr/bin/env bats
# The tools together: one result whatever the threads, pipes and files; bad input of every kind into every stage.
load helpers
bats_require_minimum_version 1.5.0

tools="decode prep fit recon save info sim"
export SOURCE_DATE_EPOCH=0

calibration=(--kv 80 --semiangle 30 --step 0.3 --sampling 3.75)
search=(--range C10=-30nm:30nm --range C12=5nm)

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	ssb-sim -q x --scan 20x22 --detector 26x24 --radius 8 --step 0.3 --dose 200 --phase 0.15 --bad-pixels 3 &&
		ssb-decode -q x_master.h5 --scan 20x22 -o x.region &&
		ssb-prep -q x.region "${calibration[@]}" -o x.spectrum &&
		ssb-fit -q x.spectrum "${search[@]}" -o x.fit &&
		ssb-recon -q x.spectrum x.fit --upsample auto -o x.phase
}

setup() { ln -s "$BATS_FILE_TMPDIR"/x* "$BATS_TEST_TMPDIR" && cd "$BATS_TEST_TMPDIR" || return; }

@test "the same bytes with one and with two threads, through pipes and files, run twice" {
	for threads in 1 2 2; do
		ssb-decode -q -t $threads x_master.h5 --scan 20x22 >a.region
		ssb-decode -q -t $threads x_master.h5 --scan 20x22 | ssb-prep -q -t $threads - "${calibration[@]}" >a.spectrum
		ssb-fit -q -t $threads - "${search[@]}" -o - <a.spectrum >a.fit
		ssb-recon -q -t $threads - a.fit --upsample auto -o - <a.spectrum | tee a.phase | ssb-save -q -t $threads - a.tif a.png a.npz a.h5
		for kind in region spectrum fit phase; do cmp x.$kind a.$kind; done
		cat x.fit | ssb-recon -q -t $threads x.spectrum - --upsample auto -o b.phase
		cmp x.phase b.phase
		ssb-save -q x.phase x.tif x.png x.npz x.h5
		for format in tif png npz h5; do cmp x.$format a.$format; done
		rm x.tif x.png x.npz x.h5
	done
}

@test "half precision adds less than 1 % of the shot noise to the phase and moves a fit by less than 0.05 standard errors" {
	for seed in 1 2; do
		ssb-sim -q s$seed --scan 64x62 --detector 36x38 --radius 12 --kv 80 --step 0.3 --dose 3 --phase 0.3 --c10 -8nm --c12 2nm,20deg --rotation 15 --seed $seed
		for precision in single half; do
			ssb-decode -q s${seed}_master.h5 --scan 64x62 | ssb-prep -q - --kv 80 --semiangle 30 --step 0.3 --sampling 2.5 --precision $precision -o $precision$seed.spectrum
		done
	done
	ssb-fit -q single1.spectrum "${search[@]}" -o single.fit
	ssb-fit -q half1.spectrum "${search[@]}" -o half.fit
	for x in single1 single2 half1; do ssb-recon -q $x.spectrum single.fit -o $x.phase; done
	"$PYTHON" - <<-'PY'
		import numpy as np, ssbfile
		phase = {x: ssbfile.load(x + ".phase")["phase"] for x in ("single1", "single2", "half1")}
		noise = np.std(phase["single1"] - phase["single2"]) / np.sqrt(2)
		added = np.std(phase["half1"] - phase["single1"])
		print(f"added {added / noise:.5f} of the noise")
		assert 0 < added < 0.01 * noise
		a, b = (ssbfile.load(x + ".fit") for x in ("single", "half"))
		assert a.meta["found"] and b.meta["found"]
		for p, q in zip(a.meta["parameters"], b.meta["parameters"]):
		    moved = abs(p["value"] - q["value"]) / p["standard_error"]
		    print(p["name"], f"moved by {moved:.4f} standard errors")
		    assert moved < 0.05
	PY
}

@test "the history tells every stage, and digests lead from one file to the next" {
	ssb-info --json x.phase >x.json
	"$PYTHON" - <<-'PY'
		import json, ssbfile
		history = json.load(open("x.json"))["history"]
		assert [h["tool"] for h in history] == ["ssb-decode", "ssb-prep", "ssb-fit", "ssb-recon"], history
		digest = {kind: ssbfile.load("x." + kind).digest for kind in ("region", "spectrum", "fit")}
		made = {h["tool"]: [i["digest"] for i in h["inputs"]] for h in history}
		assert made["ssb-prep"] == [digest["region"]] and made["ssb-fit"] == [digest["spectrum"]], made
		assert sorted(made["ssb-recon"]) == sorted([digest["spectrum"], digest["fit"]]), made
		assert history[1]["options"]["semiangle"] == "30" and not any("time" in h for h in history)
	PY
}

@test "--profile: one line of JSON whose phases add up to the run; what comes out does not change" {
	ssb-sim -q --profile y --scan 8x8 --detector 12x12 --radius 4 --step 0.3 2>sim.txt
	ssb-decode -q --profile x_master.h5 --scan 20x22 -o a.region 2>decode.txt
	ssb-prep -q --profile - "${calibration[@]}" <a.region -o a.spectrum 2>prep.txt # a redirected file is mapped, too
	ssb-fit -q --profile a.spectrum "${search[@]}" -o a.fit 2>fit.txt
	cat a.spectrum | ssb-recon -q --profile - a.fit --upsample auto -o a.phase 2>recon.txt
	ssb-save -q --profile a.phase a.png 2>save.txt
	ssb-info --profile --verify a.phase 2>info.txt
	for kind in region spectrum fit phase; do cmp x.$kind a.$kind; done
	"$PYTHON" - <<-'PY'
		import json, os
		size = lambda kind: os.path.getsize("a." + kind)
		named = {"sim": "specimen counts write", "decode": "find decode write", "prep": "read sums transform measure write",
		    "fit": "read rank search climb all/evidence report", "recon": "read reconstruct write", "save": "read write", "info": "read print"}
		amounts = {"wall_s", "cpu_s", "bytes_in", "bytes_out"}
		for tool, names in named.items():
		    line, = [json.loads(text) for text in open(tool + ".txt") if text.startswith("{")]
		    assert set(line) == amounts | {"tool", "threads", "phases", "peak_rss_bytes"} and line["tool"] == "ssb-" + tool, line
		    assert [p["name"].replace(" ", "/") for p in line["phases"]] == ["start"] + names.split(), line
		    for amount in amounts:
		        assert abs(sum(p[amount] for p in line["phases"]) - line[amount]) < 1e-4 and line[amount] >= 0, (tool, amount, line)
		    assert line["wall_s"] > 0 and line["peak_rss_bytes"] > 1e6, line
		    into, out = {"decode": ("master", "region"), "prep": ("region", "spectrum"), "fit": ("spectrum", "fit"), "recon": ("spectrum", "phase"),
		                 "save": ("phase", "png"), "info": ("phase", None), "sim": (None, None)}[tool]
		    if out:
		        assert size(out) <= line["bytes_out"] < size(out) + 1000, (tool, size(out), line)
		    if into and into != "master":
		        assert size(into) - 10000 < line["bytes_in"] < size(into) + 10000, (tool, size(into), line)
	PY
	fails 3 "9 positions" ssb-decode --profile x_master.h5 --scan 3x3
	! grep -q '^{' err.txt
}

@test "the fit finds the simulation's truth within its errors, and the phase is the specimen's" {
	"$PYTHON" - <<-'PY'
		import json, numpy as np, ssbfile
		truth, fit, phase = json.load(open("x_truth.json")), ssbfile.load("x.fit"), ssbfile.load("x.phase")
		for p, unit in zip(fit.meta["parameters"], ("nm", "nm", "deg", "deg")):
		    error = p["value"] - truth[f"{p['name']}_{unit}"]
		    if unit == "deg":
		        error = (error + 90) % 180 - 90 if p["name"] == "phi12" else (error + 180) % 360 - 180
		    assert abs(error) < 4 * p["standard_error"], (p, error)
		    assert p["standard_error"] < {"nm": 0.2, "deg": 4}[unit], p
		assert fit.meta["objective"]["explained"] > 0.8 and not fit.meta["optics"]["transposed"], fit.meta
		factor = phase.meta["upsample"]
		image, specimen = phase["phase"][::factor, ::factor], np.load("x_truth_phase.npy")
		assert image.shape == specimen.shape and np.corrcoef(image.ravel(), specimen.ravel())[0, 1] > 0.8
	PY
}

@test "a fit of one region holds for the others, the whole scan, odd sizes, another step: no image is worse than with the truth" {
	truth=(--c10 -12nm --c12 2nm,20deg --rotation 15 --transpose no)
	sim() { ssb-sim -q "$1" --scan 64x62 --detector 26x24 --radius 8 --step "$2" --dose 2000 --phase 0.2 --specimen atoms; }
	region() { # NAME MASTER ROI STEP
		ssb-decode -q "$2_master.h5" --scan 64x62 --scan-roi "$3" | ssb-prep -q - --kv 80 --semiangle 30 --step "$4" --sampling 3.75 -o "$1.spectrum"
	}
	sim big 0.3
	sim finer 0.25
	region even big 0:32,0:32 0.3
	region odd big 20:51,8:40 0.3
	region most big 1:64,0:61 0.3
	region all big full 0.3
	region moved big 30:61,31:62 0.3
	region finer finer full 0.25
	for from in even odd; do
		ssb-fit -q $from.spectrum --range C10=-16nm:-8nm --range C12=4nm --fix transposed=no -o $from.fit 2>/dev/null
	done
	for name in even odd most all moved finer; do
		ssb-recon -q $name.spectrum "${truth[@]}" -o $name.truth
		for from in even odd; do ssb-recon -q $name.spectrum $from.fit -o $name.$from; done
	done
	"$PYTHON" - <<-'PY'
		import numpy as np, ssbfile
		truth = {"big": np.load("big_truth_phase.npy").astype(float), "finer": np.load("finer_truth_phase.npy").astype(float)}
		for name, shape, least in (("even", (32, 32), 0.7), ("odd", (31, 32), 0.85), ("most", (63, 61), 0.9), ("all", (64, 62), 0.93),
		                           ("moved", (31, 31), 0.75), ("finer", (64, 62), 0.93)):
		    corr = {}
		    for made in "truth", "even", "odd":
		        phase = ssbfile.load(f"{name}.{made}")
		        (r, c), specimen = phase.meta["scan_origin"], truth["finer" if name == "finer" else "big"]
		        assert phase["phase"].shape == shape == tuple(phase.meta["scan_shape"]), (name, phase["phase"].shape)
		        corr[made] = np.corrcoef(phase["phase"].ravel(), specimen[r:r + shape[0], c:c + shape[1]].ravel())[0, 1]
		    assert corr["truth"] > least and min(corr.values()) > corr["truth"] - 0.01, (name, corr)
	PY
}

@test "both branches of a fit: one image and its negative, and the brighter atoms are what the fit alone would take" {
	ssb-fit -q x.spectrum --start x.fit --branch both -o both.fit
	for branch in 0 180; do ssb-recon -q x.spectrum both.fit --branch $branch -o $branch.phase; done
	"$PYTHON" - <<-'PY'
		import numpy as np, ssbfile
		plain, other = ssbfile.load("0.phase"), ssbfile.load("180.phase")
		a, b = np.array(plain["phase"], float), np.array(other["phase"], float)
		assert np.abs(a + b).max() < 1e-5 * np.abs(a).max() and plain.meta["polarity"] > 0 > other.meta["polarity"]
		turn = {phase.meta["fit"]["branch"]: phase.meta["optics"]["rotation_deg"] for phase in (plain, other)}
		assert np.cos(np.radians(turn["0"])) > 0 > np.cos(np.radians(turn["180"])), turn
		assert plain.meta["optics"]["C10_nm"] == -other.meta["optics"]["C10_nm"] == plain.meta["parameters"][0]["value"]
	PY
}

@test "-h and --version go to standard output; what is not known is refused with a hint" {
	for tool in $tools; do
		ssb-$tool -h >out.txt 2>err.txt
		head -n 1 out.txt | grep -q "^usage: ssb-$tool "
		[ ! -s err.txt ]
		ssb-$tool --version >out.txt 2>err.txt
		head -n 1 out.txt | grep -Eq "^ssb-$tool [0-9.]+$"
		[ ! -s err.txt ]
		fails 2 "nonsense" ssb-$tool --nonsense x
		fails 2 "ssb-$tool -h" ssb-$tool --nonsense x
		fails 2 "'abc'" ssb-$tool -t abc x
		fails 2 "'0'" ssb-$tool -t 0 x
	done
}

# stage TOOL [INPUT [FIT]]: the tool with good options, output to y
stage() {
	case $1 in
	decode) ssb-decode -q "${2-x_master.h5}" --scan 20x22 -o y ;;
	prep) ssb-prep -q "${2-x.region}" "${calibration[@]}" -o y ;;
	fit) ssb-fit -q "${2-x.spectrum}" --fix C10=-12nm --fix C12=0 --fix rotation=15deg --fix transposed=no -o y ;;
	recon) ssb-recon -q "${2-x.spectrum}" "${3-x.fit}" -o y ;;
	save) ssb-save -q "${2-x.phase}" y.npy ;;
	info) ssb-info -q "${2-x.phase}" ;;
	esac
}

@test "a file of the wrong kind is named, with what it is" {
	for kind in spectrum fit phase; do fails 3 "$kind" stage prep x.$kind; done
	for kind in region fit phase; do fails 3 "$kind" stage fit x.$kind; fails 3 "$kind" stage recon x.$kind; done
	for kind in region spectrum phase; do fails 3 "$kind" stage recon x.spectrum x.$kind; done
	fails 3 "spectrum" stage save x.spectrum
	echo hello >text
	for tool in decode prep fit recon save info; do fails 3 "text" stage $tool text; done
	for kind in region spectrum fit phase; do fails 3 "x.$kind" stage decode x.$kind; done
	[ ! -e y ]
	[ ! -e y.npy ]
}

@test "a truncated, an empty and a missing file into every stage" {
	for tool in prep:region fit:spectrum recon:spectrum save:phase info:phase; do
		kind=${tool#*:}
		size=$(stat -L -c %s x.$kind)
		for bytes in 0 1 63 64 $((size / 2)) $((size - 64)) $((size - 1)); do
			head -c $bytes x.$kind >cut.$kind
			fails 3 "cut.$kind" stage "${tool%:*}" cut.$kind
			cat cut.$kind | fails 3 "" stage "${tool%:*}" -
		done
		fails 3 "nothing.$kind" stage "${tool%:*}" nothing.$kind
	done
	[ ! -e y ]
	[ ! -e y.npy ]
	[ -z "$(find . -name '.?*')" ]
}

@test "a full device is an error of every writer" {
	fails 1 "No space left" ssb-decode -q x_master.h5 --scan 20x22 -o /dev/full
	fails 1 "No space left" ssb-prep -q x.region "${calibration[@]}" -o /dev/full
	fails 1 "No space left" ssb-fit -q x.spectrum --start x.fit -o /dev/full
	fails 1 "No space left" ssb-recon -q x.spectrum x.fit -o /dev/full
	ln -s /dev/full full.npy
	fails 1 "No space left" ssb-save -q x.phase full.npy
	for command in "ssb-decode -q x_master.h5 --scan 20x22" "ssb-info x.phase" "ssb-info --array phase x.phase" "ssb-fit -h" "ssb-fit --version"; do
		run -1 --separate-stderr bash -c "$command >/dev/full"
		[[ "$stderr" == "${command%% *}: "*"No space left"* ]]
	done
}

@test "a reader that goes away ends every writer quietly" {
	for command in "ssb-decode -q x_master.h5 --scan 20x22" "ssb-prep -q x.region ${calibration[*]}" "ssb-fit -q x.spectrum --start x.fit -o -" \
		"ssb-recon -q x.spectrum x.fit --upsample 4 -o -" "ssb-info --array G x.spectrum"; do
		# the reader is gone before the first byte
		run --separate-stderr bash -c "{ $command; echo \$? >status.txt; } | true"
		[ "$stderr" = "" ]
		[ "$(cat status.txt)" -eq 141 ] || { echo "$command: $(cat status.txt)"; return 1; }
	done
}

@test "an output that cannot be written, or that is the input" {
	mkdir folder
	for path in nowhere/y folder; do
		fails 1 "'$path'" ssb-decode -q x_master.h5 --scan 20x22 -o $path
		fails 1 "'$path'" ssb-prep -q x.region "${calibration[@]}" -o $path
		fails 1 "'$path'" ssb-fit -q x.spectrum --start x.fit -o $path
		fails 1 "'$path'" ssb-recon -q x.spectrum x.fit -o $path
	done
	fails 1 "nowhere/y.npy" ssb-save -q x.phase nowhere/y.npy
	cp --remove-destination "$BATS_FILE_TMPDIR"/x[._]* .
	cp x.phase x.npy
	sha256sum x* >before.txt
	ln x.region same
	fails 2 "x_data_000001.h5" ssb-decode -q x_master.h5 --scan 20x22 -o x_data_000001.h5
	fails 2 "x_master.h5" ssb-decode -q x_master.h5 --scan 20x22 -o ./x_master.h5
	fails 2 "same" ssb-prep -q x.region "${calibration[@]}" -o same
	fails 2 "x.spectrum" ssb-fit -q x.spectrum --start x.fit -o x.spectrum
	fails 2 "x.fit" ssb-fit -q x.spectrum --start x.fit -o x.fit
	fails 2 "x.spectrum" ssb-recon -q x.spectrum x.fit -o x.spectrum
	fails 2 "x.fit" ssb-recon -q x.spectrum x.fit -o x.fit
	fails 2 "x.npy" ssb-save -q x.npy x.npy
	sha256sum --check --quiet before.txt
	[ "$(ls -A folder)" = "" ]
}

@test "binary data to a terminal is refused" {
	for command in "ssb-decode x_master.h5 --scan 20x22" "ssb-prep x.region ${calibration[*]}" "ssb-fit x.spectrum --start x.fit -o -" \
		"ssb-recon x.spectrum x.fit -o -" "ssb-info --array phase x.phase"; do
		run -2 script --quiet --return --command "$command" /dev/null
		[[ "$output" == *terminal* ]]
	done
}
