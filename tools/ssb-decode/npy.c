#include "tools/ssb-decode/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_HEADER = 1 << 16 };

bool npy_read(int descriptor, void *bytes, size_t size, uint64_t offset, ssb_error *err)
{
	for (size_t done = 0; done < size;) {
		const ssize_t got = pread(descriptor, (char *)bytes + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ssb_fail_errno(err, "reading %zu bytes at %llu", size, (unsigned long long)offset);
		if (got == 0)
			return ssb_fail(err, SSB_BAD_INPUT, "the file ends within the %zu bytes at %llu", size, (unsigned long long)offset);
		done += (size_t)got;
	}
	return true;
}

/* What follows 'key': in the dictionary, NULL when it is not there. */
static const char *value_of(const char *text, const char *key)
{
	char quoted[32];
	snprintf(quoted, sizeof quoted, "'%s':", key);
	const char *const at = strstr(text, quoted);
	return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

static bool parse_type(const char *text, npy_header *header, ssb_error *err)
{
	char order, kind;
	unsigned size;
	int end = 0;
	if (!text || sscanf(text, "'%c%c%3u'%n", &order, &kind, &size, &end) != 3 || end == 0 || !strchr("<>|=", order) || size == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "the elements are no plain numbers");
	header->kind = kind;
	header->element_size = size;
	header->big_endian = order == '>' && size > 1;
	snprintf(header->type, sizeof header->type, "%c%c%u", order, kind, size);
	return true;
}

static bool parse_shape(const char *text, npy_header *header, ssb_error *err)
{
	if (!text || *text != '(')
		return ssb_fail(err, SSB_BAD_INPUT, "the header has no shape");
	for (text++; *text && *text != ')'; text += strspn(text, ", L")) {
		char *end;
		errno = 0;
		const unsigned long long length = strtoull(text, &end, 10);
		if (end == text || *text == '-' || errno || header->rank == NPY_MAX_RANK)
			return ssb_fail(err, SSB_BAD_INPUT, "the shape in the header is damaged");
		header->shape[header->rank++] = length;
		text = end;
	}
	return true;
}

static bool check_size(const npy_header *header, uint64_t present, ssb_error *err)
{
	uint64_t bytes = header->element_size;
	for (unsigned i = 0; i < header->rank; i++)
		if (__builtin_mul_overflow(bytes, header->shape[i], &bytes))
			return ssb_fail(err, SSB_BAD_INPUT, "the shape in the header is larger than any file");
	const uint64_t expected = header->data + bytes;
	if (bytes > present - header->data)
		return ssb_fail(err, SSB_BAD_INPUT, "the file is shorter than it says: %" PRIu64 " bytes present, %" PRIu64 " expected", present, expected);
	return true;
}

static bool read_header(int descriptor, npy_header *header, ssb_error *err)
{
	uint8_t start[12] = {0};
	struct stat status;
	if (fstat(descriptor, &status) || !S_ISREG(status.st_mode))
		return ssb_fail(err, SSB_BAD_INPUT, "no regular file");
	const uint64_t present = (uint64_t)status.st_size;
	if (present < sizeof start || !npy_read(descriptor, start, sizeof start, 0, err) || memcmp(start, "\x93NUMPY", 6) != 0 || start[6] > 3)
		return ssb_fail(err, SSB_BAD_INPUT, "no .npy file");
	const size_t skip = start[6] == 1 ? 10 : 12;
	const size_t length = start[8] | (size_t)start[9] << 8 | (skip == 12 ? (size_t)start[10] << 16 | (size_t)start[11] << 24 : 0);
	char text[LONGEST_HEADER + 1];
	if (length > LONGEST_HEADER || skip + length > present)
		return ssb_fail(err, SSB_BAD_INPUT, "the header is said to be %zu bytes long", length);
	if (!npy_read(descriptor, text, length, skip, err))
		return false;
	text[length] = 0;
	header->data = skip + length;
	const char *const order = value_of(text, "fortran_order");
	if (!parse_type(value_of(text, "descr"), header, err) || !parse_shape(value_of(text, "shape"), header, err))
		return false;
	if (!order || strncmp(order, "False", 5) != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "the array is in Fortran order: save it with numpy.ascontiguousarray");
	return check_size(header, present, err);
}

bool npy_open(const char *path, npy_header *header, int *descriptor, ssb_error *err)
{
	*header = (npy_header){0};
	*descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*descriptor < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "%s", strerror(errno));
	if (read_header(*descriptor, header, err))
		return true;
	close(*descriptor);
	return false;
}
