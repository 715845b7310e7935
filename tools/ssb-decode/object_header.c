#include "tools/ssb-decode/object_header.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_CONTINUATION = 16, MOST_CONTINUATIONS = 64, VERSION_1_PREFIX = 16, VERSION_1_MESSAGE = 8, LONGEST_PREFIX = 34 };

/* A header being read: who takes its messages, and the blocks of them still to come. */
typedef struct header_walk {
	const raw_file *file;
	take_message *take;
	void *context;
	unsigned version;
	size_t message_head;    /* bytes in front of a message */
	uint64_t address[MOST_CONTINUATIONS], size[MOST_CONTINUATIONS];
	size_t count;
} header_walk;

static bool damaged(ssb_error *err)
{
	return ssb_fail(err, SSB_BAD_INPUT, "its object header is damaged or of a kind that is not supported");
}

static bool take_messages(header_walk *w, byte_view block, ssb_error *err)
{
	while (block.left >= w->message_head) {
		const unsigned kind = (unsigned)view_take(&block, w->version == 1 ? 2 : 1);
		const size_t size = view_take(&block, 2);
		const unsigned flags = (unsigned)view_take(&block, 1);
		view_skip(&block, w->message_head - (w->version == 1 ? 5 : 4));
		byte_view message = {block.at, size, false};
		view_skip(&block, size);
		if (block.failed)
			return damaged(err);
		if (kind != MESSAGE_CONTINUATION) {
			if (!w->take(w->context, kind, flags, message, err))
				return false;
			continue;
		}
		if (w->count == MOST_CONTINUATIONS)
			return damaged(err);
		w->address[w->count] = view_take(&message, 8);
		w->size[w->count++] = view_take(&message, 8);
	}
	return true;
}

/* Messages of version 1, which have no checksum. */
static bool read_plain_block(header_walk *w, uint64_t address, uint64_t size, ssb_error *err)
{
	if (size > w->file->size)
		return damaged(err);
	uint8_t *const bytes = malloc(size + 1);
	if (!bytes)
		return ssb_fail_errno(err, "object header of %llu bytes", (unsigned long long)size);
	const bool ok = raw_peek(w->file, address, bytes, size, err) && take_messages(w, (byte_view){bytes, size, false}, err);
	free(bytes);
	return ok;
}

/* Version 1: version, unused, number of messages, references, size of the first block. */
static bool read_version_1(header_walk *w, uint64_t address, const uint8_t *start, ssb_error *err)
{
	byte_view head = {start, VERSION_1_PREFIX, false};
	view_skip(&head, 8);
	w->version = 1;
	w->message_head = VERSION_1_MESSAGE;
	return read_plain_block(w, address + VERSION_1_PREFIX, view_take(&head, 4), err);
}

/* Version 2: signature, version, flags, optional times and limits, size of the first block, messages. */
static bool read_version_2(header_walk *w, uint64_t address, const uint8_t *start, size_t size, ssb_error *err)
{
	byte_view head = {start, size, false};
	view_skip(&head, 4);
	const unsigned version = (unsigned)view_take(&head, 1), flags = (unsigned)view_take(&head, 1);
	w->version = 2;
	w->message_head = flags & 4 ? 6 : 4;
	view_skip(&head, (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0));
	const size_t messages = view_take(&head, 1u << (flags & 3)), prefix = size - head.left;
	raw_block block;
	if (version != 2 || head.failed)
		return damaged(err);
	if (!raw_read(w->file, address, prefix, messages, "OHDR", &block, err))
		return false;
	view_skip(&block.view, prefix - 4);
	const bool ok = take_messages(w, block.view, err);
	free(block.bytes);
	return ok;
}

static bool read_continuation(header_walk *w, uint64_t address, uint64_t size, ssb_error *err)
{
	raw_block block;
	if (w->version == 1)
		return read_plain_block(w, address, size, err);
	if (size < 8 || !raw_read(w->file, address, 4, size - 8, "OCHK", &block, err))
		return false;
	const bool ok = take_messages(w, block.view, err);
	free(block.bytes);
	return ok;
}

bool object_header_read(const raw_file *file, uint64_t address, take_message *take, void *context, ssb_error *err)
{
	header_walk w = {.file = file, .take = take, .context = context};
	uint8_t start[LONGEST_PREFIX];
	if (!raw_peek(file, address, start, sizeof start, err))
		return false;
	bool ok;
	if (memcmp(start, "OHDR", 4) == 0)
		ok = read_version_2(&w, address, start, sizeof start, err);
	else
		ok = start[0] == 1 ? read_version_1(&w, address, start, err) : damaged(err);
	for (size_t i = 0; ok && i < w.count; i++)
		ok = read_continuation(&w, w.address[i], w.size[i], err);
	return ok;
}
