#include "tools/ssb-decode/frame_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tools/ssb-decode/dataset.h"

struct frame_source {
	const acquisition *a;
	part_places *places;   /* of each part, kept from when it was open; NULL where they would take too much memory */
	bool elsewhere;        /* a part was open whose frames are not chunks of known places */
	chunk_decoder *decoder;
	size_t open_part;      /* the part that is open; a->parts: none */
	h5_place place;        /* of an HDF5 part */
	dataset *set;
	int descriptor;        /* of an .npy file */
	uint64_t *local;       /* frame numbers within a part */
	size_t local_room;
};

frame_source *frame_source_open(const acquisition *a, size_t memory, ssb_error *err)
{
	frame_source *const source = calloc(1, sizeof *source);
	if (!source)
		return ssb_fail_errno(err, "frame source"), NULL;
	source->a = a;
	source->open_part = a->parts;
	source->place.file = -1;
	source->descriptor = -1;
	if (a->frames <= memory / 8 / sizeof(frame_place))
		source->places = calloc(a->parts, sizeof *source->places);
	source->decoder = chunk_decoder_new(err);
	if (source->decoder)
		return source;
	frame_source_close(source);
	return NULL;
}

static void close_part(frame_source *source)
{
	dataset_close(source->set);
	source->set = NULL;
	h5_leave(&source->place);
	if (source->descriptor >= 0)
		close(source->descriptor);
	source->descriptor = -1;
	source->open_part = source->a->parts;
}

void frame_source_close(frame_source *source)
{
	if (!source)
		return;
	close_part(source);
	for (size_t p = 0; source->places && p < source->a->parts; p++)
		free(source->places[p].frame);
	free(source->places);
	chunk_decoder_free(source->decoder);
	free(source->local);
	free(source);
}

static bool open_npy_part(frame_source *source, ssb_error *err)
{
	npy_header header;
	return npy_open(source->a->path, &header, &source->descriptor, err);
}

static bool open_hdf5_part(frame_source *source, const acquisition_part *part, ssb_error *err)
{
	bool absent;
	if (!h5_follow(part->file, part->object, &source->place, &absent, err))
		return false;
	source->set = dataset_open(&source->place, err);
	if (!source->set)
		return false;
	const dataset_info *const info = dataset_describe(source->set);
	if (info->frames != part->frames || info->rows != source->a->rows || info->columns != source->a->columns ||
	    info->element_size != source->a->element_size)
		return ssb_fail(err, SSB_BAD_INPUT, "the file changed while it was read");
	return true;
}

static void keep_places(frame_source *source, size_t part)
{
	const uint64_t frames = source->a->part[part].frames;
	part_places *const places = &source->places[part];
	const raw_file *file;
	struct stat status = {0};
	if (places->frame || source->elsewhere)
		return;
	const stored_chunk *const chunk = source->set ? dataset_frame_chunks(source->set, &file, &places->packing) : NULL;
	places->frame = chunk && fstat(file->descriptor, &status) == 0 ? malloc(frames * sizeof *places->frame) : NULL;
	places->device = status.st_dev;
	places->inode = status.st_ino;
	source->elsewhere = !places->frame;
	for (uint64_t i = 0; places->frame && i < frames; i++) {
		places->frame[i] = (frame_place){file->base + chunk[i].address, (uint32_t)chunk[i].size, chunk[i].mask & 1};
		source->elsewhere = source->elsewhere || chunk[i].size > UINT32_MAX || chunk[i].address > file->size;
	}
}

static bool open_part(frame_source *source, size_t part, ssb_error *err)
{
	if (source->open_part == part)
		return true;
	close_part(source);
	if (!(source->a->is_npy ? open_npy_part(source, err) : open_hdf5_part(source, &source->a->part[part], err))) {
		close_part(source);
		return false;
	}
	source->open_part = part;
	if (source->places)
		keep_places(source, part);
	return true;
}

