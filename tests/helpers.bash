# Loaded by every suite (load helpers). BUILD says where the tools are; SHARED is the design folder's acquisitions, if present.
top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
: "${BUILD:=build}" "${PYTHON:=/usr/bin/python3}"
case $BUILD in /*) ;; *) BUILD=$top/$BUILD ;; esac
PATH=$BUILD/bin:$PATH
SHARED=$top/../shared
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES # of the make that runs the tests
export LC_ALL=C.UTF-8 PYTHONPATH=$top/formats PYTHONDONTWRITEBYTECODE=1

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# fails STATUS WORDS COMMAND…: exits with STATUS, one line on stderr that begins with the tool's name and holds WORDS, nothing on stdout
fails() {
	local status=$1 words=$2; shift 2
	local rc=0
	"$@" >out.txt 2>err.txt || rc=$?
	[ "$rc" -eq "$status" ] || { echo "status $rc, not $status: $*"; cat err.txt; return 1; }
	grep -qF -- "$words" err.txt || { echo "no '$words' in:"; cat err.txt; return 1; }
	[ ! -s out.txt ] || { echo "something on stdout"; return 1; }
}

needs_shared() { [ -d "$SHARED/data" ] || skip "no ../shared"; }
