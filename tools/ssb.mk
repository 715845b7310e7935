# ssb.mk: a folder of acquisitions, from the camera's files to pictures and a table.
#
# Beside the NAME_master.h5 files write what you know into ssb.settings:
#
#     SEMIANGLE = 30           convergence semiangle in mrad: needed
#     STEP      = 0.264        scan step in A: needed
#     KV        = 80           high tension (default: what the files state)
#     SCAN      = 64x64        scan shape, rows x columns (default: what the files state)
#     SAMPLING  = 0.57         detector sampling in mrad per pixel (default: from the semiangle and the disk)
#     DECODE, PREP, FIT, RECON, SAVE = more options of each tool (default: RECON = --upsample auto)
#     FORMATS   = tif png npz  the files to save (this is the default)
#     DATA      = /raw/monday  where the NAME_master.h5 files are, if not here
#
# and where one acquisition differs, such lines into NAME.settings. Then, as often as you like:
#
#     make -f /usr/local/share/ssb-tools/ssb.mk -j2
#
# Results are in the folder ssb: NAME.region, .spectrum, .fit, .phase, the pictures, NAME.log (what the tools said), and summary.tsv, a line
# for each acquisition. Only what changed is done again: a stage whose input, options, or files named in its options changed, and
# those after it. An acquisition that fails does not stop the others: the summary says why, its results from that stage on are
# removed, and it is tried again the next time. Regions and spectra may be deleted to save space. "make -f … clean" removes the folder ssb.

.SUFFIXES:
.SECONDARY:
.DEFAULT_GOAL := all
self := $(realpath $(lastword $(MAKEFILE_LIST)))

# The tools: installed beside this file, or built in its source tree, or in PATH.
SSB_BIN ?= $(dir $(firstword $(realpath $(addprefix $(dir $(self)),../../bin/ssb-decode ../build/bin/ssb-decode))))
tool     = $(if $(SSB_BIN),$(SSB_BIN)/)ssb-$1

settings := SEMIANGLE STEP KV SCAN SAMPLING DECODE PREP FIT RECON SAVE FORMATS
stages   := decode prep fit recon save
pictures := tif png npz npy h5 json zip
# What a stage that fails takes with it: its own result and the later ones.
spoils.save   := $(pictures)
spoils.recon  := phase $(spoils.save)
spoils.fit    := fit $(spoils.recon)
spoils.prep   := spectrum $(spoils.fit)
spoils.decode := region $(spoils.prep)

clean:
	rm -rf ssb

ifneq ($(MAKECMDGOALS),clean)

# ---- settings: for each acquisition the defaults, then the folder's, then its own ----

define defaults
$(foreach s,$(settings),
$s :=)
RECON := --upsample auto
FORMATS := tif png npz
endef

differ = $(or $(subst x$1x,,x$2x),$(subst x$2x,,x$1x))
# $1 name, $2 stage: $(ssb.STAGE.NAME) are its options; a file keeps them, and is rewritten only when they change.
define keep
$(if $(call differ,ssb-$2 $(ssb.$2.$1),$(file <ssb/.state/$1.$2)),$(file >ssb/.state/$1.$2,ssb-$2 $(ssb.$2.$1)))
endef

known_settings = $(if $(filter-out $(known),$(.VARIABLES)),\
	$(error $1: there is no setting '$(filter-out $(known),$(.VARIABLES))', only $(settings) and DATA))
need = $(if $($2),,$(error no $2 for '$1': write a line "$2 = $3" into ssb.settings or $1.settings))

define acquisition
$(eval $(defaults))
$(eval -include ssb.settings $(wildcard $1.settings))
$(call known_settings,$1.settings)
$(call need,$1,SEMIANGLE,30) $(call need,$1,STEP,0.264)
$(eval ssb.decode.$1 := $(strip $(if $(SCAN),--scan $(SCAN)) $(DECODE)))
$(eval ssb.prep.$1   := $(strip $(if $(KV),--kv $(KV)) --semiangle $(SEMIANGLE) --step $(STEP) $(if $(SAMPLING),--sampling $(SAMPLING)) $(PREP)))
$(eval ssb.fit.$1    := $(strip $(FIT)))
$(eval ssb.recon.$1  := $(strip $(RECON)))
$(eval ssb.save.$1   := $(strip $(SAVE)))
$(eval ssb.files.$1  := $(patsubst %,ssb/$1.%,$(FORMATS)))
$(foreach s,$(stages),$(call keep,$1,$s))
endef

