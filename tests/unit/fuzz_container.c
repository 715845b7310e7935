#define FUZZ_CORPUS "tests/fuzz/corpus/container", "tests/golden/format"
#include "tests/fuzz/container.c"
#include "tests/fuzz/replay.c"
