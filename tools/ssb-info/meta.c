#include <stdbool.h>
#include <string.h>

#include "tools/ssb-info/describe.h"

enum { NAME_COLUMNS = 30, LONGEST_LIST = 6 };

/* Longer endings first: "_per_A" ends in "_A". */
static const struct { const char *ending, *unit; } units[] = {
	{"_per_A", "1/Å"}, {"_rad2", "rad²"}, {"_mrad", "mrad"}, {"_rad", "rad"}, {"_deg", "deg"}, {"_kV", "kV"},
	{"_A", "Å"}, {"_nm", "nm"}, {"_um", "µm"}, {"_mm", "mm"}, {"_px", "px"}, {"_counts", "counts"}, {"_eV", "eV"}, {"_s", "s"}, {"_m", "m"},
};

static bool ends_in(const char *key, const char *ending)
{
	const size_t length = strlen(key), tail = strlen(ending);
	return length > tail && strcmp(key + length - tail, ending) == 0;
}

/* The unit of a number or a list that the key ends in, "" for none; *length is that of the rest. */
static const char *unit_of(const char *key, const json_t *value, size_t *length)
{
	*length = strlen(key);
	const bool measured = json_is_number(value) || json_is_array(value);
	for (size_t i = 0; measured && i < sizeof units / sizeof *units; i++)
		if (ends_in(key, units[i].ending)) {
			*length -= strlen(units[i].ending);
			return units[i].unit;
		}
	return "";
}

/* Control characters are those below space, DEL, and U+0080 to U+009F, two bytes in UTF-8, which terminals obey as well. */
static void describe_bytes(FILE *out, const char *text, size_t length, bool underscores)
{
	for (size_t i = 0; i < length; i++) {
		const unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];
		const bool high = c == 0xc2 && next >= 0x80 && next < 0xa0;
		i += high;
		fputc(high || c < 0x20 || c == 0x7f ? '?' : c == '_' && !underscores ? ' ' : c, out);
	}
}

void describe_text(FILE *out, const char *text)
{
	describe_bytes(out, text, strlen(text), true);
}

static void describe_name(FILE *out, const char *key, size_t length, int indent)
{
	fprintf(out, "%*s", indent, "");
	describe_bytes(out, key, length, false);
	fprintf(out, "%*s  ", (int)length + indent < NAME_COLUMNS ? NAME_COLUMNS - (int)length - indent : 0, "");
}

static void describe_scalar(FILE *out, const json_t *value)
{
	if (json_is_string(value))
		describe_text(out, json_string_value(value));
	else if (json_is_integer(value))
		fprintf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		fprintf(out, "%.6g", json_real_value(value));
	else
		fputs(json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "none", out);
}

static bool is_short(const json_t *list)
{
	bool scalars = json_array_size(list) <= LONGEST_LIST;
	for (size_t i = 0; scalars && i < json_array_size(list); i++)
		scalars = !json_is_array(json_array_get(list, i)) && !json_is_object(json_array_get(list, i));
	return scalars;
}

static void describe_list(FILE *out, const json_t *list, bool extents)
{
	if (!is_short(list)) {
		fprintf(out, "%zu entries (--json shows them)", json_array_size(list));
		return;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		fputs(i == 0 ? "" : extents ? " x " : ", ", out);
		describe_scalar(out, json_array_get(list, i));
	}
}

static bool is_among(const char *key, const char *const *keys)
{
	while (*keys && strcmp(*keys, key) != 0)
		keys++;
	return *keys != NULL;
}

static void describe_entry(FILE *out, const char *key, const json_t *value, int indent, const char *const *elsewhere)
{
	size_t length;
	const char *unit = unit_of(key, value, &length);
	describe_name(out, key, length, indent);
	if (json_is_object(value)) {
		fputc('\n', out);
		describe_meta(out, value, indent + 2, elsewhere);
		return;
	}
	if (json_is_array(value))
		describe_list(out, value, strstr(key, "shape") != NULL);
	else
		describe_scalar(out, value);
	fprintf(out, "%s%s\n", *unit ? " " : "", unit);
}

void describe_meta(FILE *out, const json_t *meta, int indent, const char *const *elsewhere)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)meta, key, value)
		if (!is_among(key, elsewhere))
			describe_entry(out, key, value, indent, elsewhere);
}
