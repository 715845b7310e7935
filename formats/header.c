#include "formats/frame.h"

#include <stdlib.h>

static bool is_name(const char *text)
{
	const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return length > 0 && length < SSB_NAME_SIZE && text[length] == '\0';
}

/* No product of extents (those that are not 0) may overflow, whatever a reader multiplies. */
static bool array_bytes(const ssb_array *array, uint64_t *bytes)
{
	uint64_t product = ssb_dtype_size(array->dtype);
	for (unsigned i = 0; i < array->rank; i++)
		if (array->shape[i] > 0 && __builtin_mul_overflow(product, array->shape[i], &product))
			return false;
	*bytes = ssb_array_elements(array) ? product : 0;
	return product <= INT64_MAX;
}

static bool array_check(const ssb_array *array, ssb_error *err)
{
	uint64_t bytes;
	if (!is_name(array->name))
		return ssb_fail(err, SSB_BAD_INPUT, "array name '%.40s' is not 1 to 31 letters, digits and _", array->name);
	if (ssb_dtype_size(array->dtype) == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "array '%s' has an unknown dtype", array->name);
	if (array->codec != SSB_RAW && array->codec != SSB_ZSTD)
		return ssb_fail(err, SSB_BAD_INPUT, "array '%s' has an unknown codec", array->name);
	if (array->rank > SSB_MAX_RANK)
		return ssb_fail(err, SSB_BAD_INPUT, "array '%s' has %u dimensions, more than %d", array->name, array->rank, SSB_MAX_RANK);
	if (array->chunk_elements == 0 || array->chunk_elements > INT64_MAX)
		return ssb_fail(err, SSB_BAD_INPUT, "array '%s' has chunks of %llu elements", array->name,
		                (unsigned long long)array->chunk_elements);
	if (!array_bytes(array, &bytes))
		return ssb_fail(err, SSB_BAD_INPUT, "array '%s' has more elements than any machine can address", array->name);
	return true;
}

/* Checks the arrays and counts their chunks; the sum of all bytes is bounded, so that no later sum over chunks can overflow. */
static bool header_check(struct header *header, ssb_error *err)
{
	uint64_t total = 0, bytes = 0;
	for (size_t i = 0; i < header->arrays; i++) {
		const ssb_array *array = &header->array[i];
		if (!array_check(array, err))
			return false;
		for (size_t j = 0; j < i; j++)
			if (strcmp(array->name, header->array[j].name) == 0)
				return ssb_fail(err, SSB_BAD_INPUT, "array '%s' is listed twice", array->name);
		array_bytes(array, &bytes);
		total += bytes;
		if (total > INT64_MAX)
			return ssb_fail(err, SSB_BAD_INPUT, "its arrays together have more bytes than any machine can address");
		header->first_chunk[i + 1] = header->first_chunk[i] + ssb_array_chunks(array);
	}
	return true;
}

static json_t *array_json(const ssb_array *array)
{
	json_t *shape = json_array();
	for (unsigned i = 0; i < array->rank; i++)
		json_array_append_new(shape, json_integer((json_int_t)array->shape[i]));
	return json_pack("{s:s, s:s, s:o, s:I, s:s, s:s}", "name", array->name, "dtype", ssb_dtype_name(array->dtype), "shape", shape,
	                 "chunk_elements", (json_int_t)array->chunk_elements, "codec", array->codec == SSB_ZSTD ? "zstd" : "raw",
	                 "unit", array->unit);
}

bool header_make(struct header *header, enum ssb_kind kind, const json_t *meta, const json_t *history, const ssb_array *arrays,
                 size_t count, ssb_error *err)
{
	*header = (struct header){.arrays = count, .meta = meta, .history = history };
	if (count > SSB_MAX_ARRAYS)
		return ssb_fail(err, SSB_RUNTIME, "more than %d arrays", SSB_MAX_ARRAYS);
	for (size_t i = 0; i < count; i++)
		header->array[i] = arrays[i];
	if (!header_check(header, err)) {
		err->status = SSB_RUNTIME;
		return false;
	}
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, array_json(&arrays[i]));
	header->root = json_pack("{s:s, s:O, s:O, s:o}", "kind", ssb_kind_name(kind), "meta", meta, "history", history, "arrays", list);
	if (!json_is_object(meta) || !json_is_array(history) || !header->root || json_array_size(list) != count)
		return ssb_fail(err, SSB_RUNTIME, "no header can be made of this metadata");
	return true;
}

