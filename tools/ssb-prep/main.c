/* ssb-prep: from counts to the spectrum G(q,k), with the calibration that everything after it uses. */
#include <fftw3.h>
#include <string.h>
#include "tools/common/cli.h"
#include "tools/common/message.h"
#include "tools/common/meta.h"
#include "tools/common/profile.h"
#include "tools/ssb-prep/checks.h"
#include "tools/ssb-prep/report.h"
#include "tools/ssb-prep/store.h"

/* Options that may also be "auto" or absent: the parsers of cli.h, and whether the value was given. */
static bool parse_centre(const cli_option *option, const char *text, ssb_error *err)
{
	settings *s = option->target;
	const cli_option inner = {.target = s->centre_px};
	return s->centre_given = cli_pair(&inner, text, err);
}

static bool parse_radius(const cli_option *option, const char *text, ssb_error *err)
{
	settings *s = option->target;
	const cli_option inner = {.target = &s->radius_px};
	s->radius_given = cli_number(&inner, text, err);
	return s->radius_given && (s->radius_px > 0 || ssb_fail(err, SSB_USAGE, "'%s' is not positive", text));
}

static bool parse_rotation(const cli_option *option, const char *text, ssb_error *err)
{
	settings *s = option->target;
	const cli_option inner = {.target = &s->rotation_deg};
	s->rotation_given = strcmp(text, "auto") != 0;
	return !s->rotation_given || cli_angle(&inner, text, err);
}

static bool parse_transposition(const cli_option *option, const char *text, ssb_error *err)
{
	settings *s = option->target;
	int choice = 0;
	const cli_option inner = {.argument = option->argument, .target = &choice};
	const bool ok = cli_choice(&inner, text, err);
	s->transposition = choice;
	return ok;
}

static bool parse_precision(const cli_option *option, const char *text, ssb_error *err)
{
	settings *s = option->target;
	int choice = 0;
	const cli_option inner = {.argument = option->argument, .target = &choice};
	const bool ok = cli_choice(&inner, text, err);
	s->precision = choice;
	return ok;
}

static bool check_operands(const cli_common *common, const settings *s, const char *output, ssb_error *err)
{
	if (common->operands != 1)
		return ssb_fail(err, SSB_USAGE, "%s (ssb-prep -h shows the usage)", common->operands ? "one region at a time" : "which region?");
	if (!s->semiangle_mrad)
		return ssb_fail(err, SSB_USAGE, "--semiangle is needed: the convergence semiangle in mrad");
	if (!s->step_A[0])
		return ssb_fail(err, SSB_USAGE, "--step is needed: the scan step in A");
	return cli_distinct(common->operand[0], output, err);
}

static void show_progress(size_t done, size_t total)
{
	message_progress("transform", done, total);
}

static bool prepare(spectrum *s, const region *counts, const settings *given, ssb_error *err)
{
	profile_phase("sums");
	return spectrum_prepare(s, counts, given, show_progress, err) ||
	       ssb_fail_prefix(err, "cannot transform '%s': ", region_name(counts));
}

static bool store(spectrum *s, const cli_program *program, const cli_common *common, const char *output, ssb_error *err)
{
	json_t *warnings = meta_warnings(s->region->meta);
	json_t *inputs = json_array();
	json_array_append_new(inputs, meta_input(s->region->reader, s->region->digest));
	json_t *history = cli_history(program, common, ssb_reader_history(s->region->reader), inputs);
	message_progress("transform", 0, 0);
	report_spectrum(s);
	check_spectrum(s, warnings);
	profile_phase("write");
	const bool ok = store_spectrum(s, output, warnings, history, err);
	message_progress("transform", 0, 0);
	json_decref(warnings);
	json_decref(history);
	return ok;
}

int main(int argc, char **argv)
{
	const char *output = "-";
	settings given = {.transposition = TRANSPOSITION_OPEN};
	const cli_option options[] = {
		{"output", 'o', "SPECTRUM", cli_text, &output, "file to write (default: -, standard output)"},
		{"kv", 0, "KV", cli_kilovolt, &given.kilovolt, "high tension in kV (default: what the region states)"},
		{"semiangle", 0, "MRAD", cli_semiangle, &given.semiangle_mrad, "convergence semiangle in mrad; needed"},
		{"step", 0, "A[,A]", cli_step, given.step_A, "scan step in angstrom, one value or row,column; needed"},
		{"sampling", 0, "MRAD[,MRAD]", cli_sampling, given.sampling_mrad,
		 "detector sampling in mrad per pixel, one value or row,column (default: the semiangle over the radius where the disk falls to half)"},
		{"centre", 0, "R,C", parse_centre, &given, "centre of the bright-field disk in pixels of the full detector (default: measured)"},
		{"radius", 0, "PX", parse_radius, &given, "radius of the bright-field disk in pixels (default: measured)"},
		{"rotation", 0, "DEG|auto", parse_rotation, &given,
		 "rotation from detector to scan frame in degrees, row axis towards column axis; the fit then holds it (default: auto)"},
		{"transpose", 0, "no|yes|auto", parse_transposition, &given,
		 "whether the detector's axes are swapped before the rotation; the fit then holds it (default: auto)"},
		{"precision", 0, "single|half", parse_precision, &given,
		 "of the stored transform: half takes half the bytes and rounds every value to 11 bits, some 3e-4 of itself (default: single)"},
	};
	const cli_program program = {
		.name = "ssb-prep",
		.summary = "transform the counts of a region over the scan: the spectrum G(q,k), with its calibration",
		.operands = "REGION --semiangle MRAD --step A [-o SPECTRUM]",
		.description = "REGION is what ssb-decode wrote, a file or - for standard input.",
		.options = options,
		.option_count = sizeof options / sizeof *options,
		.libraries = fftwf_version,
	};
	cli_common common;
	ssb_error err = {SSB_OK, ""};
	region counts = {0};
	spectrum s = {0};
	cli_parse(&program, &common, argc, argv);
	given.memory = common.memory;
	given.machine_memory = cli_machine_memory();
	given.threads = common.threads;
	profile_phase("read");
	const bool ok = check_operands(&common, &given, output, &err) && region_load(&counts, common.operand[0], common.memory, &err) &&
	                prepare(&s, &counts, &given, &err) && store(&s, &program, &common, output, &err);
	spectrum_free(&s);
	region_close(&counts);
	cli_release(&common);
	return cli_end(ok, &err);
}
