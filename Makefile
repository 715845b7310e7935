# make            builds every tool into build/bin
# make setup      installs what a Debian machine needs (as root, or through sudo)
# make demo       simulates an acquisition and takes it through all five stages into demo/
# make check      builds and runs every test
# make lint       clang-tidy, cppcheck, shellcheck
# make fuzz       runs each libFuzzer target (clang) for FUZZ_SECONDS; make check replays their committed corpus without clang
# make SAN=1 …    the same with AddressSanitizer and UBSan, in build-san/
# make install PREFIX=/usr/local DESTDIR=

PREFIX ?= /usr/local
PYTHON ?= /usr/bin/python3
SAN    ?=
BUILD  ?= build$(if $(SAN),-san)

# The architecture: each tool's libraries (every one also gets common and formats) and its packages.
TOOLS  := decode prep fit recon save info sim
MODULES_decode  := bitshuffle
MODULES_prep    := transfer
MODULES_fit     := transfer
MODULES_recon   := transfer
MODULES_sim     := transfer bitshuffle
PACKAGES_decode := hdf5 liblz4
PACKAGES_prep   := fftw3f fftw3
PACKAGES_fit    := fftw3f fftw3 lapacke lapack
PACKAGES_recon  := fftw3f fftw3
PACKAGES_save   := hdf5 libpng libtiff-4 libarchive
PACKAGES_sim    := hdf5 liblz4 fftw3f fftw3
PACKAGES_common := jansson libzstd libxxhash
PACKAGES        := $(sort $(foreach t,$(TOOLS) common,$(PACKAGES_$t)))

comma    := ,
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2
CFLAGS   ?= $(if $(SAN),-O1 -fno-omit-frame-pointer,-O3) -g
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -DSSB_NO_CLONES)
ALLFLAGS  = -std=c11 -D_GNU_SOURCE -I. -fopenmp -fno-math-errno -fno-trapping-math $(WARNINGS) $(CFLAGS) $(SANFLAGS) \
            $(shell pkg-config --cflags $(PACKAGES))

sources = $(sort $(wildcard $1/*.c))
objects = $(patsubst %.c,$(BUILD)/%.o,$(call sources,$1))
library = $(BUILD)/lib/lib$(notdir $1).a
BINARIES := $(TOOLS:%=$(BUILD)/bin/ssb-%)
FOLDERS  := formats tools/common tools/transfer tools/bitshuffle

all: $(BINARIES)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALLFLAGS) -MMD -MP -c $< -o $@

define library_rule
$(call library,$1): $(call objects,$1)
	@mkdir -p $$(@D)
	@rm -f $$@
	ar rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call library_rule,$f)))

# $1 tool: everything in tools/ssb-$1 but its main, for the unit programs
define tool_rule
$(BUILD)/bin/ssb-$1: $(call objects,tools/ssb-$1) $(foreach m,$(MODULES_$1) common,$(call library,tools/$m)) $(call library,formats)
	@mkdir -p $$(@D)
	$(CC) $(ALLFLAGS) $(LDFLAGS) $$^ -o $$@ $(shell pkg-config --libs $(PACKAGES_$1) $(PACKAGES_common)) -lm
endef
$(foreach t,$(TOOLS),$(eval $(call tool_rule,$t)))

# Unit programs: tests/unit/NAME.c, linked with every library and with the tools' own code (all but main.c).
UNITS     := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*.c))
TOOL_CODE  = $(filter-out %/main.o,$(foreach t,$(TOOLS),$(call objects,tools/ssb-$t)))
$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/lib/libtools.a $(foreach f,transfer bitshuffle common,$(call library,tools/$f)) $(call library,formats)
	$(CC) $(ALLFLAGS) $(LDFLAGS) $^ -o $@ $(shell pkg-config --libs $(PACKAGES)) -lm
$(BUILD)/lib/libtools.a: $(TOOL_CODE)
	@mkdir -p $(@D)
	@rm -f $@
	ar rcs $@ $^

units: $(UNITS)

check: all units
	BUILD=$(BUILD) PYTHON=$(PYTHON) tests/run

# Fuzz targets: tests/fuzz/NAME.c, begun from tests/fuzz/corpus/NAME; tests/unit/fuzz_NAME.c replays that corpus.
FUZZ_SECONDS ?= 60
FUZZ_NAMES   := $(filter-out replay,$(notdir $(basename $(wildcard tests/fuzz/*.c))))
FUZZ_SOURCES := $(call sources,formats) $(call sources,tools/bitshuffle)
FUZZ_LIBS     = $(shell pkg-config --libs $(PACKAGES_common) liblz4)
build-fuzz/%: tests/fuzz/%.c $(FUZZ_SOURCES)
	@mkdir -p $(@D)
	clang -std=c11 -D_GNU_SOURCE -I. -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -DSSB_NO_CLONES $^ -o $@ $(FUZZ_LIBS)
FUZZ_SEEDS_container := tests/golden/format
fuzz: $(FUZZ_NAMES:%=fuzz-%)
fuzz-%: build-fuzz/%
	@mkdir -p build-fuzz/corpus/$*
	$< -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -artifact_prefix=build-fuzz/ build-fuzz/corpus/$* tests/fuzz/corpus/$* $(FUZZ_SEEDS_$*)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

clean:
	rm -rf build build-san build-fuzz

.PHONY: all units check fuzz clean
.SECONDARY:
