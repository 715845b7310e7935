#!/usr/bin/env bats
load helpers

golden=$BATS_TEST_DIRNAME/golden/format

# make_container NAME KIND META [HISTORY]: a container with one array, phase, from the golden files' writer
make_container() {
	PYTHONPATH=$PYTHONPATH:$golden "$PYTHON" - "$@" <<-'PY'
		import json, sys
		from make import ARRAYS, CHUNKS, container
		name, kind, meta, history = (*sys.argv[1:], "[]")[:4]
		open(name, "wb").write(container(kind, ARRAYS, CHUNKS, root={"meta": json.loads(meta), "history": json.loads(history)})[0])
	PY
}

fit_meta='{
	"high_tension_kV": 300.0, "scan_step_A": [0.26625, 0.27], "scan_shape": [64, 48], "q_limit_per_A": 1.5, "variance_rad2": 0.25,
	"sensor_thickness_m": 0.00045, "sources": {"count_time_s": "/entry/count_time"},
	"parameters": [
		{"name": "C10", "value": -12.345678, "unit": "nm", "standard_error": 0.0123, "status": "fitted"},
		{"name": "C12", "value": 0, "unit": "nm", "status": "fixed"},
		{"name": "rotation", "value": 123.456, "unit": "deg", "standard_error": 31.0, "status": "fitted"}],
	"objective": {"likelihood": 1234.5, "explained": 0.8125, "explained_noise": 0.004},
	"optics": {"transposed": false, "C10_nm": -12.345678}, "steps": [{"C10_nm": 1}, {"C10_nm": 2}],
	"warnings": [{"tool": "ssb-prep", "text": "dose is low"}, {"tool": "ssb-fit", "text": "the optimum is on the edge"}]}'

@test "--get: numbers as they are, a list's entry by its name, an empty line where there is nothing" {
	make_container x.fit fit "$fit_meta"
	paths=(kind meta.parameters.C10.value meta.parameters.C12.standard_error meta.objective.explained meta.optics.transposed
		meta.sources.count_time_s meta.scan_shape meta.nothing.there)
	ssb-info $(printf -- '--get=%s ' "${paths[@]}") --get digest x.fit >out.txt
	digest=$("$PYTHON" -c 'import ssbfile; print(ssbfile.load("x.fit").digest)')
	printf '%s\n' fit -12.345678 "" 0.8125 false /entry/count_time "[64,48]" "" "$digest" | diff - out.txt
	fails 2 "exclude each other" ssb-info --json --get kind x.fit
}

@test "a fit: warnings first, parameters to the digits their errors support, the explained fraction, units" {
	make_container x.fit fit "$fit_meta" '[{"tool": "ssb-fit", "version": "0.1.0", "options": {"fix": ["C12=0", "C21=0"], "quick": true},
		"inputs": [{"name": "spectrum", "kind": "spectrum", "digest": "0123456789abcdef"}]}]'
	ssb-info x.fit >out.txt
	digest=$("$PYTHON" -c 'import ssbfile; print(ssbfile.load("x.fit").digest)')
	sed 's/  */ /g; s/ $//' out.txt >squeezed.txt
	diff squeezed.txt - <<-END
		fit, digest $digest
		WARNING (ssb-prep): dose is low
		WARNING (ssb-fit): the optimum is on the edge
		 C10 -12.346 ± 0.012 nm fitted
		 C12 0 nm fixed
		 rotation 123 ± 31 deg fitted
		 explained 0.8125 ± 0.0040 of the signal (1: all, 0: nothing was found)
		 high tension 300 kV
		 scan step 0.26625, 0.27 Å
		 scan shape 64 x 48
		 q limit 1.5 1/Å
		 variance 0.25 rad²
		 sensor thickness 0.00045 m
		 sources
		 count time s /entry/count_time
		 objective
		 likelihood 1234.5
		 optics
		 transposed no
		 C10 -12.3457 nm
		 steps 2 entries (--json shows them)
		arrays
		 phase f4 4 [rad] raw, 2 chunks
		history
		 ssb-fit 0.1.0 --fix C12=0 --fix C21=0 --quick; from spectrum 0123456789abcdef
	END
}

