#!/usr/bin/env bats
# The manual pages say what the tools say.
load helpers

tools="decode prep fit recon save info sim"

page() { MANWIDTH=300 man -E UTF-8 -l "$1" | col -bx; }

# the lines of section $1 of a rendered page on stdin, without indentation
section() { awk -v name="$1" '/^[A-Z]/ {inside = $0 == name; next} inside' | sed 's/^ *//'; }

@test "pages render without a warning" {
	for page in "$top"/tools/*/*.1 "$top"/formats/*.5; do
		man --warnings -E UTF-8 -l "$page" >rendered.txt 2>warnings.txt
		[ -s rendered.txt ] && [ ! -s warnings.txt ] || { echo "$page"; cat warnings.txt; return 1; }
	done
}

@test "every tool has a page with all sections, of this version" {
	for tool in $tools; do
		page "$top/tools/ssb-$tool/ssb-$tool.1" >page.txt
		for name in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
			[ -n "$(section "$name" <page.txt)" ] || { echo "ssb-$tool: no $name"; return 1; }
		done
		version=$(ssb-$tool --version | head -n 1)
		grep -q "^ssb-tools ${version#* } " page.txt || { echo "not of $version"; tail -n 1 page.txt; return 1; }
	done
}

@test "the synopsis is the usage of -h" {
	for tool in $tools; do
		page "$top/tools/ssb-$tool/ssb-$tool.1" | section SYNOPSIS | sed '/^$/d' >synopsis.txt
		ssb-$tool -h | sed -n '1s/^usage: //p' | diff - synopsis.txt
	done
}

@test "every option of -h is in the page, and the other way round, with the same argument" {
	for tool in $tools; do
		ssb-$tool -h | grep -E '^  (-.,|   ) --[a-z]' | sed 's/^ *//; s/  .*//' | sort >help.txt
		sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$top/tools/ssb-$tool/ssb-$tool.1" | grep -A 1 '^\.TP' | grep -E '^\\f' |
			sed 's/\\f[BIR]//g; s/\\-/-/g; s/\\\[u2026\]/…/g' | sort >page.txt
		[ "$(wc -l <help.txt)" -ge 8 ]
		diff help.txt page.txt
	done
}