size_t frame_source_part(const acquisition *a, uint64_t number)
{
	size_t low = 0, high = a->parts;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (a->part[middle].first + a->part[middle].frames > number)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* How many frames of the list lie in `part`, from its first on; their numbers within the part go to source->local. */
static bool localise(frame_source *source, const acquisition_part *part, const uint64_t *frames, size_t count, size_t *inside, ssb_error *err)
{
	if (count > source->local_room) {
		free(source->local);
		source->local_room = 0;
		source->local = malloc(count * sizeof *source->local);
		if (!source->local)
			return ssb_fail_errno(err, "list of %zu frames", count);
		source->local_room = count;
	}
	for (*inside = 0; *inside < count && frames[*inside] - part->first < part->frames; ++*inside)
		source->local[*inside] = frames[*inside] - part->first;
	return true;
}

bool frame_source_name_part(const acquisition *a, const acquisition_part *part, ssb_error *err)
{
	if (a->is_npy)
		return ssb_fail_prefix(err, "cannot read '%s': ", a->path);
	return ssb_fail_prefix(err, "cannot read '%s': '%s:%s': ", a->path, part->file, part->object);
}

bool frame_source_places_known(const frame_source *source)
{
	bool some = false;
	for (size_t p = 0; source->places && p < source->a->parts; p++)
		some = some || source->places[p].frame;
	return some && !source->elsewhere;
}

const part_places *frame_source_places(const frame_source *source, size_t part)
{
	return &source->places[part];
}

bool frame_source_absent(frame_source *source, const uint64_t *frames, size_t count, uint8_t *absent, ssb_error *err)
{
	const acquisition *const a = source->a;
	memset(absent, a->is_npy ? 0 : 1, count);
	for (size_t i = 0, inside; i < count && !a->is_npy; i += inside) {
		const size_t p = frame_source_part(a, frames[i]);
		inside = 1;
		if (p == a->parts || frames[i] < a->part[p].first)
			continue;
		if (!open_part(source, p, err) || !localise(source, &a->part[p], frames + i, count - i, &inside, err) ||
		    !dataset_absent(source->set, source->local, inside, absent + i, err))
			return frame_source_name_part(a, &a->part[p], err);
	}
	for (size_t i = 0; i < count; i++)
		absent[i] |= frames[i] >= a->frames;
	return true;
}

static bool read_npy(frame_source *source, const uint64_t *frames, size_t count, uint8_t *values, ssb_error *err)
{
	const acquisition *const a = source->a;
	const size_t pixels = a->rows * a->columns, bytes = pixels * a->element_size;
	for (size_t i = 0, run; i < count; i += run) {
		for (run = 1; i + run < count && frames[i + run] == frames[i] + run;)
			run++;
		if (!npy_read(source->descriptor, values + i * bytes, run * bytes, a->npy.data + frames[i] * bytes, err))
			return false;
	}
	if (a->npy.big_endian)
		elements_swap(values, count * pixels, a->element_size);
	return true;
}

bool frame_source_read(frame_source *source, const uint64_t *frames, size_t count, void *values, ssb_error *err)
{
	const acquisition *const a = source->a;
	const size_t bytes = a->rows * a->columns * a->element_size;
	for (size_t i = 0, inside = 0; i < count; i += inside) {
		const size_t p = frame_source_part(a, frames[i]);
		if (p == a->parts || frames[i] < a->part[p].first)
			return ssb_fail(err, SSB_BAD_INPUT, "cannot read '%s': frame %llu is in no file", a->path, (unsigned long long)frames[i]);
		if (!open_part(source, p, err) || !localise(source, &a->part[p], frames + i, count - i, &inside, err))
			return frame_source_name_part(a, &a->part[p], err);
		uint8_t *const target = (uint8_t *)values + i * bytes;
		if (!(a->is_npy ? read_npy(source, source->local, inside, target, err)
		                : dataset_read(source->set, source->local, inside, target, a->part[p].first, source->decoder, err)))
			return frame_source_name_part(a, &a->part[p], err);
	}
	return true;
}

size_t frame_source_batch(const frame_source *source, const uint64_t *frames, size_t count, size_t limit)
{
	const acquisition *const a = source->a;
	if (count <= limit)
		return count;
	for (size_t n = limit; n > 0; n--) {
		const acquisition_part *const part = &a->part[frame_source_part(a, frames[n - 1])];
		const uint64_t local = frames[n - 1] - part->first, next_band = part->first + (local / part->band + 1) * part->band;
		if (frames[n] >= next_band || frames[n] >= part->first + part->frames)
			return n;
	}
	return limit;
}
