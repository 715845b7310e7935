#include "tools/ssb-decode/frame_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	RUN_BYTES = 256 << 10, /* read at once: enough for the cost of a call not to count, little enough to stay in the cache */
	GAP_BYTES = 4 << 10,   /* read along with the chunks on both sides */
};

struct frame_reader {
	const acquisition *a;
	const frame_source *source;
	chunk_unpacker *unpacker;
	size_t part;           /* whose file is open */
	int descriptor;        /* -1: none */
	uint8_t *bytes;        /* of a run */
	size_t room;
};

/* Chunks that follow each other in the file: the first and one past the last in the list of frames, and where they are. */
typedef struct chunk_run { size_t first, end; uint64_t address, size; } chunk_run;

frame_reader *frame_reader_new(const acquisition *a, const frame_source *source, ssb_error *err)
{
	frame_reader *const reader = calloc(1, sizeof *reader);
	if (!reader)
		return ssb_fail(err, SSB_RUNTIME, "out of memory"), NULL;
	*reader = (frame_reader){.a = a, .source = source, .descriptor = -1, .unpacker = chunk_unpacker_new(err)};
	if (reader->unpacker)
		return reader;
	frame_reader_free(reader);
	return NULL;
}

void frame_reader_free(frame_reader *reader)
{
	if (!reader)
		return;
	if (reader->descriptor >= 0)
		close(reader->descriptor);
	chunk_unpacker_free(reader->unpacker);
	free(reader->bytes);
	free(reader);
}

/* A run, and three blocks of at most a frame. */
size_t frame_reader_memory(const acquisition *a)
{
	return RUN_BYTES + 6 * a->rows * a->columns * a->element_size;
}

static bool open_file(frame_reader *reader, size_t part, const part_places *places, ssb_error *err)
{
	struct stat status;
	if (reader->descriptor >= 0 && reader->part == part)
		return true;
	if (reader->descriptor >= 0)
		close(reader->descriptor);
	reader->part = part;
	reader->descriptor = open(reader->a->part[part].file, O_RDONLY | O_CLOEXEC);
	if (reader->descriptor < 0 || fstat(reader->descriptor, &status) != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "%s", strerror(errno));
	return (status.st_dev == places->device && status.st_ino == places->inode) ||
	       ssb_fail(err, SSB_BAD_INPUT, "the file was replaced while it was read");
}

static bool fetch(frame_reader *reader, const chunk_run *run, ssb_error *err)
{
	if (run->size > reader->room) {
		free(reader->bytes);
		reader->room = run->size > RUN_BYTES ? run->size : RUN_BYTES;
		reader->bytes = malloc(reader->room);
		if (!reader->bytes) {
			reader->room = 0;
			return ssb_fail_errno(err, "chunks of %" PRIu64 " bytes", run->size);
		}
	}
	for (uint64_t done = 0; done < run->size;) {
		const ssize_t got = pread(reader->descriptor, reader->bytes + done, run->size - done, (off_t)(run->address + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return ssb_fail(err, SSB_BAD_INPUT, "its chunk of %" PRIu64 " bytes at %" PRIu64 " cannot be read: %s", run->size, run->address,
			                got < 0 ? strerror(errno) : "the file ends before");
		done += (uint64_t)got;
	}
	return true;
}

/* A run that cannot be read is cut to its first chunk, so that an error is that chunk's alone. */
static bool fetch_run(frame_reader *reader, const frame_place *first, chunk_run *run, ssb_error *err)
{
	if (fetch(reader, run, err))
		return true;
	*run = (chunk_run){run->first, run->first + 1, first->address, first->size};
	return fetch(reader, run, err);
}

/* The longest run of plausible chunks from run->first on; it is empty where the first is not plausible. */
static void find_run(const frame_place *places, const chunk_packing *packing, uint64_t first_of_part, const uint64_t *frames, size_t count,
                     chunk_run *run)
{
	ssb_error err;
	run->size = 0;
	for (run->end = run->first; run->end < count; run->end++) {
		const frame_place *const place = &places[frames[run->end] - first_of_part];
		if (!chunk_check_size(packing, place->size, &err))
			return;
		if (run->end == run->first)
			run->address = place->address;
		const uint64_t end = place->address - run->address + place->size;
		if (run->end > run->first && (place->address < run->address + run->size || place->address > run->address + run->size + GAP_BYTES ||
		                              end > RUN_BYTES))
			return;
		run->size = end;
	}
}

/* Frames of one part. */
static bool read_part(frame_reader *reader, size_t part, const uint64_t *frames, size_t count, size_t before, const frame_sink *sink,
                      ssb_error *err)
{
	const uint64_t first_of_part = reader->a->part[part].first;
	const part_places *const places = frame_source_places(reader->source, part);
	const chunk_packing *const packing = &places->packing;
	if (!open_file(reader, part, places, err))
		return false;
	chunk_run run = {.first = 0};
	for (size_t i = 0; i < count; i++) {
		const frame_place *const place = &places->frame[frames[i] - first_of_part];
		bool ok = true;
		if (i == 0 || i == run.end) {
			run.first = i;
			find_run(places->frame, packing, first_of_part, frames, count, &run);
			ok = chunk_check_size(packing, place->size, err) && fetch_run(reader, place, &run, err);
		}
		if (ok) {
			const chunk_job job = {.stored = reader->bytes + (place->address - run.address), .stored_size = place->size, .plain = place->plain};
			sink->begin(sink->context, before + i);
			ok = chunk_unpack(reader->unpacker, packing, &job, sink->take, sink->context, err);
		}
		if (!ok)
			return ssb_fail_prefix(err, "frame %" PRIu64 ": ", frames[i]);
	}
	return true;
}

bool frame_reader_run(frame_reader *reader, const uint64_t *frames, size_t count, const frame_sink *sink, ssb_error *err)
{
	const acquisition *const a = reader->a;
	for (size_t i = 0, inside; i < count; i += inside) {
		const size_t p = frame_source_part(a, frames[i]);
		if (p == a->parts || frames[i] < a->part[p].first)
			return ssb_fail(err, SSB_BAD_INPUT, "cannot read '%s': frame %" PRIu64 " is in no file", a->path, frames[i]);
		for (inside = 1; i + inside < count && frames[i + inside] - a->part[p].first < a->part[p].frames;)
			inside++;
		if (!read_part(reader, p, frames + i, inside, i, sink, err))
			return frame_source_name_part(a, &a->part[p], err);
	}
	return true;
}
