#include "tools/ssb-decode/scan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "tools/common/message.h"

static bool is_length(double value)
{
	return value >= 1 && value < 0x1p31 && value == floor(value);
}

static bool take_statement(const scan_statement *s, size_t shape[2], char source[SOURCE_SIZE], ssb_error *err)
{
	if (!is_length(s->rows) || !is_length(s->columns))
		return ssb_fail(err, SSB_BAD_INPUT, "%s is %gx%g, no scan shape", s->source, s->rows, s->columns);
	shape[0] = (size_t)s->rows;
	shape[1] = (size_t)s->columns;
	memcpy(source, s->source, SOURCE_SIZE);
	return true;
}

static void warn_of_others(const acquisition *a, const size_t shape[2], const char *source)
{
	for (size_t i = 0; i < a->statements; i++) {
		const scan_statement *const s = &a->stated[i];
		if (s->rows != (double)shape[0] || s->columns != (double)shape[1])
			message_warn(a->warnings, "scan %zux%zu from %s is used, %s says %gx%g", shape[0], shape[1], source, s->source, s->rows, s->columns);
	}
}

static bool check_frames(const acquisition *a, const size_t shape[2], const char *source, bool partial, ssb_error *err)
{
	size_t positions;
	if (__builtin_mul_overflow(shape[0], shape[1], &positions))
		return ssb_fail(err, SSB_BAD_INPUT, "scan %zux%zu (%s) is too large", shape[0], shape[1], source);
	if (positions == a->frames || (partial && positions > a->frames))
		return true;
	return ssb_fail(err, SSB_BAD_INPUT, "scan %zux%zu (%s) has %zu positions, but there are %llu frames%s%s%s%s", shape[0], shape[1], source,
	                positions, (unsigned long long)a->frames, a->remark[0] ? " (" : "", a->remark, a->remark[0] ? ")" : "",
	                positions > a->frames ? "; --partial leaves positions without a frame" : "");
}

bool scan_resolve(const acquisition *a, const size_t asked[2], bool partial, size_t shape[2], char source[SOURCE_SIZE], ssb_error *err)
{
	bool ok = true;
	if (asked[0]) {
		memcpy(shape, asked, 2 * sizeof *shape);
		snprintf(source, SOURCE_SIZE, "--scan");
	} else if (a->statements > 0) {
		ok = take_statement(&a->stated[0], shape, source, err);
	} else {
		ok = ssb_fail(err, SSB_BAD_INPUT, "scan shape unknown, %llu frames: give --scan ROWSxCOLUMNS%s%s%s", (unsigned long long)a->frames,
		              a->remark[0] ? " (" : "", a->remark, a->remark[0] ? ")" : "");
	}
	if (!ok || !check_frames(a, shape, source, partial, err))
		return ssb_fail_prefix(err, "cannot read '%s': ", a->path);
	message_note("scan %zux%zu from %s", shape[0], shape[1], source);
	warn_of_others(a, shape, source);
	return true;
}