DATA  := .
known = # the variables that are no surprise in a settings file
known := $(.VARIABLES) $(settings) data names strange .% ssb.%
-include ssb.settings
$(call known_settings,ssb.settings)
data  := $(or $(strip $(DATA)),.)
names := $(patsubst $(data)/%_master.h5,%,$(wildcard $(data)/*_master.h5))

strange := $(shell cd '$(data)' && ls -d *[!A-Za-z0-9._+@-]*_master.h5 2>/dev/null)
$(if $(strange),$(error rename '$(strange)': make takes only letters, digits and . _ + @ - in a name))
$(if $(names),,$(error no *_master.h5 in '$(data)'))
$(shell mkdir -p ssb/.state)
$(foreach n,$(names),$(call acquisition,$n))

# ---- stages ----

# $1 name, $2 stage, $3 command
define run
@echo '$1: $2'
@log=ssb/$1.log failed=ssb/.state/$1.failed; $(if $(filter decode,$2),rm -f $$log;) sed 's/^/$$ /' ssb/.state/$1.$2 >>$$log; \
if $3 2>>$$log; then rm -f $$failed; else status=$$?; rm -f $(patsubst %,ssb/$1.%,$(spoils.$2)); \
	tail -n 1 $$log | grep '^ssb-' | grep -v ': warning: ' >$$failed || echo "ssb-$2 ended with status $$status" >$$failed; \
	sed 's/^/$1: /' $$failed >&2; exit $$status; fi
endef

ssb/%.region: $(data)/%_master.h5 ssb/.state/%.decode
	$(call run,$*,decode,$(call tool,decode) $< $(ssb.decode.$*) -o $@)
ssb/%.spectrum: ssb/%.region ssb/.state/%.prep
	$(call run,$*,prep,$(call tool,prep) $< $(ssb.prep.$*) -o $@)
ssb/%.fit: ssb/%.spectrum ssb/.state/%.fit
	$(call run,$*,fit,$(call tool,fit) $< $(ssb.fit.$*) -o $@)
ssb/%.phase: ssb/%.spectrum ssb/%.fit ssb/.state/%.recon
	$(call run,$*,recon,$(call tool,recon) $(wordlist 1,2,$^) $(ssb.recon.$*) -o $@)

# $1 name: its pictures, and what else its stages read: the data files, and files named in options
named_files = $(wildcard $(filter-out -%,$(subst =, ,$(ssb.$2.$1))))
define chain
$(ssb.files.$1) &: ssb/$1.phase ssb/.state/$1.save
	@rm -f $(filter-out $(ssb.files.$1),$(patsubst %,ssb/$1.%,$(pictures)))
	$$(call run,$1,save,$$(call tool,save) $$< $$(ssb.save.$1) $$(ssb.files.$1))
ssb/$1.region: $(wildcard $(data)/$1_data_*.h5 $(data)/$1.h5) $(call named_files,$1,decode)
ssb/$1.spectrum: $(call named_files,$1,prep)
ssb/$1.fit: $(call named_files,$1,fit)
ssb/$1.phase: $(call named_files,$1,recon)
endef
$(foreach n,$(names),$(eval $(call chain,$n)))

pictures: $(foreach n,$(names),$(ssb.files.$n))
	@:

# ---- the whole folder ----

values := $(foreach p,C10 C12 phi12 rotation,parameters.$p.value parameters.$p.standard_error) optics.transposed objective.explained \
          objective.explained_noise
define summary
row() { \
	name=$$1; shift; failed=ssb/.state/$$name.failed; status=done; error=; last=; \
	for file; do [ -e "$$file" ] || status='not done'; done; \
	if [ -e $$failed ]; then status=failed; error=$$(cat $$failed); fi; \
	for kind in fit phase; do [ ! -e ssb/$$name.$$kind ] || last=ssb/$$name.$$kind; done; \
	printf '%s\t' "$$name" "$$status"; \
	{ [ ! -e ssb/$$name.fit ] || $(call tool,info) $(values:%=--get meta.%) ssb/$$name.fit; } | \
		awk '{printf "%s\t", /^[-+.0-9eE]+$$/ ? sprintf("%.6g", $$0) : $$0} END {for (n = NR; n < $(words $(values)); n++) printf "\t"}'; \
	{ [ -z "$$last" ] || $(call tool,info) --get meta.warnings $$last; } | awk '{n = gsub(/"tool":/, "")} END {printf "%s\t", n}'; \
	echo "$$error"; \
}; \
printf '%s\t' acquisition status C10_nm C10_error_nm C12_nm C12_error_nm phi12_deg phi12_error_deg rotation_deg rotation_error_deg \
	transposed explained explained_noise warnings; echo error; \
$(foreach n,$(names),row $n $(ssb.files.$n);)
endef

all:
	@$(MAKE) --no-print-directory -k -f $(self) pictures || true
	@{ $(summary) } >ssb/.state/summary; cmp -s ssb/.state/summary ssb/summary.tsv || cp ssb/.state/summary ssb/summary.tsv; \
	awk -F '\t' 'NR > 1 {n[$$2 == "done"]++} END {printf "ssb/summary.tsv: %d done, %d failed\n", n[1], n[0]; exit n[0] > 0}' ssb/summary.tsv

endif
.PHONY: all pictures clean
