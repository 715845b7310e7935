#!/usr/bin/env bats
# A folder of acquisitions through ssb.mk.
load helpers
bats_require_minimum_version 1.5.0

ssbmk() { make --no-print-directory -f "$top/tools/ssb.mk" SSB_BIN="$BUILD/bin" "$@"; }

# what is in ssb/ now, and the names of what changed since
remember() { stat -c '%n %i %y' ssb/*.* >remembered.txt; }
changed() { stat -c '%n %i %y' ssb/*.* | comm -13 remembered.txt - | cut -d ' ' -f 1 | xargs; }

# the cell of acquisition $1 in column $2 of the summary
cell() { awk -F '\t' -v name="$1" -v column="$2" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == column) c = i} $1 == name {print $c}' ssb/summary.tsv; }

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	mkdir made && cd made || return
	for seed in 1 2 3; do
		ssb-sim -q s$seed --scan 20x16 --detector 24x24 --radius 5 --step 0.4 --dose 100 --seed $seed
	done
	printf '%s\n' 'KV = 80' 'SEMIANGLE = 30  # mrad' 'STEP = 0.4' 'SCAN = 20x16' 'SAMPLING = 6' 'FIT = --range C10=-14nm:-10nm --range C12=3nm --fix rotation=15deg --fix transposed=no' >ssb.settings
	ssbmk -j2 >../first.txt 2>&1
}

setup() { cp -a "$BATS_FILE_TMPDIR/made" "$BATS_TEST_TMPDIR/folder" && cd "$BATS_TEST_TMPDIR/folder" || return; }

@test "three acquisitions: everything is made once, and nothing the second time" {
	for name in s1 s2 s3; do
		for kind in region spectrum fit phase tif png npz log; do [ -s ssb/$name.$kind ] || return 1; done
		[ "$(cell $name status)" = "done" ]
		[ "$(cell $name C10_nm)" = "$(ssb-info --get meta.parameters.C10.value ssb/$name.fit | awk '{printf "%.6g", $0}')" ]
		[ -z "$(cell $name error)" ]
		grep -q '^ssb-fit: C10 ' ssb/$name.log
	done
	[ "$(grep -c ': decode$' "$BATS_FILE_TMPDIR/first.txt")" -eq 3 ]
	[ "$(wc -l <ssb/summary.tsv)" -eq 4 ]
	remember
	ssbmk -j2 >out.txt
	[ "$(changed)" = "" ]
	[ "$(cat out.txt)" = "ssb/summary.tsv: 3 done, 0 failed" ]
}

@test "a changed fit option: only fit, phase and pictures" {
	remember
	sed -i 's/--range C12=3nm/--fix C12=2nm,20deg/' ssb.settings
	ssbmk -j2
	[ "$(changed)" = "$(echo ssb/s{1,2,3}.{fit,log,npz,phase,png,tif} ssb/summary.tsv)" ]
	[ "$(ssb-info --get meta.parameters.C12.status ssb/s2.fit)" = fixed ]
	[ "$(cell s2 C12_error_nm)" = "" ]
	remember
	ssbmk
	[ "$(changed)" = "" ]
}

@test "an acquisition's own settings go before the folder's" {
	remember
	echo 'RECON = --estimator ssb' >s2.settings
	ssbmk -j2
	[ "$(changed)" = "$(echo ssb/s2.{log,npz,phase,png,tif})" ]
	[ "$(ssb-info --get meta.estimator ssb/s1.phase)" = ls ]
	[ "$(ssb-info --get meta.estimator ssb/s2.phase)" = ssb ]
	rm s2.settings
	ssbmk -j2
	[ "$(ssb-info --get meta.estimator ssb/s2.phase)" = ls ]
}

@test "the broken one of four is reported while the rest are done, and is done once it is repaired" {
	rm -r ssb
	ssb-sim -q s4 --scan 20x16 --detector 24x24 --radius 5 --step 0.4 --dose 100 --seed 4
	cp s4_data_000001.h5 whole
	truncate -s 30000 s4_data_000001.h5
	run -2 ssbmk -j2
	[[ "$output" == *"ssb/summary.tsv: 3 done, 1 failed"* ]]
	[[ "$output" == *"s4: ssb-decode: "*s4_data_000001.h5* ]]
	for name in s1 s2 s3; do
		[ "$(cell $name status)" = "done" ]
		[ -s ssb/$name.png ]
	done
	[ "$(cell s4 status)" = failed ]
	[[ "$(cell s4 error)" == "ssb-decode: "*s4_data_000001.h5* ]]
	grep -qF "$(cell s4 error)" ssb/s4.log
	[ "$(echo ssb/s4*)" = ssb/s4.log ]
	remember
	mv whole s4_data_000001.h5
	ssbmk -j2
	[ "$(changed)" = "$(echo ssb/s4.{fit,log,npz,phase,png,region,spectrum,tif} ssb/summary.tsv)" ]
	[ "$(cell s4 status)" = "done" ]
}

@test "what fails takes its old results along, and only those" {
	remember
	echo 'FIT = --fix nonsense=1' >s3.settings
	run -2 ssbmk -j2
	[ "$(echo ssb/s3.*)" = "$(echo ssb/s3.{log,region,spectrum})" ]
	[ "$(changed)" = "ssb/s3.log ssb/summary.tsv" ]
	[[ "$(cell s3 error)" == *nonsense* ]]
	[ -z "$(cell s3 C10_nm)" ]
	rm s3.settings
	ssbmk -j2
	[ "$(cell s3 status)" = "done" ]
}

@test "regions and spectra may be deleted; they come back when a stage needs them" {
	rm ssb/*.region ssb/*.spectrum
	remember
	ssbmk -j2
	[ "$(changed)" = "" ]
	echo 'FIT = --fix C12=0' >s1.settings
	ssbmk -j2
	[ "$(changed)" = "$(echo ssb/s1.{fit,log,npz,phase,png,region,spectrum,tif} ssb/summary.tsv)" ]
}

@test "a file named in options, and the acquisition's own files, are inputs" {
	"$PYTHON" -c 'import numpy; numpy.save("hot.npy", numpy.zeros((24, 24), "u1"))'
	echo 'DECODE = --mask hot.npy' >s1.settings
	ssbmk
	remember
	touch hot.npy s2_data_000001.h5
	ssbmk
	[ "$(changed)" = "$(echo ssb/s{1,2}.{fit,log,npz,phase,png,region,spectrum,tif})" ]
}

@test "formats: what is no longer asked for is removed" {
	remember
	echo 'FORMATS = npy png' >>ssb.settings
	ssbmk
	[ "$(echo ssb/s1.*)" = "$(echo ssb/s1.{fit,log,npy,phase,png,region,spectrum})" ]
}

@test "acquisitions in another folder, which is left alone" {
	mkdir elsewhere && mv s1_* elsewhere && rm -r s2_* s3_* ssb
	chmod a-w elsewhere
	echo 'DATA = elsewhere' >>ssb.settings
	ssbmk
	[ "$(cell s1 status)" = "done" ]
	[ "$(ls elsewhere | wc -l)" -eq 4 ]
	chmod u+w elsewhere
}

# refused WORDS: ssb.mk stops at once with these words, and leaves the results as they are
refused() {
	local words=$1; shift
	remember
	run -2 ssbmk "$@"
	[[ "$output" == *"$words"* ]] || { echo "$output"; return 1; }
	[ "$(changed)" = "" ]
}

@test "settings that are missing, misspelt or misplaced stop it before anything is done" {
	sed -i '/SEMIANGLE/d' ssb.settings
	refused "no SEMIANGLE for 's1'"
	echo 'SEMIANGEL = 30' >>ssb.settings
	refused "ssb.settings: there is no setting 'SEMIANGEL'"
	sed -i 's/SEMIANGEL/SEMIANGLE/' ssb.settings
	echo 'fit = --fix C12=0' >s2.settings
	refused "s2.settings: there is no setting 'fit'"
	rm s2.settings
	mv s3_master.h5 's 3_master.h5'
	refused "rename 's 3_master.h5'"
	rm ./*_master.h5
	refused "no *_master.h5 in '.'"
	rm ssb.settings
	ssbmk clean
	[ ! -e ssb ]
}
