# make               builds every tool into build/bin
# make setup         installs what a Debian machine needs (as root, or through sudo); goes with any goal: make setup demo
# make demo          simulates an acquisition and takes it through all five stages into demo/
# make check         builds and runs every test: with 1 and 2 threads, and with AddressSanitizer and UBSan
# make lint          clang-tidy, cppcheck, shellcheck (make setup lint installs them, too)
# make study         recovery of random truths and coverage of the error bars (tests/studies), into build/study; goes on where it stopped
# make bench         how fast the tools are on a scan of 128x128, beside h5py; lines for a history.tsv on stdout (tests/bench)
# make bench-full    the same on scans of 512x512, beside published times; simulates some GB into SSB_BENCH_DIR once
# make bench-growth  time per element at 128x128, 256x256, 512x512; options of all three: BENCH="--sizes 512 1024"
# make fuzz          runs each libFuzzer target (clang) for FUZZ_SECONDS; make check replays their committed corpus without clang
# make SAN=1 …       the same with AddressSanitizer and UBSan, in build-san/
# make CUDA=1 …      with the CUDA backend (needs nvcc), in build-cuda/
# make V=1 …         shows the commands
# make install PREFIX=/usr/local DESTDIR=    and uninstall

PREFIX ?= /usr/local
PYTHON ?= /usr/bin/python3
SAN    ?=
CUDA   ?=
BUILD  ?= build$(if $(SAN),-san)$(if $(CUDA),-cuda)

# The architecture: each tool's libraries (every one also gets common and formats) and its packages.
TOOLS  := decode prep fit recon save info sim
MODULES_decode  := bitshuffle
MODULES_prep    := transfer
MODULES_fit     := transfer
MODULES_recon   := transfer
MODULES_sim     := transfer bitshuffle
PACKAGES_decode := hdf5 liblz4
PACKAGES_prep   := fftw3f fftw3
PACKAGES_fit    := fftw3f fftw3 lapacke lapack nlopt
PACKAGES_recon  := fftw3f fftw3
PACKAGES_save   := hdf5 libpng libtiff-4 libarchive
PACKAGES_sim    := hdf5 liblz4 fftw3f fftw3
PACKAGES_common := jansson libzstd libxxhash
PACKAGES        := $(sort $(foreach t,$(TOOLS) common,$(PACKAGES_$t)))

# What Debian calls all that; the second list is what the tests need (bitshuffle and hdf5-filter-plugin: the filters of python3-hdf5plugin).
DEBIAN := gcc libc6-dev make pkg-config libarchive-dev libfftw3-dev libhdf5-dev libjansson-dev liblapacke-dev liblz4-dev libnlopt-dev \
          libpng-dev libtiff-dev libxxhash-dev libzstd-dev
DEBIAN += bats bitshuffle hdf5-filter-plugin man-db python3 python3-h5py python3-hdf5plugin python3-numpy python3-pil python3-tifffile python3-zstandard unzip
DEBIAN += $(if $(filter lint fuzz,$(MAKECMDGOALS)),clang clang-tidy cppcheck libclang-rt-14-dev libomp-dev shellcheck)

comma    := ,
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2
CFLAGS   ?= $(if $(SAN),-O1 -fno-omit-frame-pointer,-O3) -g
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -DSSB_NO_CLONES) $(if $(CUDA),-DSSB_CUDA)
ALLFLAGS  = -std=c11 -D_GNU_SOURCE -I. -fopenmp -fno-math-errno -fno-trapping-math $(WARNINGS) $(CFLAGS) $(SANFLAGS) \
            $(shell pkg-config --cflags $(PACKAGES))

# nvcc from the PATH, or where NVIDIA's packages put it. CUDA_SYNC=1 waits after every kernel, so that a failure names it.
NVCC      ?= $(or $(shell command -v nvcc),/usr/local/cuda/bin/nvcc)
NVCCFLAGS ?= -O3 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90$(comma)compute_90]
CUDA_SYNC ?=
CUDA_LIB   = $(abspath $(dir $(NVCC))../lib64)
CUDA_LIBS  = $(if $(CUDA),-L$(CUDA_LIB) -Wl$(comma)-rpath$(comma)$(CUDA_LIB) -lcufft -lcudart -lstdc++)
LIBS_fit   = $(CUDA_LIBS)
LIBS_recon = $(CUDA_LIBS)

