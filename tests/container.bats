#!/usr/bin/env bats
# The container between its two readers and through pipes; tests/unit/container*.c do the rest.
load helpers

golden=$BATS_TEST_DIRNAME/golden/format
sample=$BUILD/tests/container # raw|zstd PATH

@test "golden files: ssbfile.py reads the good and refuses the bad" {
	cd "$golden"
	"$PYTHON" - <<-'PY'
		import json, ssbfile
		for name, entry in json.load(open("expected.json")).items():
		    try:
		        container = ssbfile.load(name)
		        arrays = {}
		        for key, value in container.arrays.items():
		            if container.arrays.info[key].dtype == "c4":
		                value = value.view("<f4").astype("<f2")
		            arrays[key] = f"{ssbfile.xxh3(value.tobytes()):016x}"
		        assert "refused" not in entry and arrays == entry["arrays"] and container.digest == entry["digest"], name
		    except ssbfile.FormatError as error:
		        assert "refused" in entry and name in str(error), f"{name}: {error}"
	PY
}

@test "golden files are what make.py makes" {
	PYTHONPATH=$PYTHONPATH "$PYTHON" "$golden/make.py"
	diff -r --exclude=make.py --exclude=expected.json --exclude='*zstd*' . "$golden"
}

@test "ssbfile.py reads what the library writes, mapped where it can" {
	"$sample" raw raw.region
	"$sample" zstd zstd.region
	"$PYTHON" - "$golden/good-ignorable.phase" <<-'PY'
		import sys
		import numpy as np, ssbfile
		raw, zstd = ssbfile.load("raw.region"), ssbfile.load("zstd.region")
		counts = np.where(np.arange(60) < 20, np.arange(60), 700 * np.arange(60) % 65536).astype("u2").reshape(3, 4, 5)
		wave = (np.arange(144) // 10 - 2.5).astype("f4").view("c8")
		for container in raw, zstd:
		    assert container.kind == "region" and container.meta == {"scan_shape": [3, 4], "step_A": 0.1} and container.history == []
		    assert np.array_equal(container["counts"], counts) and container["counts"].dtype == "u2"
		    assert np.array_equal(container["G"], wave) and container["nothing"].shape == (0, 3)
		assert raw.digest != zstd.digest
		assert isinstance(ssbfile.load(sys.argv[1])["phase"], np.memmap)
	PY
}

@test "ssbfile.py as a program: a summary, or status 3 and the reason" {
	"$PYTHON" "$top/formats/ssbfile.py" "$golden/good-zstd.spectrum" >out.txt
	grep -q "^spectrum, digest" out.txt
	grep -q "^sum: u8 \[32\] \[counts\]" out.txt
	fails 3 "chunk 1 of 'phase' fails its checksum" "$PYTHON" "$top/formats/ssbfile.py" "$golden/bad-chunk-hash.phase"
	fails 3 "No such file" "$PYTHON" "$top/formats/ssbfile.py" nowhere
}

@test "both readers agree on unusual JSON" {
	cat >agree.py <<-'PY'
		import subprocess
		import numpy as np, ssbfile
		from make import Chunk, container, entry
		phase = np.arange(4, dtype="<f4")
		text = ('{"kind":"phase","meta":%s,"history":[],"arrays":[{"name":"phase","dtype":"f4","shape":[4],"chunk_elements":4,'
		        '"codec":"raw","unit":"1"}]}')
		good = ["{}", '{"a":-0}', '{"a":1e-400}', '{"a":9223372036854775807}', '{"a":-9223372036854775808}', '{"a":"\\ud83d\\ude00"}', '{"":1}',
		        '{"a":' + "[" * 255 + "]" * 255 + "}"]
		bad = ["[]", "null", '{"a":1e400}', '{"a":9223372036854775808}', '{"a":-9223372036854775809}', '{"a":' + "9" * 5000 + "}", '{"a":NaN}',
		       '{"a":01}', '{"a":1.}', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a":"\\ud800"}', '{"\\ud800":1}', '{"a":"\\u0000"}', '{"a":"\t"}',
		       '{"a":' + "[" * 5000 + "]" * 5000 + "}", '{"a":1,}']
		for meta in good + bad:
		    data, digest = container("phase", [entry("phase", phase, 4)], [Chunk(0, 0, phase)], text=(text % meta).encode())
		    open("x.phase", "wb").write(data)
		    status = subprocess.run(["ssb-info", "--verify", "x.phase"], capture_output=True).returncode
		    try:
		        taken = ssbfile.load("x.phase").digest == digest
		    except ssbfile.FormatError:
		        taken = False
		    assert taken == (meta in good) and status == (0 if meta in good else 3), (meta[:60], taken, status)
	PY
	PYTHONPATH=$PYTHONPATH:$golden "$PYTHON" agree.py
}

@test "ssbfile.py: XXH3 at every length class" {
	"$PYTHON" - <<-'PY'
		import ssbfile
		# from the library, over bytes i * i % 251
		known = {
		    0: 0x2d06800538d394c2, 1: 0xc44bdff4074eecdb, 3: 0x37892f624f40b19c, 4: 0x5206b2e6b553fe7e, 8: 0xbcfe131fa6cb6952,
		    9: 0x95a8b7572f430fef, 16: 0xf36d1380fc3d25fd, 17: 0x85b86fb76a78e347, 32: 0xc25eeb0879ebbfbf, 33:
		    0xe5d79f1ebb9d1991, 64: 0xc5a96db31a91ee2d, 65: 0x6d3a9036ec6103a8, 96: 0x7aec52d9b5f8b485, 97:
		    0x42e0eaaba00e5271, 128: 0xa05397602c0d7380, 129: 0xb0be8561055fb150, 160: 0xefbabbc4782460be, 240:
		    0x2599f7836101b7c7, 241: 0xfa3e3f950b821a67, 1023: 0xfa573b14666f118d, 1024: 0xa3115476086f73f1, 1025:
		    0x66b070bd27327c00, 5000: 0x924c0d5e41418245
		}
		data = bytes(i * i % 251 for i in range(5000))
		for length, value in known.items():
		    assert ssbfile.xxh3(data[:length]) == value, length
	PY
}

@test "a pipe gets the same bytes as a file" {
	for codec in raw zstd; do
		"$sample" $codec file
		"$sample" $codec - | cmp - file
		"$sample" $codec - >redirected
		cmp redirected file
	done
}

@test "a pipe that gives a few bytes at a time" {
	"$sample" zstd file
	"$PYTHON" -c '
import sys, time
data = open("file", "rb").read()
for i in range(0, len(data), 37):
    sys.stdout.buffer.write(data[i:i + 37])
    sys.stdout.flush()
' | ssb-info --verify - >piped
	ssb-info --verify file | cmp - piped
}

@test "a full device is an error that names it" {
	run "$sample" raw /dev/full
	[ "$status" -eq 1 ]
	[[ $output == *"cannot write '/dev/full': No space left on device" ]]
	run bash -c "'$sample' raw - >/dev/full"
	[ "$status" -eq 1 ]
	[[ $output == *"cannot write standard output: No space left on device" ]]
	run "$sample" raw nowhere/x
	[ "$status" -eq 1 ]
	[[ $output == *"cannot write 'nowhere/x': No such file or directory" ]]
}

@test "a closed reader ends the writer quietly, also where SIGPIPE is ignored" {
	"$PYTHON" - "$sample" <<-'PY'
		import os, signal, subprocess, sys
		for action in signal.SIG_DFL, signal.SIG_IGN:
		    reader, writer = os.pipe()
		    os.close(reader)
		    done = subprocess.run([sys.argv[1], "raw", "-"], stdout=writer, stderr=subprocess.PIPE, restore_signals=False,
		                          preexec_fn=lambda: signal.signal(signal.SIGPIPE, action))
		    os.close(writer)
		    assert done.returncode == -signal.SIGPIPE and not done.stderr, done
	PY
}

@test "golden files: ssb-info on every bad one is one line and status 3" {
	for file in "$golden"/bad-*; do
		case $file in *zstd-[dsnt]*) continue ;; esac # damage inside a payload: only reading the array shows it
		fails 3 "ssb-info: cannot read '$file': " ssb-info --verify "$file"
		[ "$(wc -l <err.txt)" -eq 1 ]
	done
	for file in "$golden"/bad-zstd-[dsnt]*; do
		run ssb-info --array phase "$file"
		[ "$status" -eq 3 ]
		[[ $output == *"ssb-info: cannot read '$file': chunk 0 of 'phase' "* ]]
	done
}
