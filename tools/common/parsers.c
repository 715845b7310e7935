#include <string.h>

#include "tools/common/cli.h"
#include "tools/common/quantity.h"

bool cli_flag(const cli_option *option, const char *text, ssb_error *err)
{
	(void)text;
	(void)err;
	*(bool *)option->target = true;
	return true;
}

bool cli_text(const cli_option *option, const char *text, ssb_error *err)
{
	if (!*text)
		return ssb_fail(err, SSB_USAGE, "an empty text");
	*(const char **)option->target = text;
	return true;
}

bool cli_texts(const cli_option *option, const char *text, ssb_error *err)
{
	cli_list *list = option->target;
	if (list->count == sizeof list->item / sizeof *list->item)
		return ssb_fail(err, SSB_USAGE, "given more than %zu times", list->count);
	if (!*text)
		return ssb_fail(err, SSB_USAGE, "an empty text");
	list->item[list->count++] = text;
	return true;
}

/* Decimal digits up to `length`, all of it. strtoul alone would take signs, blanks and wrap around. */
static bool whole_number(const char *text, size_t length, size_t *value, ssb_error *err)
{
	const int shown = (int)(length < 80 ? length : 80);
	size_t sum = 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return ssb_fail(err, SSB_USAGE, "'%.*s' is no whole number", shown, text);
		if (__builtin_mul_overflow(sum, (size_t)10, &sum) || __builtin_add_overflow(sum, (size_t)(text[i] - '0'), &sum))
			return ssb_fail(err, SSB_USAGE, "'%.*s' is out of range", shown, text);
	}
	*value = sum;
	return length > 0 || ssb_fail(err, SSB_USAGE, "'' is no whole number");
}

bool cli_whole(const cli_option *option, const char *text, ssb_error *err)
{
	return whole_number(text, strlen(text), option->target, err);
}

bool cli_count(const cli_option *option, const char *text, ssb_error *err)
{
	size_t value;
	if (!whole_number(text, strlen(text), &value, err))
		return false;
	if (value < 1)
		return ssb_fail(err, SSB_USAGE, "'%s' is not at least 1", text);
	*(size_t *)option->target = value;
	return true;
}

bool cli_number(const cli_option *option, const char *text, ssb_error *err)
{
	return quantity_number(text, option->target, err);
}

bool cli_choice(const cli_option *option, const char *text, ssb_error *err)
{
	const size_t length = strlen(text);
	int index = 0;
	for (const char *word = option->argument; word; index++) {
		const char *bar = strchr(word, '|');
		const size_t word_length = bar ? (size_t)(bar - word) : strlen(word);
		if (word_length == length && !memcmp(word, text, length)) {
			*(int *)option->target = index;
			return true;
		}
		word = bar ? bar + 1 : NULL;
	}
	return ssb_fail(err, SSB_USAGE, "'%.80s' is none of %s", text, option->argument);
}

bool cli_bytes(const cli_option *option, const char *text, ssb_error *err)
{
	static const char suffixes[] = "KMGT";
	const size_t length = strlen(text);
	const char *suffix = length ? strchr(suffixes, text[length - 1]) : NULL;
	size_t value;
	if (!whole_number(text, suffix && *suffix ? length - 1 : length, &value, err) || !value)
		return ssb_fail(err, SSB_USAGE, "'%.80s' is no size: a whole number of bytes, or with K, M, G or T behind it", text);
	const size_t factor = suffix && *suffix ? (size_t)1 << 10 * (suffix - suffixes + 1) : 1;
	if (__builtin_mul_overflow(value, factor, &value))
		return ssb_fail(err, SSB_USAGE, "'%.80s' is out of range", text);
	*(size_t *)option->target = value;
	return true;
}

bool cli_shape(const cli_option *option, const char *text, ssb_error *err)
{
	const char *cross = strchr(text, 'x');
	size_t shape[2] = {0};
	if (!cross)
		return ssb_fail(err, SSB_USAGE, "'%.80s' is no shape: rows x columns, as in 64x48", text);
	if (!whole_number(text, (size_t)(cross - text), &shape[0], err) || !whole_number(cross + 1, strlen(cross + 1), &shape[1], err))
		return false;
	if (!shape[0] || !shape[1])
		return ssb_fail(err, SSB_USAGE, "'%.80s' is an empty shape", text);
	memcpy(option->target, shape, sizeof shape);
	return true;
}

static bool positive(double value, const char *text, ssb_error *err)
{
	return value > 0 || ssb_fail(err, SSB_USAGE, "'%.80s' is not positive", text);
}

static bool positive_quantity(const char *text, size_t length, enum quantity dimension, const char *unit, double *value, ssb_error *err)
{
	return quantity_in(text, length, dimension, unit, value, err) && positive(*value, text, err);
}

bool cli_kilovolt(const cli_option *option, const char *text, ssb_error *err)
{
	return positive_quantity(text, strlen(text), QUANTITY_VOLTAGE, "kV", option->target, err);
}

bool cli_semiangle(const cli_option *option, const char *text, ssb_error *err)
{
	return positive_quantity(text, strlen(text), QUANTITY_ANGLE, "mrad", option->target, err);
}

bool cli_angle(const cli_option *option, const char *text, ssb_error *err)
{
	return quantity_in(text, strlen(text), QUANTITY_ANGLE, "deg", option->target, err);
}

/* One value for rows and columns, or "row,column". */
static bool one_or_two(const char *text, enum quantity dimension, const char *unit, double target[2], ssb_error *err)
{
	const char *comma = strchr(text, ',');
	double pair[2];
	if (!positive_quantity(text, comma ? (size_t)(comma - text) : strlen(text), dimension, unit, &pair[0], err))
		return false;
	pair[1] = pair[0];
	if (comma && !positive_quantity(comma + 1, strlen(comma + 1), dimension, unit, &pair[1], err))
		return false;
	memcpy(target, pair, sizeof pair);
	return true;
}

bool cli_step(const cli_option *option, const char *text, ssb_error *err)
{
	return one_or_two(text, QUANTITY_LENGTH, "A", option->target, err);
}

bool cli_sampling(const cli_option *option, const char *text, ssb_error *err)
{
	return one_or_two(text, QUANTITY_ANGLE, "mrad", option->target, err);
}

bool cli_pair(const cli_option *option, const char *text, ssb_error *err)
{
	char first[80];
	const char *comma = strchr(text, ',');
	double pair[2];
	if (!comma || comma - text >= (long)sizeof first)
		return ssb_fail(err, SSB_USAGE, "'%.80s' is no pair: two numbers with ',' between them", text);
	memcpy(first, text, (size_t)(comma - text));
	first[comma - text] = 0;
	if (!quantity_number(first, &pair[0], err) || !quantity_number(comma + 1, &pair[1], err))
		return false;
	memcpy(option->target, pair, sizeof pair);
	return true;
}
