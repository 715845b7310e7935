#include "tools/common/meta.h"

#include <math.h>

static bool refuse(const char *key, const json_t *value, const char *wanted, ssb_error *err)
{
	if (!value)
		return ssb_fail(err, SSB_BAD_INPUT, "the header has no '%s'", key);
	return ssb_fail(err, SSB_BAD_INPUT, "the header's '%s' is not %s", key, wanted);
}

static bool finite_number(const json_t *json, double *value)
{
	if (!json_is_number(json) || !isfinite(json_number_value(json)))
		return false;
	*value = json_number_value(json);
	return true;
}

static bool whole_number(const json_t *json, size_t *value)
{
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return false;
	*value = (size_t)json_integer_value(json);
	return true;
}

bool meta_number(const json_t *meta, const char *key, double *value, ssb_error *err)
{
	const json_t *json = json_object_get(meta, key);
	return finite_number(json, value) || refuse(key, json, "a finite number", err);
}

bool meta_positive(const json_t *meta, const char *key, double *value, ssb_error *err)
{
	const json_t *json = json_object_get(meta, key);
	return (finite_number(json, value) && *value > 0) || refuse(key, json, "a positive number", err);
}

bool meta_pair(const json_t *meta, const char *key, double pair[2], ssb_error *err)
{
	const json_t *json = json_object_get(meta, key);
	return (json_array_size(json) == 2 && finite_number(json_array_get(json, 0), &pair[0]) &&
	        finite_number(json_array_get(json, 1), &pair[1])) || refuse(key, json, "a pair of finite numbers", err);
}

bool meta_positive_pair(const json_t *meta, const char *key, double pair[2], ssb_error *err)
{
	if (!meta_pair(meta, key, pair, err))
		return false;
	return (pair[0] > 0 && pair[1] > 0) || refuse(key, json_object_get(meta, key), "a pair of positive numbers", err);
}

bool meta_size(const json_t *meta, const char *key, size_t *value, ssb_error *err)
{
	const json_t *json = json_object_get(meta, key);
	return whole_number(json, value) || refuse(key, json, "a whole number", err);
}

bool meta_sizes(const json_t *meta, const char *key, size_t pair[2], ssb_error *err)
{
	const json_t *json = json_object_get(meta, key);
	return (json_array_size(json) == 2 && whole_number(json_array_get(json, 0), &pair[0]) &&
	        whole_number(json_array_get(json, 1), &pair[1])) || refuse(key, json, "a pair of whole numbers", err);
}

bool meta_text(const json_t *meta, const char *key, const char **text, ssb_error *err)
{
	const json_t *json = json_object_get(meta, key);
	*text = json_string_value(json);
	return *text || refuse(key, json, "a text", err);
}

bool meta_boolean(const json_t *meta, const char *key, bool *value, ssb_error *err)
{
	const json_t *json = json_object_get(meta, key);
	*value = json_is_true(json);
	return json_is_boolean(json) || refuse(key, json, "true or false", err);
}

json_t *meta_warnings(const json_t *meta)
{
	const json_t *earlier = json_object_get(meta, "warnings");
	return json_is_array(earlier) ? json_deep_copy(earlier) : json_array();
}

json_t *meta_input(const ssb_reader *reader, const char digest[17])
{
	return json_pack("{s:s, s:s}", "kind", ssb_kind_name(ssb_reader_kind(reader)), "digest", digest);
}
