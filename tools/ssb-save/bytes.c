#include "tools/ssb-save/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(bytes *out, size_t size, ssb_error *err)
{
	if (size <= out->capacity)
		return true;
	size_t capacity = out->capacity + out->capacity / 2;
	if (capacity < size)
		capacity = size < 4096 ? 4096 : size;
	uint8_t *data = realloc(out->data, capacity);
	if (!data)
		return ssb_fail(err, SSB_RUNTIME, "out of memory for an output of %zu bytes", size);
	out->data = data;
	out->capacity = capacity;
	return true;
}

bool bytes_put(bytes *out, size_t position, const void *data, size_t size, ssb_error *err)
{
	size_t end;
	if (__builtin_add_overflow(position, size, &end))
		return ssb_fail(err, SSB_RUNTIME, "an output would be too large");
	if (!reserve(out, end, err))
		return false;
	if (position > out->size)
		memset(out->data + out->size, 0, position - out->size);
	if (size)
		memcpy(out->data + position, data, size);
	if (end > out->size)
		out->size = end;
	return true;
}

bool bytes_append(bytes *out, const void *data, size_t size, ssb_error *err)
{
	return bytes_put(out, out->size, data, size, err);
}

bool bytes_print(bytes *out, ssb_error *err, const char *format, ...)
{
	char *text;
	va_list args;
	va_start(args, format);
	const int length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	const bool ok = bytes_append(out, text, (size_t)length, err);
	free(text);
	return ok;
}

void bytes_free(bytes *out)
{
	free(out->data);
	*out = (bytes){0};
}