@test "a phase: what a stack is of, and the resolution that its halves show" {
	make_container x phase '{"stack": {"parameter": "C10", "unit": "nm", "values": [-30, -29.5, -29]}}'
	ssb-info x | grep -q "^ stack of 3 images: C10 from -30 to -29 nm$"
	make_container y phase '{"fourier_ring_correlation": {"ring_per_A": 0.1, "limit_per_A": 1.5, "limit_is": "Nyquist",
		"half_bit": {"result": "crosses", "above_from_per_A": 0.2, "frequency_per_A": 1.25, "resolution_A": 0.8},
		"fixed_0143": {"result": "does not cross below Nyquist", "above_from_per_A": 0.1}, "correlation": [0.5, null]}}'
	ssb-info y | grep -q "^ resolution half-bit *0.8 Å .* is above it from 0.2 to 1.25 1/Å$"
	ssb-info y | grep -q "^ resolution 0.143 *- Å .*: does not cross below Nyquist$"
	[ "$(ssb-info --get meta.fourier_ring_correlation.half_bit.resolution_A y)" = 0.8 ]
}

@test "every kind, from a file and from a pipe: the same words" {
	for kind in region spectrum fit phase; do
		make_container x $kind '{"scan_shape": [2, 3]}'
		for wish in "" --json --verify "--array phase"; do
			ssb-info $wish x >file.txt
			ssb-info $wish - <x >redirected.txt
			cat x | ssb-info $wish - >pipe.txt
			cmp file.txt pipe.txt
			cmp file.txt redirected.txt
		done
		ssb-info x | grep -q "^$kind, digest"
		ssb-info --verify x | grep -q "^$kind, digest $(ssb-info --json x | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["digest"])'): whole"
	done
}

@test "--json is the whole header, with the digest" {
	make_container x.fit fit "$fit_meta"
	ssb-info --json x.fit >out.json
	"$PYTHON" - <<-'PY'
		import json, ssbfile
		shown, read = json.load(open("out.json")), ssbfile.load("x.fit")
		assert list(shown) == ["digest", "kind", "meta", "history", "arrays"]
		assert shown["meta"] == read.meta and shown["kind"] == "fit" and shown["digest"] == read.digest
		assert shown["arrays"] == [{"name": "phase", "dtype": "f4", "shape": [4], "chunk_elements": 2, "codec": "raw", "unit": "rad"}]
	PY
}

@test "--array: every array of the good golden files, as NumPy reads it" {
	"$PYTHON" - "$golden"/good-* <<-'PY'
		import io, subprocess, sys
		import numpy as np, ssbfile
		count = 0
		for path in sys.argv[1:]:
		    for name, array in ssbfile.load(path).arrays.items():
		        for source in open(path, "rb"), subprocess.Popen(["cat", path], stdout=subprocess.PIPE).stdout:
		            with source:
		                npy = subprocess.run(["ssb-info", "--array", name, "-"], stdin=source, stdout=subprocess.PIPE, check=True).stdout
		            got = np.load(io.BytesIO(npy))
		            if got.dtype == "f2":  # complex halves: one more axis
		                got = got.astype("f4").view("c8")[..., 0]
		            assert got.dtype == array.dtype and got.shape == array.shape and got.tobytes() == array.tobytes(), (path, name)
		            assert npy.index(b"\n") % 64 == 63
		            count += 1
		assert count > 20
	PY
}

@test "--array on a pipe keeps only that array" {
	"$BUILD/tests/container" raw x
	cat x | ssb-info --memory 450 --array counts - >counts.npy   # 192 bytes of counts; the JSON header alone needs more than 400
	cat x | ssb-info --memory 600 --array G - >G.npy             # 576 bytes of G
	fails 1 "raise --memory, or read from a file" bash -c "cat x | ssb-info --memory 500 --array G - | cat >/dev/null; exit \${PIPESTATUS[1]}"
	ssb-info --memory 1 --array G x | cmp - G.npy                # mapped
}

