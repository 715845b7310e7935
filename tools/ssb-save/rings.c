/* The Fourier ring correlation of a phase's halves, as ssb-recon put it into the header. */
#include <string.h>

#include "tools/ssb-save/writers.h"

static const json_t *rings_of(const save_content *content)
{
	return json_object_get(content->meta, "fourier_ring_correlation");
}

bool has_rings(const save_content *content)
{
	const json_t *rings = rings_of(content);
	const size_t count = json_array_size(json_object_get(rings, "frequency_per_A"));
	return content->kind == SSB_PHASE && count && json_array_size(json_object_get(rings, "correlation")) == count &&
	       json_array_size(json_object_get(rings, "half_bit_threshold")) == count &&
	       json_array_size(json_object_get(rings, "pixels")) == count;
}

bool write_rings(const save_content *content, bytes *out, ssb_error *err)
{
	static const char *const columns[] = {"frequency_per_A", "correlation", "half_bit_threshold", "pixels"};
	const json_t *rings = rings_of(content);
	bool ok = bytes_print(out, err, "frequency_per_A,correlation,half_bit_threshold,pixels\n");
	for (size_t i = 0; ok && i < json_array_size(json_object_get(rings, columns[0])); i++)
		for (int c = 0; ok && c < 4; c++) {
			const json_t *value = json_array_get(json_object_get(rings, columns[c]), i);
			ok = (!json_is_number(value) || bytes_print(out, err, "%.9g", json_number_value(value))) &&
			     bytes_print(out, err, c < 3 ? "," : "\n");
		}
	return ok;
}

static bool write_crossing(const json_t *rings, const char *key, const char *name, bytes *out, ssb_error *err)
{
	const json_t *crossing = json_object_get(rings, key), *resolution = json_object_get(crossing, "resolution_A");
	const json_t *from = json_object_get(crossing, "above_from_per_A");
	const char *result = json_string_value(json_object_get(crossing, "result"));
	if (!resolution)
		return bytes_print(out, err, "%-10s %s\n", name, result ? result : "?");
	return bytes_print(out, err, "%-10s %.4g A: above it from %.4g to %.4g 1/A\n", name, json_number_value(resolution),
	                   json_number_value(from), json_number_value(json_object_get(crossing, "frequency_per_A")));
}

bool write_rings_text(const save_content *content, bytes *out, ssb_error *err)
{
	const json_t *rings = rings_of(content), *limit = json_object_get(rings, "limit_is");
	bytes table = {0};
	const bool ok = bytes_print(out, err, "Fourier ring correlation of two halves of the bright field, up to %.4g 1/A (%s)\n",
	                            json_number_value(json_object_get(rings, "limit_per_A")), limit ? json_string_value(limit) : "?") &&
	                write_crossing(rings, "half_bit", "half-bit", out, err) && write_crossing(rings, "fixed_0143", "0.143", out, err) &&
	                bytes_print(out, err, "\n") && write_rings(content, &table, err);
	for (size_t i = 0; i < table.size; i++)
		if (table.data[i] == ',')
			table.data[i] = '\t';
	const bool whole = ok && bytes_append(out, table.data, table.size, err);
	bytes_free(&table);
	return whole;
}
