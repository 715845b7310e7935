#include "tools/ssb-decode/superblock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUPERBLOCK_SIZE = 64, WRITE_ACCESS = 1, SWMR_ACCESS = 4 };

static uint64_t little_endian(const uint8_t *bytes, size_t count)
{
	uint64_t value = 0;
	for (size_t i = count; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

/* The superblock's bytes and its place in the file; false when there is none. */
static bool find_superblock(int descriptor, uint64_t size, uint8_t bytes[SUPERBLOCK_SIZE], uint64_t *place)
{
	static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
	for (*place = 0; *place < size; *place = *place ? 2 * *place : 512) {
		memset(bytes, 0, SUPERBLOCK_SIZE);
		if (pread(descriptor, bytes, SUPERBLOCK_SIZE, (off_t)*place) >= 48 && !memcmp(bytes, signature, sizeof signature))
			return true;
	}
	return false;
}

static bool check_bytes(const uint8_t *bytes, uint64_t place, uint64_t size, ssb_error *err)
{
	const unsigned version = bytes[8], width = version < 2 ? bytes[13] : bytes[9];
	const size_t addresses = version == 0 ? 24 : version == 1 ? 28 : 12;
	if (version > 3 || (width != 2 && width != 4 && width != 8))
		return ssb_fail(err, SSB_BAD_INPUT, "superblock of version %u with addresses of %u bytes is not supported", version, width);
	if (version == 3 && bytes[11] & (WRITE_ACCESS | SWMR_ACCESS))
		return ssb_fail(err, SSB_BAD_INPUT, "the file is being written (or was not closed)");
	const uint64_t base = little_endian(bytes + addresses, width);
	const uint64_t end = little_endian(bytes + addresses + 2 * width, width) + place - base;
	if (end > size)
		return ssb_fail(err, SSB_BAD_INPUT, "the file is shorter than it says: %llu bytes present, %llu expected",
		                (unsigned long long)size, (unsigned long long)end);
	return true;
}

static bool read_superblock(const char *path, uint8_t bytes[SUPERBLOCK_SIZE], uint64_t *place, uint64_t *size, ssb_error *err)
{
	struct stat status;
	const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (descriptor < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "%s", strerror(errno));
	bool ok = true;
	if (fstat(descriptor, &status) || !S_ISREG(status.st_mode))
		ok = ssb_fail(err, SSB_BAD_INPUT, "no regular file");
	else if (!find_superblock(descriptor, *size = (uint64_t)status.st_size, bytes, place))
		ok = ssb_fail(err, SSB_BAD_INPUT, "no HDF5 file");
	close(descriptor);
	return ok;
}

bool superblock_check(const char *path, ssb_error *err)
{
	uint8_t bytes[SUPERBLOCK_SIZE] = {0};
	uint64_t place = 0, size = 0;
	return read_superblock(path, bytes, &place, &size, err) && check_bytes(bytes, place, size, err);
}

bool superblock_place(const char *path, uint64_t *place, unsigned *address_bytes, ssb_error *err)
{
	uint8_t bytes[SUPERBLOCK_SIZE] = {0};
	uint64_t size;
	if (!read_superblock(path, bytes, place, &size, err))
		return false;
	*address_bytes = bytes[bytes[8] < 2 ? 13 : 9];
	return true;
}
