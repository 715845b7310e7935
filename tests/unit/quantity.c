/* Quantities and the parsers of the option table: what is taken, exactly, and what is refused. */
#include <string.h>

#include "test.h"
#include "tools/common/cli.h"
#include "tools/common/quantity.h"

static void takes(const char *text, enum quantity dimension, const char *default_unit, double expected)
{
	ssb_error err = {SSB_OK, ""};
	double value = NAN;
	CHECK(quantity_parse(text, dimension, default_unit, &value, &err) && value == expected, "'%s' is %.17g (%.17g %s)", text, expected,
	      value, err.text);
}

static void refuses(const char *text, enum quantity dimension, const char *default_unit, const char *words)
{
	ssb_error err = {SSB_OK, ""};
	double value;
	CHECK(!quantity_parse(text, dimension, default_unit, &value, &err) && err.status == SSB_USAGE && strstr(err.text, words),
	      "'%s' is refused: %s", text, err.text);
}

static void quantities(void)
{
	takes("-12nm", QUANTITY_LENGTH, NULL, -120);
	takes("+1.2mm", QUANTITY_LENGTH, NULL, 1.2e7);
	takes("26.4pm", QUANTITY_LENGTH, NULL, 0.264);
	takes("0.264", QUANTITY_LENGTH, "A", 0.264);
	takes("0.264Å", QUANTITY_LENGTH, NULL, 0.264);
	takes("3µm", QUANTITY_LENGTH, NULL, 3e4);
	takes("1e3nm", QUANTITY_LENGTH, NULL, 1e4);
	takes(".5um", QUANTITY_LENGTH, NULL, 5e3);
	takes("2m", QUANTITY_LENGTH, NULL, 2e10);
	takes("180deg", QUANTITY_ANGLE, NULL, M_PI);
	takes("-0.5rad", QUANTITY_ANGLE, NULL, -0.5);
	takes("30", QUANTITY_ANGLE, "mrad", 0.03);
	takes("300000V", QUANTITY_VOLTAGE, NULL, 300);
	takes("0.3MV", QUANTITY_VOLTAGE, NULL, 300);
	refuses("12", QUANTITY_LENGTH, NULL, "needs a unit: pm, A, nm");
	refuses("12deg", QUANTITY_LENGTH, "A", "no known unit");
	refuses("12nmx", QUANTITY_LENGTH, NULL, "no known unit");
	refuses("12 nm", QUANTITY_LENGTH, NULL, "no known unit");
	refuses("12NM", QUANTITY_LENGTH, NULL, "no known unit");
	refuses("", QUANTITY_LENGTH, "A", "is no number");
	refuses("nm", QUANTITY_LENGTH, "A", "is no number");
	refuses("nan", QUANTITY_LENGTH, "A", "is no number");
	refuses("infnm", QUANTITY_LENGTH, NULL, "is no number");
	refuses("0x10nm", QUANTITY_LENGTH, NULL, "no known unit");
	refuses("1e309nm", QUANTITY_LENGTH, NULL, "out of range");
	refuses("1e308m", QUANTITY_LENGTH, NULL, "out of range");
	refuses(" 1nm", QUANTITY_LENGTH, NULL, "is no number");
	refuses("1,5nm", QUANTITY_LENGTH, NULL, "no known unit");
	refuses("--1nm", QUANTITY_LENGTH, NULL, "is no number");
	refuses("1.2.3nm", QUANTITY_LENGTH, NULL, "no known unit");
	refuses("0000000000000000000000000000000000000000000000000000000000000000000000000001", QUANTITY_LENGTH, "A", "is no number");
}