char *header_text(const struct header *header)
{
	return json_dumps(header->root, JSON_COMPACT | JSON_REAL_PRECISION(17));
}

static bool dtype_parse(const char *name, enum ssb_dtype *dtype)
{
	for (*dtype = SSB_U1; *dtype <= SSB_C4; ++*dtype)
		if (strcmp(name, ssb_dtype_name(*dtype)) == 0)
			return true;
	return false;
}

static bool codec_parse(const char *name, enum ssb_codec *codec)
{
	*codec = strcmp(name, "zstd") == 0 ? SSB_ZSTD : SSB_RAW;
	return *codec == SSB_ZSTD || strcmp(name, "raw") == 0;
}

static bool shape_parse(const json_t *shape, ssb_array *array)
{
	if (!json_is_array(shape) || json_array_size(shape) > SSB_MAX_RANK)
		return false;
	array->rank = (unsigned)json_array_size(shape);
	for (unsigned i = 0; i < array->rank; i++) {
		const json_t *extent = json_array_get(shape, i);
		if (!json_is_integer(extent) || json_integer_value(extent) < 0)
			return false;
		array->shape[i] = (uint64_t)json_integer_value(extent);
	}
	return true;
}

static bool array_parse(json_t *entry, ssb_array *array, ssb_error *err)
{
	const char *name, *dtype, *codec, *unit;
	const json_t *shape;
	json_int_t chunk;
	json_error_t why;
	if (json_unpack_ex(entry, &why, 0, "{s:s, s:s, s:o, s:I, s:s, s:s}", "name", &name, "dtype", &dtype, "shape", &shape,
	                   "chunk_elements", &chunk, "codec", &codec, "unit", &unit) != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "its list of arrays is wrong: %s", why.text);
	if (!is_name(name) || strlen(unit) >= SSB_NAME_SIZE)
		return ssb_fail(err, SSB_BAD_INPUT, "array name '%.40s' or unit '%.40s' is not allowed", name, unit);
	*array = (ssb_array){.chunk_elements = chunk > 0 ? (uint64_t)chunk : 0 };
	memcpy(array->name, name, strlen(name));
	memcpy(array->unit, unit, strlen(unit));
	if (!dtype_parse(dtype, &array->dtype) || !codec_parse(codec, &array->codec))
		return ssb_fail(err, SSB_BAD_INPUT, "array '%s' has dtype '%.40s' and codec '%.40s', not both known", name, dtype, codec);
	return shape_parse(shape, array) || ssb_fail(err, SSB_BAD_INPUT, "array '%s' has no shape of 0 to %d extents", name, SSB_MAX_RANK);
}

bool header_parse(struct header *header, enum ssb_kind kind, const char *text, size_t size, ssb_error *err)
{
	*header = (struct header){0};
	json_error_t why;
	const char *name;
	json_t *meta, *history, *list;
	header->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	if (!header->root ||
	    json_unpack_ex(header->root, &why, 0, "{s:s, s:o, s:o, s:o}", "kind", &name, "meta", &meta, "history", &history, "arrays", &list))
		return ssb_fail(err, SSB_BAD_INPUT, "its JSON header is wrong: %s", why.text);
	if (strcmp(name, ssb_kind_name(kind)) != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "its header says both %s and '%.40s'", ssb_kind_name(kind), name);
	if (!json_is_object(meta) || !json_is_array(history) || !json_is_array(list) || json_array_size(list) > SSB_MAX_ARRAYS)
		return ssb_fail(err, SSB_BAD_INPUT, "its JSON header's meta, history and arrays are not an object and two lists");
	header->meta = meta;
	header->history = history;
	header->arrays = json_array_size(list);
	for (size_t i = 0; i < header->arrays; i++)
		if (!array_parse(json_array_get(list, i), &header->array[i], err))
			return false;
	return header_check(header, err);
}

void header_release(struct header *header)
{
	json_decref(header->root);
	header->root = NULL;
}
