#include <math.h>
#include <string.h>

#include "tools/ssb-info/describe.h"

/* Decimals down to the second digit of the error. */
static int decimals_of(double error)
{
	const double wanted = 1 - floor(log10(error));
	return wanted < 0 ? 0 : wanted > 12 ? 12 : (int)wanted;
}

static void describe_value(FILE *out, const json_t *value, const json_t *error)
{
	if (json_number_value(error) > 0) {
		const int decimals = decimals_of(json_number_value(error));
		fprintf(out, "%14.*f ± %-10.*f", decimals, json_number_value(value), decimals, json_number_value(error));
	} else if (!json_is_number(value)) {
		fprintf(out, "%14s   %-10s", "-", "");
	} else {
		fprintf(out, "%14.6g   %-10s", json_number_value(value), "");
	}
}

static void describe_field(FILE *out, const json_t *parameter, const char *key, int columns)
{
	const char *text = json_string_value(json_object_get(parameter, key));
	const int length = text ? (int)strlen(text) : 0;
	fputc(' ', out);
	describe_text(out, text ? text : "");
	fprintf(out, "%*s", length < columns ? columns - length : 0, "");
}

void describe_parameters(FILE *out, const json_t *parameters)
{
	for (size_t i = 0; i < json_array_size(parameters); i++) {
		const json_t *parameter = json_array_get(parameters, i);
		describe_field(out, parameter, "name", 10);
		describe_value(out, json_object_get(parameter, "value"), json_object_get(parameter, "standard_error"));
		describe_field(out, parameter, "unit", 5);
		describe_field(out, parameter, "status", 0);
		fputc('\n', out);
	}
}
