#define FUZZ_CORPUS "tests/fuzz/corpus/chunk"
#include "tests/fuzz/chunk.c"
#include "tests/fuzz/replay.c"
