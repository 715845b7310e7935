/* Single values of the header, for scripts. */
#include <stdlib.h>
#include <string.h>

#include "tools/ssb-info/get.h"

static const json_t *child(const json_t *value, const char *key, size_t length)
{
	size_t i;
	const json_t *entry;
	json_array_foreach(value, i, entry) {
		const char *name = json_string_value(json_object_get(entry, "name"));
		if (name && strlen(name) == length && !memcmp(name, key, length))
			return entry;
	}
	return json_object_getn(value, key, length);
}

static bool print_value(FILE *out, const json_t *value)
{
	if (!value)
		return fputs("\n", out) >= 0;
	if (json_is_real(value))
		return fprintf(out, "%.15g\n", json_real_value(value)) >= 0;
	if (json_is_string(value))
		return fprintf(out, "%s\n", json_string_value(value)) >= 0;
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
	const bool ok = text && fprintf(out, "%s\n", text) >= 0;
	free(text);
	return ok;
}

bool get_value(FILE *out, const json_t *header, const char *path, ssb_error *err)
{
	for (const char *key = path; header && *key;) {
		const size_t length = strcspn(key, ".");
		header = child(header, key, length);
		key += length + (key[length] == '.');
	}
	return print_value(out, header) || ssb_fail_errno(err, "cannot write standard output");
}
