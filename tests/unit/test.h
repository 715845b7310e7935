/* Unit programs speak TAP: one CHECK is one line, main ends with `return test_end();`. */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include <math.h>
#include <stdio.h>

static int test_count, test_failures;

#define CHECK(condition, ...) test_line((condition), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5), unused)) static void test_line(int passed, const char *file, int line, const char *format, ...)
{
	char name[512];
	__builtin_va_list args;
	__builtin_va_start(args, format);
	vsnprintf(name, sizeof name, format, args);
	__builtin_va_end(args);
	test_failures += !passed;
	printf("%sok %d - %s\n", passed ? "" : "not ", ++test_count, name);
	if (!passed)
		printf("# at %s:%d\n", file, line);
}

__attribute__((unused)) static void test_skip(const char *name, const char *reason)
{
	printf("ok %d - %s # skip %s\n", ++test_count, name, reason);
}

__attribute__((unused)) static int test_end(void)
{
	printf("1..%d\n", test_count);
	return test_failures != 0;
}

#endif