@test "--array: no such array, a terminal, damage" {
	make_container x phase '{}'
	fails 3 "'x' has no array 'G'" ssb-info --array G x
	"$PYTHON" - <<-'PY'
		import os, pty, subprocess
		master, terminal = pty.openpty()
		done = subprocess.run(["ssb-info", "--array", "phase", "x"], stdout=terminal, stderr=subprocess.PIPE, text=True)
		assert done.returncode == 2 and "refusing to write binary data to a terminal" in done.stderr, done
		done = subprocess.run(["ssb-info", "-"], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
		assert done.returncode == 2 and "refusing to read binary data from a terminal" in done.stderr, done
	PY
	run ssb-info --array phase "$golden/bad-chunk-hash.phase"
	[ "$status" -eq 3 ]
	[[ $output == *"chunk 1 of 'phase' fails its checksum (bytes 448 to 455)" ]]
}

@test "what cannot be read" {
	: >empty
	echo "some text, which is no container" >text
	fails 3 "cannot read 'empty': it is empty" ssb-info empty
	fails 3 "cannot read 'text': it is no file of ssb-tools" ssb-info text
	fails 3 "cannot read standard input: it is empty (did the tool before fail?)" ssb-info - <empty
	fails 3 "cannot read 'nowhere': No such file" ssb-info nowhere
	fails 3 "cannot read '.': Is a directory" ssb-info .
	fails 3 "cannot read '$golden/bad-truncated-end.phase': the end record is truncated at byte 512" ssb-info "$golden/bad-truncated-end.phase"
	fails 3 "cannot read standard input: the end record is truncated at byte 512" ssb-info - < <(cat "$golden/bad-truncated-end.phase")
}

@test "wrong usage" {
	make_container x phase '{}'
	fails 2 "one file is needed, not 0" ssb-info
	fails 2 "one file is needed, not 2" ssb-info x x
	fails 2 "exclude each other" ssb-info --json --verify x
	fails 2 "exclude each other" ssb-info --json --array phase x
	fails 2 "unknown option '--jsno'" ssb-info --jsno x
	fails 2 "-t, --threads" ssb-info -t abc x
}

@test "control characters of a file do not reach the terminal" {
	make_container x phase '{"data": "red\u001b[31m\u0007", "warnings": [{"tool": "t\u001b", "text": "\u001b]0;"}],
		"parameters": [{"name": "\u001bC10", "value": 1.5, "unit": "\u009bnm", "status": "fixed"}], "k\u007f\u009b": "C1 \u009b31m Å"}'
	ssb-info x >out.txt
	grep -q "red?\[31m?" out.txt
	[ "$(grep -c "$(printf '\033')" out.txt)" -eq 0 ]
	grep -q "^ ?C10  .*1.5 .*?nm .*fixed" out.txt
	grep -q "k?? .*C1 ?31m Å" out.txt
	"$PYTHON" -c 'text = open("out.txt", encoding="utf-8").read(); assert not any(ord(c) < 32 and c != "\n" or 126 < ord(c) < 160 for c in text)'
}

@test "a full device, and a reader that goes away" {
	make_container x phase '{}'
	for wish in "" --json --verify "--array phase"; do
		run bash -c "ssb-info $wish x >/dev/full"
		[ "$status" -eq 1 ]
		[[ $output == "ssb-info: cannot write standard output: No space left on device" ]]
	done
	"$PYTHON" - <<-'PY'
		import os, signal, subprocess
		for wish in [], ["--json"], ["--array", "phase"]:
		    reader, writer = os.pipe()
		    os.close(reader)
		    done = subprocess.run(["ssb-info", *wish, "x"], stdout=writer, stderr=subprocess.PIPE, restore_signals=False)
		    os.close(writer)
		    assert done.returncode == -signal.SIGPIPE and not done.stderr, done
	PY
}

@test "-h goes to standard output" {
	ssb-info -h | grep -q "^usage: ssb-info"
}