static void ranges(void)
{
	ssb_error err = {SSB_OK, ""};
	double range[2];
	CHECK(quantity_range("-60nm:60nm", QUANTITY_LENGTH, NULL, range, &err) && range[0] == -600 && range[1] == 600, "range -60nm:60nm");
	const char *const bad[] = {"-60nm", "60nm:-60nm", "1nm:1nm", ":1nm", "1nm:", "1nm:2nm:3nm", "1:2nm"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(!quantity_range(bad[i], QUANTITY_LENGTH, NULL, range, &err), "no range '%s': %s", bad[i], err.text);
}

/* Both columns of a table: a parser and a text; `expected` is compared up to the first NaN. */
static void number_option(cli_parser *parse, const char *text, double first, double second)
{
	ssb_error err = {SSB_OK, ""};
	double value[2] = {NAN, NAN};
	const cli_option option = {"x", 0, "X", parse, value, ""};
	CHECK(parse(&option, text, &err) && value[0] == first && (isnan(second) ? isnan(value[1]) : value[1] == second),
	      "option '%s': %.17g %.17g %s", text, value[0], value[1], err.text);
}

static void refused_option(cli_parser *parse, const char *text, const char *argument)
{
	ssb_error err = {SSB_OK, ""};
	double value[2] = {-7, -7};
	const cli_option option = {"x", 0, argument, parse, value, ""};
	CHECK(!parse(&option, text, &err) && err.status == SSB_USAGE && value[1] == -7, "option '%s' refused: %s", text, err.text);
}

static void size_option(cli_parser *parse, const char *text, size_t expected)
{
	ssb_error err = {SSB_OK, ""};
	size_t value[2] = {0, 0};
	const cli_option option = {"x", 0, "X", parse, value, ""};
	CHECK(parse(&option, text, &err) && value[0] == expected, "option '%s': %zu %s", text, value[0], err.text);
}

static void options(void)
{
	number_option(cli_kilovolt, "300", 300, NAN);
	number_option(cli_kilovolt, "80kV", 80, NAN);
	number_option(cli_semiangle, "30", 30, NAN);
	number_option(cli_semiangle, "27.7mrad", 27.7, NAN);
	number_option(cli_semiangle, "0.03rad", 30, NAN);
	number_option(cli_step, "0.264", 0.264, 0.264);
	number_option(cli_step, "26.4pm,0.3A", 0.264, 0.3);
	number_option(cli_sampling, "0.57,0.58mrad", 0.57, 0.58);
	number_option(cli_pair, "-31.5,32", -31.5, 32);
	number_option(cli_angle, "-30", -30, NAN);
	number_option(cli_number, "-1e-3", -1e-3, NAN);
	size_option(cli_bytes, "4G", (size_t)4 << 30);
	size_option(cli_bytes, "1048576", 1048576);
	size_option(cli_count, "15", 15);
	size_option(cli_whole, "0", 0);
	size_option(cli_shape, "64x48", 64);
	refused_option(cli_kilovolt, "-300", "KV");
	refused_option(cli_kilovolt, "300mrad", "KV");
	refused_option(cli_semiangle, "0", "A");
	refused_option(cli_step, "0.2,", "S");
	refused_option(cli_step, "0.2,0.3,0.4", "S");
	refused_option(cli_step, "0.2,-0.3", "S");
	refused_option(cli_pair, "3", "P");
	refused_option(cli_pair, "3,nan", "P");
	refused_option(cli_number, "15x", "N");
	refused_option(cli_number, "inf", "N");
	refused_option(cli_count, "0", "N");
	refused_option(cli_count, "-1", "N");
	refused_option(cli_count, "1.5", "N");
	refused_option(cli_count, "18446744073709551616", "N");
	refused_option(cli_bytes, "G", "N");
	refused_option(cli_bytes, "1.5G", "N");
	refused_option(cli_bytes, "16777216T", "N");
	refused_option(cli_shape, "64x", "N");
	refused_option(cli_shape, "0x64", "N");
	refused_option(cli_shape, "4x4x4", "N");
	refused_option(cli_choice, "ma", "mask|median");
	refused_option(cli_choice, "mask|median", "mask|median");
	refused_option(cli_text, "", "TEXT");
	int choice = -1;
	ssb_error err;
	const cli_option option = {"bad", 0, "mask|median|zero", cli_choice, &choice, ""};
	CHECK(cli_choice(&option, "zero", &err) && choice == 2, "a choice is its index");
}

int main(void)
{
	quantities();
	ranges();
	options();
	return test_end();
}
