/* ssb-info: what a file of the suite holds, as text, JSON, or one array; whether it is whole. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/common/cli.h"
#include "tools/common/profile.h"
#include "tools/ssb-info/describe.h"
#include "tools/ssb-info/get.h"
#include "tools/ssb-info/npy.h"

typedef struct wishes { bool json, verify; const char *array; cli_list get; } wishes;

/* The JSON header with the digest in front, as one object. New reference. */
static json_t *header_with_digest(const ssb_reader *reader, const char digest[17])
{
	json_t *object = json_pack("{s:s}", "digest", digest);
	json_object_update(object, (json_t *)ssb_reader_header(reader));
	return object;
}

static bool print_json(const json_t *header, ssb_error *err)
{
	char *text = json_dumps(header, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	const bool ok = text ? puts(text) >= 0 || ssb_fail_errno(err, "cannot write standard output") : ssb_fail(err, SSB_RUNTIME, "out of memory");
	free(text);
	return ok;
}

static bool print_header(const ssb_reader *reader, const char digest[17], const wishes *wanted, ssb_error *err)
{
	json_t *header = header_with_digest(reader, digest);
	bool ok = !wanted->json || print_json(header, err);
	for (size_t i = 0; ok && i < wanted->get.count; i++)
		ok = get_value(stdout, header, wanted->get.item[i], err);
	json_decref(header);
	return ok;
}

static bool print_array(ssb_reader *reader, const char *name, ssb_error *err)
{
	char digest[17];
	ssb_output *output = ssb_output_open("-", err);
	if (output && write_npy_array(output, reader, name, err) && ssb_reader_finish(reader, digest, err))
		return ssb_output_commit(output, err);
	ssb_output_discard(output);
	return false;
}

static bool print_verdict(ssb_reader *reader, ssb_error *err)
{
	char digest[17];
	if (!ssb_reader_finish(reader, digest, err) || !ssb_reader_verify(reader, err))
		return false;
	printf("%s, digest %s: whole, every checksum agrees\n", ssb_kind_name(ssb_reader_kind(reader)), digest);
	return true;
}

static bool print(ssb_reader *reader, const wishes *wanted, ssb_error *err)
{
	char digest[17];
	profile_phase("print");
	if (wanted->array)
		return print_array(reader, wanted->array, err);
	if (wanted->verify)
		return print_verdict(reader, err);
	if (!ssb_reader_finish(reader, digest, err))
		return false;
	if (wanted->json || wanted->get.count)
		return print_header(reader, digest, wanted, err);
	describe(stdout, reader, digest);
	return true;
}

static bool check(const cli_common *common, const wishes *wanted, ssb_error *err)
{
	if (common->operands != 1)
		return ssb_fail(err, SSB_USAGE, "one file is needed, not %zu (ssb-info -h shows the usage)", common->operands);
	if (wanted->json + wanted->verify + (wanted->array != NULL) + (wanted->get.count > 0) > 1)
		return ssb_fail(err, SSB_USAGE, "--json, --get, --array and --verify exclude each other");
	return true;
}

int main(int argc, char **argv)
{
	wishes wanted = {0};
	const cli_option table[] = {
		{"json", 0, NULL, cli_flag, &wanted.json, "the whole header as JSON, with the digest"},
		{"get", 0, "PATH", cli_texts, &wanted.get, "a value of that JSON, such as meta.parameters.C10.value, on a line of its own, which is empty where there is none; may be repeated"},
		{"array", 0, "NAME", cli_text, &wanted.array, "this array in NumPy's format on standard output"},
		{"verify", 0, NULL, cli_flag, &wanted.verify, "check every byte and say the digest"},
	};
	const cli_program program = {
		"ssb-info", "Show what a region, spectrum, fit, phase or map holds.", "FILE",
		"FILE is a file of ssb-tools, or - for standard input. Without an option: kind, warnings, parameters, metadata, arrays and history as text. "
		"A damaged or truncated file is an error with status 3; the arrays themselves are only read by --array and --verify.",
		table, sizeof table / sizeof *table, NULL,
	};
	cli_common common;
	ssb_error err;
	cli_parse(&program, &common, argc, argv);
	profile_phase("read");
	ssb_reader *reader = check(&common, &wanted, &err) ? ssb_reader_open(common.operand[0], common.memory, &err) : NULL;
	const bool ok = reader && print(reader, &wanted, &err);
	ssb_reader_close(reader);
	cli_release(&common);
	return cli_end(ok, &err);
}
