#include "tools/ssb-decode/raw_block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tools/ssb-decode/checksum.h"
#include "tools/ssb-decode/superblock.h"

uint64_t view_take(byte_view *view, size_t bytes)
{
	uint64_t value = 0;
	if (bytes > view->left) {
		view->failed = true;
		view->left = 0;
		return 0;
	}
	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | view->at[i];
	view->at += bytes;
	view->left -= bytes;
	return value;
}

void view_skip(byte_view *view, uint64_t bytes)
{
	view->failed = view->failed || bytes > view->left;
	const size_t step = bytes > view->left ? view->left : bytes;
	view->at += step;
	view->left -= step;
}

bool raw_open(raw_file *file, const char *path, ssb_error *err)
{
	struct stat status;
	unsigned address_bytes;
	file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (file->descriptor < 0 || fstat(file->descriptor, &status))
		return ssb_fail(err, SSB_BAD_INPUT, "%s", strerror(errno));
	file->size = (uint64_t)status.st_size;
	if (!superblock_place(path, &file->base, &address_bytes, err))
		return false;
	return address_bytes == 8 || ssb_fail(err, SSB_BAD_INPUT, "addresses of %u bytes are not supported", address_bytes);
}

void raw_close(raw_file *file)
{
	if (file->descriptor >= 0)
		close(file->descriptor);
	file->descriptor = -1;
}

bool raw_peek(const raw_file *file, uint64_t address, void *bytes, uint64_t size, ssb_error *err)
{
	uint64_t at, end;
	if (__builtin_add_overflow(address, file->base, &at) || __builtin_add_overflow(at, size, &end) || end > file->size)
		return ssb_fail(err, SSB_BAD_INPUT, "%llu bytes at address %llu are beyond the end of the file", (unsigned long long)size,
		                (unsigned long long)address);
	for (uint64_t done = 0; done < size;) {
		const ssize_t got = pread(file->descriptor, (uint8_t *)bytes + done, size - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return ssb_fail(err, SSB_BAD_INPUT, "%llu bytes at address %llu cannot be read", (unsigned long long)size,
			                (unsigned long long)address);
		done += (uint64_t)got;
	}
	return true;
}

bool raw_read(const raw_file *file, uint64_t address, uint64_t prefix, uint64_t content, const char *signature, raw_block *block,
                   ssb_error *err)
{
	uint64_t size = 0;
	if (__builtin_add_overflow(prefix, content, &size) || size > file->size)
		return ssb_fail(err, SSB_BAD_INPUT, "a metadata block is said to be %llu bytes long", (unsigned long long)content);
	block->bytes = malloc(size + 4);
	if (!block->bytes)
		return ssb_fail_errno(err, "metadata of %llu bytes", (unsigned long long)size);
	bool ok = raw_peek(file, address, block->bytes, size + 4, err);
	byte_view sum = {block->bytes + size, 4, false};
	if (ok && ((signature && memcmp(block->bytes, signature, 4) != 0) || view_take(&sum, 4) != checksum_lookup3(block->bytes, size)))
		ok = ssb_fail(err, SSB_BAD_INPUT, "the metadata at address %llu fail their checksum", (unsigned long long)address);
	block->view = (byte_view){block->bytes, size, false};
	if (signature)
		view_skip(&block->view, 4);
	if (!ok)
		free(block->bytes);
	return ok;
}
