#include "tools/common/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A value in this unit times `multiply` over `divide` is in the base unit; two whole numbers keep decimal values exact. */
typedef struct unit { const char *name; double multiply, divide; } unit;

static const unit length_units[] = {
	{"pm", 1, 100}, {"A", 1, 1}, {"Å", 1, 1}, {"nm", 10, 1}, {"um", 1e4, 1}, {"µm", 1e4, 1}, {"μm", 1e4, 1}, {"mm", 1e7, 1}, {"m", 1e10, 1}, {NULL, 0, 0},
};
static const unit angle_units[] = {{"deg", M_PI, 180}, {"rad", 1, 1}, {"mrad", 1, 1000}, {NULL, 0, 0}};
static const unit voltage_units[] = {{"V", 1, 1000}, {"kV", 1, 1}, {"MV", 1000, 1}, {NULL, 0, 0}};

static const struct { const unit *units; const char *names; } dimensions[] = {
	[QUANTITY_LENGTH] = {length_units, "pm, A, nm, um, mm or m"},
	[QUANTITY_ANGLE] = {angle_units, "deg, rad or mrad"},
	[QUANTITY_VOLTAGE] = {voltage_units, "V, kV or MV"},
};

static size_t digits(const char *text, size_t length, size_t at)
{
	size_t count = 0;
	while (at + count < length && isdigit((unsigned char)text[at + count]))
		count++;
	return count;
}

/* Length of the decimal number at the start of `text`, 0 if there is none. strtod alone would take "nan", "0x1p3" and blanks. */
static size_t number_length(const char *text, size_t length)
{
	size_t at = length > 0 && (text[0] == '+' || text[0] == '-');
	const size_t whole = digits(text, length, at);
	at += whole;
	size_t fraction = 0;
	if (at < length && text[at] == '.') {
		fraction = digits(text, length, at + 1);
		at += 1 + fraction;
	}
	if (whole + fraction == 0)
		return 0;
	if (at < length && (text[at] == 'e' || text[at] == 'E')) {
		const size_t sign = at + 1 < length && (text[at + 1] == '+' || text[at + 1] == '-');
		const size_t exponent = digits(text, length, at + 1 + sign);
		if (exponent)
			at += 1 + sign + exponent;
	}
	return at;
}

/* The number in front; *used is where it ends. */
static bool leading_number(const char *text, size_t length, double *value, size_t *used, ssb_error *err)
{
	char number[64];
	*used = number_length(text, length);
	if (!*used || *used >= sizeof number)
		return ssb_fail(err, SSB_USAGE, "'%.*s' is no number", (int)(length < 80 ? length : 80), text);
	memcpy(number, text, *used);
	number[*used] = 0;
	*value = strtod(number, NULL);
	if (!isfinite(*value))
		return ssb_fail(err, SSB_USAGE, "'%s' is out of range", number);
	return true;
}

static const unit *find_unit(enum quantity dimension, const char *name, size_t length)
{
	for (const unit *u = dimensions[dimension].units; u->name; u++)
		if (strlen(u->name) == length && !memcmp(u->name, name, length))
			return u;
	return NULL;
}

static bool number_and_unit(const char *text, size_t length, enum quantity dimension, const char *default_unit, double *value,
                            const unit **found, ssb_error *err)
{
	size_t used;
	if (!leading_number(text, length, value, &used, err))
		return false;
	const char *names = dimensions[dimension].names, *name = text + used;
	size_t name_length = length - used;
	if (!name_length && !default_unit)
		return ssb_fail(err, SSB_USAGE, "'%.*s' needs a unit: %s", (int)length, text, names);
	if (!name_length) {
		name = default_unit;
		name_length = strlen(default_unit);
	}
	*found = find_unit(dimension, name, name_length);
	if (!*found)
		return ssb_fail(err, SSB_USAGE, "'%.*s' has no known unit: %s", (int)(length < 80 ? length : 80), text, names);
	return true;
}

static bool in_range(double value, const char *text, size_t length, ssb_error *err)
{
	return isfinite(value) || ssb_fail(err, SSB_USAGE, "'%.*s' is out of range", (int)length, text);
}

bool quantity_parse_n(const char *text, size_t length, enum quantity dimension, const char *default_unit, double *value, ssb_error *err)
{
	const unit *from;
	double number;
	if (!number_and_unit(text, length, dimension, default_unit, &number, &from, err))
		return false;
	*value = number * from->multiply / from->divide;
	return in_range(*value, text, length, err);
}

bool quantity_in(const char *text, size_t length, enum quantity dimension, const char *unit_name, double *value, ssb_error *err)
{
	const unit *from, *to = find_unit(dimension, unit_name, strlen(unit_name));
	double number;
	if (!number_and_unit(text, length, dimension, unit_name, &number, &from, err))
		return false;
	*value = from == to ? number : number * from->multiply / from->divide * to->divide / to->multiply;
	return in_range(*value, text, length, err);
}

bool quantity_parse(const char *text, enum quantity dimension, const char *default_unit, double *value, ssb_error *err)
{
	return quantity_parse_n(text, strlen(text), dimension, default_unit, value, err);
}

bool quantity_number(const char *text, double *value, ssb_error *err)
{
	size_t used;
	if (!leading_number(text, strlen(text), value, &used, err))
		return false;
	if (text[used])
		return ssb_fail(err, SSB_USAGE, "'%.80s' is no plain number: nothing may follow it", text);
	return true;
}

bool quantity_range(const char *text, enum quantity dimension, const char *default_unit, double range[2], ssb_error *err)
{
	const char *colon = strchr(text, ':');
	if (!colon)
		return ssb_fail(err, SSB_USAGE, "'%.80s' is no range: two values with ':' between them", text);
	if (!quantity_parse_n(text, (size_t)(colon - text), dimension, default_unit, &range[0], err) ||
	    !quantity_parse(colon + 1, dimension, default_unit, &range[1], err))
		return false;
	if (!(range[0] < range[1]))
		return ssb_fail(err, SSB_USAGE, "'%.80s' is an empty range: the first value must be the smaller", text);
	return true;
}