sources = $(sort $(wildcard $1/*.c))
objects = $(patsubst %.c,$(BUILD)/%.o,$(call sources,$1))
library = $(BUILD)/lib/lib$(notdir $1).a
BINARIES := $(TOOLS:%=$(BUILD)/bin/ssb-%)
FOLDERS  := formats tools/common tools/transfer tools/bitshuffle
say       = $(if $(V),,@echo '  $1  $(or $2,$@)';)
SETUP    := $(filter setup,$(MAKECMDGOALS))

all: $(BINARIES)

$(BUILD)/%.o: %.c Makefile | $(SETUP)
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(ALLFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/%.o: %.cu Makefile
	@mkdir -p $(@D)
	$(call say,nvcc,$<)$(NVCC) -std=c++17 -I. $(NVCCFLAGS) $(if $(CUDA_SYNC),-DSSB_CUDA_SYNC) -MMD -MP -c $< -o $@

define library_rule
$(call library,$1): $(call objects,$1)
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(call say,ar)ar rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call library_rule,$f)))
CUDA_SOURCES := $(if $(CUDA),$(wildcard tools/transfer/cuda/*.c tools/transfer/cuda/*.cu))
$(call library,tools/transfer): $(patsubst %,$(BUILD)/%.o,$(basename $(CUDA_SOURCES)))

# $1 tool: its own code with its libraries and packages
define tool_rule
$(BUILD)/bin/ssb-$1: $(call objects,tools/ssb-$1) $(foreach m,$(MODULES_$1) common,$(call library,tools/$m)) $(call library,formats)
	@mkdir -p $$(@D)
	$$(call say,ld)$$(CC) $$(ALLFLAGS) $$(LDFLAGS) $$^ -o $$@ $$(shell pkg-config --libs $(PACKAGES_$1) $(PACKAGES_common)) $$(LIBS_$1) -lm
endef
$(foreach t,$(TOOLS),$(eval $(call tool_rule,$t)))

# Unit programs: tests/unit/NAME.c, linked with every library and with the tools' own code (all but main.c).
UNITS     := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*.c))
TOOL_CODE  = $(filter-out %/main.o,$(foreach t,$(TOOLS),$(call objects,tools/ssb-$t)))
$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/lib/libtools.a $(foreach f,transfer bitshuffle common,$(call library,tools/$f)) $(call library,formats)
	$(call say,ld)$(CC) $(ALLFLAGS) $(LDFLAGS) $^ -o $@ $(shell pkg-config --libs $(PACKAGES)) $(CUDA_LIBS) -lm
$(BUILD)/lib/libtools.a: $(TOOL_CODE)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,ar)ar rcs $@ $^

units: $(UNITS) $(BUILD)/bench/roofline $(BUILD)/bench/kernels

# What the machine can do at best, which the benchmark compares the tools with.
$(BUILD)/bench/roofline: $(BUILD)/tests/bench/roofline.o
	@mkdir -p $(@D)
	$(call say,ld)$(CC) $(ALLFLAGS) $(LDFLAGS) $^ -o $@ $(shell pkg-config --libs fftw3f liblz4) -lm
# Times of the sums over k alone.
$(BUILD)/bench/kernels: $(BUILD)/tests/bench/kernels.o $(foreach f,transfer common,$(call library,tools/$f)) $(call library,formats)
	@mkdir -p $(@D)
	$(call say,ld)$(CC) $(ALLFLAGS) $(LDFLAGS) $^ -o $@ $(shell pkg-config --libs fftw3f fftw3 $(PACKAGES_common)) $(CUDA_LIBS) -lm
bench: what = small
bench-full: what = full
bench-growth: what = growth
bench bench-full bench-growth: all $(BUILD)/bench/roofline
	@BUILD=$(BUILD) $(PYTHON) tests/bench/bench.py $(what) $(BENCH)

# Each run of the tests is a build and a number of threads.
CHECKS ?= $(BUILD):1 $(BUILD):2 $(if $(SAN),,build-san:2)
check: all units $(if $(SAN),,sanitized)
	PYTHON=$(PYTHON) tests/run $(CHECKS)
sanitized: | $(SETUP)
	@$(MAKE) --no-print-directory SAN=1 BUILD=build-san all units

study: all
	@mkdir -p $(BUILD)/study
	BUILD=$(BUILD) $(PYTHON) tests/studies/recovery.py $(BUILD)/study >$(BUILD)/study/recovery.md
	BUILD=$(BUILD) $(PYTHON) tests/studies/coverage.py $(BUILD)/study >$(BUILD)/study/coverage.md
	BUILD=$(BUILD) $(PYTHON) tests/studies/variance_table.py $(BUILD)/study >$(BUILD)/study/variance.md

setup:
	@missing=; for package in $(DEBIAN); do \
		dpkg-query -W -f '$${db:Status-Abbrev}' $$package 2>/dev/null | grep -q '^ii' || missing="$$missing $$package"; done; \
	[ -z "$$missing" ] || { as_root=$$([ "$$(id -u)" -eq 0 ] || echo sudo); set -ex; $$as_root apt-get update; \
		$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing; }

# What a microscopist types, on an acquisition whose truth is known (demo/graphene_truth.json).
demo: all
	@mkdir -p demo
	@cd demo; PATH="$(abspath $(BUILD)/bin):$$PATH"; set -ex; \
	ssb-sim graphene --scan 96x96 --step 0.3 --dose 40 --kv 80 --semiangle 30 --c10 -10nm --c12 2nm,20deg --rotation 15deg; \
	ssb-decode graphene_master.h5 --scan 96x96 | ssb-prep - --kv 80 --semiangle 30 --step 0.3 -o graphene.spectrum; \
	ssb-fit graphene.spectrum -o graphene.fit; \
	ssb-recon graphene.spectrum graphene.fit --upsample 4 -o graphene.phase; \
	ssb-save graphene.phase phase.png phase.tif phase.npz

# cppcheck sees no system headers: its libraries of functions, and one macro, stand in. replay.c is included by unit programs.
LINT_FLAGS = -std=c11 -D_GNU_SOURCE -I. -fopenmp $(patsubst -I%,-isystem%,$(shell pkg-config --cflags $(PACKAGES)))
lint: | $(SETUP)
	find formats tools tests -name '*.c' ! -name replay.c | xargs -P $$(nproc) -I {} clang-tidy --quiet {} -- $(LINT_FLAGS)
	cppcheck --quiet --std=c11 --library=posix --enable=warning,performance --inline-suppr --error-exitcode=1 -j $$(nproc) \
		-D_GNU_SOURCE '-Djson_object_foreach(object,key,value)=while ((key = json_next(object, &value)))' -I. formats tools
	shellcheck .ci/run tests/run
	shellcheck --shell=bats --severity=warning --exclude=SC2010,SC2034,SC2046,SC2054,SC2154 tests/helpers.bash tests/*.bats

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

MAN1 := $(wildcard tools/*/*.1)
MAN5 := $(wildcard formats/*.5)
SHARE := tools/ssb.mk formats/ssbfile.py
DOC := README.md demo.png LICENSE formats/SPEC.md
AT = $(DESTDIR)$(PREFIX)
install: all
	install -d $(AT)/bin $(AT)/share/man/man1 $(AT)/share/man/man5 $(AT)/share/ssb-tools $(AT)/share/doc/ssb-tools
	install $(BINARIES) $(AT)/bin
	install -m 644 $(MAN1) $(AT)/share/man/man1
	install -m 644 $(MAN5) $(AT)/share/man/man5
	install -m 644 $(SHARE) $(AT)/share/ssb-tools
	install -m 644 $(DOC) $(AT)/share/doc/ssb-tools
uninstall:
	rm -f $(addprefix $(AT)/bin/,$(notdir $(BINARIES))) $(addprefix $(AT)/share/man/man1/,$(notdir $(MAN1))) \
		$(addprefix $(AT)/share/man/man5/,$(notdir $(MAN5)))
	rm -rf $(AT)/share/ssb-tools $(AT)/share/doc/ssb-tools

clean:
	rm -rf build build-san build-cuda build-fuzz demo

.PHONY: all units check sanitized study bench bench-full bench-growth setup demo lint fuzz install uninstall clean
.SECONDARY:
