#include "tools/ssb-info/describe.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "?";
}

static void describe_warnings(FILE *out, const json_t *warnings)
{
	for (size_t i = 0; i < json_array_size(warnings); i++) {
		const json_t *warning = json_array_get(warnings, i);
		fputs("WARNING (", out);
		describe_text(out, text_of(warning, "tool"));
		fputs("): ", out);
		describe_text(out, text_of(warning, "text"));
		fputc('\n', out);
	}
}

/* The certificate of a fit: what fraction of the signal above the counting noise it explains. */
static void describe_explained(FILE *out, const json_t *objective)
{
	const json_t *explained = json_object_get(objective, "explained"), *noise = json_object_get(objective, "explained_noise");
	if (json_is_number(explained))
		fprintf(out, " explained %14.4f ± %-10.4f       of the signal (1: all, 0: nothing was found)\n", json_number_value(explained),
		        json_number_value(noise));
}

static void describe_arrays(FILE *out, const ssb_reader *reader)
{
	for (size_t i = 0; i < ssb_reader_arrays(reader); i++) {
		const ssb_array *array = ssb_reader_array(reader, i);
		fprintf(out, "  %-18s %-4s", array->name, ssb_dtype_name(array->dtype));
		for (unsigned d = 0; d < array->rank; d++)
			fprintf(out, "%s%llu", d ? " x " : "", (unsigned long long)array->shape[d]);
		fputs("  [", out);
		describe_text(out, array->unit);
		fprintf(out, "] %s, %llu chunk%s\n", array->codec == SSB_ZSTD ? "zstd" : "raw", (unsigned long long)ssb_array_chunks(array),
		        ssb_array_chunks(array) == 1 ? "" : "s");
	}
}

/* As it was typed: " --key value", " --key" for a flag, once for each item of a list. */
static void describe_option(FILE *out, const char *key, const json_t *value)
{
	if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++)
			describe_option(out, key, json_array_get(value, i));
		return;
	}
	fputs(" --", out);
	describe_text(out, key);
	if (json_is_string(value)) {
		fputc(' ', out);
		describe_text(out, json_string_value(value));
	}
}

static void describe_stage(FILE *out, const json_t *stage)
{
	const char *key;
	json_t *value;
	const json_t *inputs = json_object_get(stage, "inputs");
	fputs("  ", out);
	describe_text(out, text_of(stage, "tool"));
	fputc(' ', out);
	describe_text(out, text_of(stage, "version"));
	json_object_foreach(json_object_get(stage, "options"), key, value)
		describe_option(out, key, value);
	for (size_t i = 0; i < json_array_size(inputs); i++) {
		fputs(i ? ", " : "; from ", out);
		describe_text(out, text_of(json_array_get(inputs, i), "kind"));
		fputc(' ', out);
		describe_text(out, text_of(json_array_get(inputs, i), "digest"));
	}
	if (json_object_get(stage, "time")) {
		fputs("; ", out);
		describe_text(out, text_of(stage, "time"));
	}
	fputc('\n', out);
}

void describe(FILE *out, const ssb_reader *reader, const char digest[17])
{
	static const char *const elsewhere[] = {"warnings", "parameters", "explained", "explained_noise", "axes", "best", "half_bit", "fixed_0143", NULL};
	const json_t *meta = ssb_reader_meta(reader), *history = ssb_reader_history(reader);
	fprintf(out, "%s, digest %s\n", ssb_kind_name(ssb_reader_kind(reader)), digest);
	describe_warnings(out, json_object_get(meta, "warnings"));
	describe_parameters(out, json_object_get(meta, "parameters"));
	if (ssb_reader_kind(reader) == SSB_MAP)
		describe_map(out, meta);
	if (ssb_reader_kind(reader) == SSB_PHASE)
		describe_phase(out, meta);
	describe_explained(out, json_object_get(meta, "objective"));
	describe_meta(out, meta, 2, elsewhere);
	fputs("arrays\n", out);
	describe_arrays(out, reader);
	fputs("history\n", out);
	for (size_t i = 0; i < json_array_size(history); i++)
		describe_stage(out, json_array_get(history, i));
}
