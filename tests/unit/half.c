/* Halves: every one of them to single and back, the rounding of what lies between, and the machine's own instructions against plain C. */
#include "tools/transfer/half.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "tests/unit/test.h"

enum { ALL = 65536 };

/* What a half means, by the standard's definition. */
static double value_of(unsigned half)
{
	const unsigned exponent = half >> 10 & 31, fraction = half & 1023;
	const double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
	return half & 0x8000 ? -magnitude : magnitude;
}

static bool same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

typedef void expander(const uint16_t *half, size_t count, float scale, float *out);
typedef void rounder(const float *value, size_t count, float factor, uint16_t *half);

static void test_all(const char *name, expander *expand, rounder *round_to_half)
{
	static uint16_t half[ALL], back[ALL];
	static float value[ALL];
	size_t wrong = 0, changed = 0;
	for (unsigned i = 0; i < ALL; i++)
		half[i] = (uint16_t)i;
	expand(half, ALL, 0.25F, value);
	for (unsigned i = 0; i < ALL; i++)
		wrong += !same(value[i], 0.25 * value_of(i));
	round_to_half(value, ALL, 4, back);
	for (unsigned i = 0; i < ALL; i++)
		changed += isnan(value_of(i)) ? !isnan(value_of(back[i])) : back[i] != i;
	CHECK(!wrong && !changed, "%s: all halves to single (%zu wrong) and back (%zu changed)", name, wrong, changed);
}

/* Between neighbours, and beyond the largest: the nearest, at the middle the even one. */
static void test_rounding(const char *name, rounder *round_to_half)
{
	static float value[3 * 0x7c00];
	static uint16_t half[3 * 0x7c00];
	size_t wrong = 0;
	for (unsigned i = 0; i < 0x7c00; i++) {
		const double next = i + 1 == 0x7c00 ? 65536 : value_of(i + 1), middle = (value_of(i) + next) / 2;
		value[3 * i] = nextafterf((float)middle, 0);
		value[3 * i + 1] = (float)middle;
		value[3 * i + 2] = nextafterf((float)middle, INFINITY);
	}
	round_to_half(value, 3 * 0x7c00, 1, half);
	for (unsigned i = 0; i < 0x7c00; i++)
		wrong += half[3 * i] != i || half[3 * i + 1] != i + (i & 1) || half[3 * i + 2] != i + 1;
	CHECK(!wrong, "%s: %zu of the values between are not rounded to nearest, ties to even", name, wrong);
	round_to_half((const float[]){-1e30F, INFINITY}, 2, 1, half);
	CHECK(half[0] == 0xfc00 && half[1] == 0x7c00, "%s: what is too large is infinite", name);
}

static void test_tail(void)
{
	float value[19];
	uint16_t expected[19], half[19];
	for (int i = 0; i < 19; i++)
		value[i] = (float)(i * i - 40);
	half_round_plain(value, 19, 0.5F, expected);
	half_round(value, 19, 0.5F, half);
	CHECK(!memcmp(half, expected, sizeof half), "an odd number of them");
}

int main(void)
{
	test_all("plain", half_expand_plain, half_round_plain);
	test_all("as the machine has it", half_expand, half_round);
	test_rounding("plain", half_round_plain);
	test_rounding("as the machine has it", half_round);
	test_tail();
	return test_end();
}
