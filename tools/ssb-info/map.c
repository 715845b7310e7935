#include "tools/ssb-info/describe.h"

/* The unit of an axis, "" for a pure number. */
static const char *unit_of(const json_t *axis)
{
	const char *unit = json_string_value(json_object_get(axis, "unit"));
	return unit && *unit != '1' ? unit : "";
}

static void describe_quantity(FILE *out, const json_t *axis, const json_t *value)
{
	const char *name = json_string_value(json_object_get(axis, "name"));
	describe_text(out, name ? name : "?");
	fprintf(out, " %.6g%s", json_number_value(value), *unit_of(axis) ? " " : "");
	describe_text(out, unit_of(axis));
}

static void describe_axis(FILE *out, const json_t *axis)
{
	const json_t *values = json_object_get(axis, "values");
	const size_t count = json_array_size(values);
	fputs("  map over ", out);
	describe_quantity(out, axis, json_array_get(values, 0));
	fprintf(out, " … %.6g%s", json_number_value(json_array_get(values, count ? count - 1 : 0)), *unit_of(axis) ? " " : "");
	describe_text(out, unit_of(axis));
	fprintf(out, ", %zu values\n", count);
}

/* ", 0.98 of the signal explained", where the likelihood's noise and signal are known. */
static void describe_explained(FILE *out, const json_t *noise, double L)
{
	const double power = json_number_value(json_object_get(noise, "signal_power"));
	if (power > 0)
		fprintf(out, ", %.4f of the signal explained",
		        (L - json_number_value(json_object_get(noise, "sigma2")) * json_number_value(json_object_get(noise, "multiplicity"))) / power);
}

void describe_map(FILE *out, const json_t *meta)
{
	const json_t *axes = json_object_get(meta, "axes"), *best = json_object_get(meta, "best"), *at = json_object_get(best, "at");
	for (size_t i = 0; i < json_array_size(axes); i++)
		describe_axis(out, json_array_get(axes, i));
	if (!best)
		return;
	fputs("  best at", out);
	for (size_t i = 0; i < json_array_size(axes); i++) {
		fputs(i ? ", " : " ", out);
		describe_quantity(out, json_array_get(axes, i), json_array_get(at, i));
	}
	describe_explained(out, json_object_get(meta, "noise"), json_number_value(json_object_get(best, "objective")));
	fputc('\n', out);
}
