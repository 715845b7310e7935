#!/usr/bin/env bats
# The benchmark, tiny: that it runs and what it says; never how fast anything is.
load helpers

bench() { SSB_BENCH_DIR=$PWD/kept SSB_BENCH_WORK=$PWD BUILD=$BUILD "$PYTHON" "$top/tests/bench/bench.py" "$@"; }
tiny=(small --scan 20 --detector 26 --radius 8 --fit "--range C10=-30nm:30nm --range C12=5nm")

@test "a table in which every number is there, lines of a history, and nothing left behind" {
	bench "${tiny[@]}" >history.tsv 2>table.txt
	"$PYTHON" - <<-'PY'
		import re
		lines = [line.rstrip("\n") for line in open("table.txt") if not line.startswith("#")]
		notes = [line for line in open("table.txt") if line.startswith("#")]
		columns = lines[0].split()
		rows = [dict(zip(columns, re.split("  +", line))) for line in lines[1:]]
		assert all(len(re.split("  +", line)) == len(columns) for line in lines), lines
		number = lambda text: float(text) >= 0
		stages = {"files": ["decode", "prep", "fit", "recon native", "save native", "recon upsample 3", "save upsample 3"],
		          "pipes": ["decode | prep", "fit", "recon | save native", "recon | save upsample 3"]}
		for way, names in stages.items():
		    mine = [row for row in rows if row["way"] == way]
		    assert [row["stage"] for row in mine if row["stage"][0] != "-"] == names + ["total"], mine
		    for row in mine:
		        wanted = ["wall_s", "cpu_s"] + ["in_GB", "out_GB"] * (row["stage"] != "total") + ["peak_rss_GB"] * (row["stage"][0] != "-")
		        rated = row["stage"] in names and not row["stage"].startswith("save")
		        compared = rated and "skipped" not in "".join(notes)
		        wanted += ["rate"] * rated + ["roofline_s", "ratio"] * compared
		        assert all(number(row[c]) for c in wanted), (wanted, row)
		        assert (row["rate_unit"] != "-") == rated and (row["stage"][0] == "-") == (row["peak_rss_GB"] == "-"), row
		    whole = sum(float(row["wall_s"]) for row in mine if row["stage"] in names)
		    assert abs(whole - float(mine[-1]["wall_s"])) < 0.01 * whole, mine
		phases = {row["stage"] for row in rows if row["stage"][0] == "-"}
		assert {"- decode: decode", "- prep: transform", "- fit: search", "- recon: reconstruct", "- save: write"} <= phases, phases
		digests = [re.search("digest (.*)", note).group(1) for note in notes if "digest" in note]
		assert len(digests) == 2 and len(set(digests)) == 1, notes
		assert all("truth -8.000" in note and "nan" not in note for note in notes if "digest" in note), notes
		history = [line.rstrip("\n").split("\t") for line in open("history.tsv")]
		assert [h[3] for h in history] == [f"{r['case']} {r['way']} {r['stage']}" for r in rows if r["stage"][0] != "-"], history
		assert all(len(h) == 6 and re.fullmatch(r"\d{4}-\d\d-\d\d", h[0]) and number(h[4]) and (h[5] == "-" or number(h[5])) for h in history)
	PY
	[ "$(ls kept)" = "$(printf '%s\n' A20-26-8_data_000001.h5 A20-26-8_master.h5 A20-26-8_truth.json A20-26-8_truth_phase.npy)" ]
	[ -z "$(find . -name 'ssb-bench-*')" ]
	grep -q h5py table.txt # its row, or why there is none

	before=$(stat -c %Y.%i kept/*) # made once, and again only for another command
	bench "${tiny[@]}" >/dev/null 2>&1
	[ "$(stat -c %Y.%i kept/*)" = "$before" ]
}

@test "what cannot be run is said, with a status" {
	run bench "${tiny[@]}" --repeat 2 --prep "--nonsense"
	[ "$status" -eq 1 ] && [[ $output == *"unknown option '--nonsense'"* ]]
	[ -z "$(find . -name 'ssb-bench-*')" ]
}

@test "growth: a row for each size, the first the measure of the others" {
	bench growth --sizes 12 16 --detector 26 --radius 8 --fit "--range C10=-30nm:30nm --range C12=5nm" >table.txt
	grep -v '^#' table.txt | awk 'NR == 1 {ok = $1 == "scan" && NF == 8; next} {ok = ok && NF == 8 && $2 > 0 && $3 > 0 && $4 > 0 && $5 > 0; n++}
		NR == 2 {ok = ok && $6 == 1 && $7 == 1 && $8 == 1} END {exit !(ok && n == 2)}'
}

@test "the roofline refuses what is no chunk" {
	roofline=$BUILD/bench/roofline
	for what in "copy 1000" "read 1000" "touch 10000000" "write 10000000 written" "fft 8 6 10"; do
		"$roofline" $what | awk '{exit !($1 > 0)}'
	done
	head -c 100 /dev/zero | tr '\0' x >junk
	fails_plainly() { rc=0; "$@" >out.txt 2>err.txt || rc=$?; [ $rc -eq 1 ] && [ ! -s out.txt ]; }
	[ "$(stat -c %s written)" -eq 10000000 ]
	echo | fails_plainly "$roofline" write 10 written
	echo "0 100 junk" | fails_plainly "$roofline" lz4 2
	echo "0 200 junk" | fails_plainly "$roofline" lz4 2
	echo "0 5 nowhere" | fails_plainly "$roofline" lz4 2
}
