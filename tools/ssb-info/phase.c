/* What a phase has beyond one image: the stack it is, and the resolution that its halves show. */
#include "tools/ssb-info/describe.h"

static void describe_stack(FILE *out, const json_t *stack)
{
	const json_t *values = json_object_get(stack, "values");
	const size_t count = json_array_size(values);
	const char *name = json_string_value(json_object_get(stack, "parameter")), *unit = json_string_value(json_object_get(stack, "unit"));
	if (!count || !name || !unit)
		return;
	fprintf(out, " stack of %zu images: ", count);
	describe_text(out, name);
	fprintf(out, " from %.9g to %.9g ", json_number_value(json_array_get(values, 0)), json_number_value(json_array_get(values, count - 1)));
	describe_text(out, unit);
	fputc('\n', out);
}

static void describe_crossing(FILE *out, const json_t *crossing, const char *threshold)
{
	const json_t *at = json_object_get(crossing, "frequency_per_A"), *result = json_object_get(crossing, "result");
	fprintf(out, " resolution %s ", threshold);
	if (json_is_number(at))
		fprintf(out, "%7.4g Å   the halves' Fourier ring correlation is above it from %.4g to %.4g 1/Å\n",
		        json_number_value(json_object_get(crossing, "resolution_A")),
		        json_number_value(json_object_get(crossing, "above_from_per_A")), json_number_value(at));
	else {
		fputs("      - Å   the halves' Fourier ring correlation: ", out);
		describe_text(out, json_is_string(result) ? json_string_value(result) : "?");
		fputc('\n', out);
	}
}

void describe_phase(FILE *out, const json_t *meta)
{
	const json_t *rings = json_object_get(meta, "fourier_ring_correlation");
	describe_stack(out, json_object_get(meta, "stack"));
	if (json_is_object(rings)) {
		describe_crossing(out, json_object_get(rings, "half_bit"), "half-bit");
		describe_crossing(out, json_object_get(rings, "fixed_0143"), "0.143   ");
	}
}
