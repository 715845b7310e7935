#!/usr/bin/env bats
# make install puts everything where it is found again.
load helpers

case $BUILD in *-san) san=1 ;; *) san= ;; esac
install_to() { make -C "$top" --no-print-directory BUILD="$BUILD" SAN=$san PREFIX=/opt/ssb DESTDIR="$PWD/root" "$@"; }

@test "programs, manual pages, ssb.mk and the licence; uninstall removes them all" {
	install_to install >log.txt
	for tool in decode prep fit recon save info sim; do
		root/opt/ssb/bin/ssb-$tool --version | grep -q "^ssb-$tool "
		man --warnings -E UTF-8 -l root/opt/ssb/share/man/man1/ssb-$tool.1 2>&1 >/dev/null | diff - /dev/null
	done
	for file in share/man/man5/ssb-format.5 share/ssb-tools/ssb.mk share/ssb-tools/ssbfile.py share/doc/ssb-tools/README.md \
		share/doc/ssb-tools/demo.png share/doc/ssb-tools/LICENSE share/doc/ssb-tools/SPEC.md; do
		[ -s root/opt/ssb/$file ]
	done
	[ -z "$(find root -type f -perm /022)" ]
	install_to uninstall >log.txt
	[ -z "$(find root ! -type d)" ]
}

@test "the installed ssb.mk finds the programs beside it" {
	install_to install >log.txt
	mkdir folder && cd folder
	ssb-sim -q x --scan 12x12 --detector 20x20 --radius 5 --step 0.4 --dose 100
	printf '%s\n' 'SEMIANGLE = 30' 'STEP = 0.4' 'SCAN = 12x12' 'FORMATS = npy' \
		'FIT = --fix C10=-12nm --fix C12=0 --fix rotation=15deg --fix transposed=no' >ssb.settings
	PATH=$(getconf PATH) make --no-print-directory -f ../root/opt/ssb/share/ssb-tools/ssb.mk || { cat ssb/*.log; return 1; }
	[ -s ssb/x.npy ]
}
