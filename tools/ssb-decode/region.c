#include "tools/ssb-decode/region.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/profile.h"
#include "tools/ssb-decode/direct.h"

enum {
	LIST_SIZE = 400,
	BLOCK = 65536,              /* positions looked at together when no counts are read */
	SAMPLE = 2048,              /* frames that the bright field is judged from */
	OUTPUT_BYTES = 8 << 20,     /* of a chunk of counts, before narrowing */
	BATCH_BYTES = 64 << 20,     /* of whole frames in memory, at most */
	BATCH_FRAMES = 8192,
};

size_t region_positions(const region_plan *plan)
{
	return plan->positions.shape[0] * plan->positions.shape[1];
}

uint64_t region_frame(const region_plan *plan, size_t p)
{
	const box *const b = &plan->positions;
	return (uint64_t)(b->origin[0] + p / b->shape[1]) * plan->scan[1] + b->origin[1] + p % b->shape[1];
}

void region_plan_free(region_plan *plan)
{
	free(plan->valid);
	free(plan->flags);
}

/* ---- positions without a frame ---- */

static size_t name_position(const region_plan *plan, uint64_t frame, bool as_frame, char *text, size_t size)
{
	if (as_frame)
		return (size_t)snprintf(text, size, "%" PRIu64, frame);
	return (size_t)snprintf(text, size, "(%" PRIu64 ",%" PRIu64 ")", frame / plan->scan[1], frame % plan->scan[1]);
}

/* Runs of invalid positions as a list: as frames, "30, 40 to 44", or as positions, "(3,0), (4,0) to (4,4)". */
static void list_invalid(const region_plan *plan, bool as_frames, char *list)
{
	size_t length = 0;
	const size_t count = region_positions(plan);
	list[0] = 0;
	for (size_t p = 0, end; p < count && length < LIST_SIZE - 100; p = end) {
		for (end = p + 1; end < count && !plan->valid[p] && !plan->valid[end];)
			end++;
		if (plan->valid[p])
			continue;
		const uint64_t first = region_frame(plan, p), last = region_frame(plan, end - 1);
		length += (size_t)snprintf(list + length, LIST_SIZE - length, "%s", length ? ", " : "");
		length += name_position(plan, first, as_frames, list + length, LIST_SIZE - length);
		if (last > first) {
			length += (size_t)snprintf(list + length, LIST_SIZE - length, " to ");
			length += name_position(plan, last, as_frames, list + length, LIST_SIZE - length);
		}
		if (length >= LIST_SIZE - 100)
			snprintf(list + length, LIST_SIZE - length, " …");
	}
}

static bool judge_invalid(const region_plan *plan, const acquisition *a, bool partial, ssb_error *err)
{
	char list[LIST_SIZE];
	const size_t count = region_positions(plan);
	if (plan->frames == count)
		return true;
	list_invalid(plan, !partial, list);
	if (!partial)
		return ssb_fail(err, SSB_BAD_INPUT, "cannot read '%s': %" PRIu64 " frames were never written: frame %s (--partial marks their "
		                "positions invalid)", a->path, count - plan->frames, list);
	if (plan->frames == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "cannot read '%s': no position of the region has a frame", a->path);
	message_warn(a->warnings, "%" PRIu64 " of %zu positions have no frame and are invalid: %s", count - plan->frames, count, list);
	return true;
}

bool region_find_valid(region_plan *plan, const acquisition *a, frame_source *source, bool partial, ssb_error *err)
{
	const size_t count = region_positions(plan);
	uint64_t *const frames = malloc(BLOCK * sizeof *frames);
	plan->valid = malloc(count);
	bool ok = frames && plan->valid;
	plan->frames = 0;
	if (!ok)
		ssb_fail(err, SSB_RUNTIME, "out of memory for %zu positions", count);
	for (size_t p = 0; ok && p < count; p += BLOCK) {
		const size_t n = count - p < BLOCK ? count - p : BLOCK;
		for (size_t i = 0; i < n; i++)
			frames[i] = region_frame(plan, p + i);
		ok = frame_source_absent(source, frames, n, plan->valid + p, err);
		for (size_t i = 0; ok && i < n; i++)
			plan->frames += plan->valid[p + i] = !plan->valid[p + i];
	}
	free(frames);
	return ok && judge_invalid(plan, a, partial, err);
}

/* ---- flags ---- */

/* What any region of such frames needs; asked before any of it is allocated, for a damaged file may claim any size. */
static bool check_memory(const region_plan *plan, const acquisition *a, ssb_error *err)
{
	size_t pixels, need;
	if (__builtin_mul_overflow(a->rows, a->columns, &pixels) || __builtin_mul_overflow(pixels, 9 * sizeof(uint64_t), &need) ||
	    __builtin_add_overflow(need, region_positions(plan), &need) || need > plan->memory)
		return ssb_fail(err, SSB_RUNTIME, "frames of %zux%zu and %zu positions need more memory than the %zu MiB that --memory allows", a->rows,
		                a->columns, region_positions(plan), plan->memory >> 20);
	return true;
}

bool region_flag_pixels(region_plan *plan, const acquisition *a, const uint8_t *added, ssb_error *err)
{
	const size_t pixels = a->rows * a->columns;
	size_t masked = 0, more = 0, left = pixels;
	if (!check_memory(plan, a, err))
		return false;
	plan->flags = calloc(pixels, 1);
	if (!plan->flags)
		return ssb_fail_errno(err, "flags of %zu pixels", pixels);
	for (size_t i = 0; i < pixels; i++) {
		plan->flags[i] = (uint8_t)((a->masked && a->masked[i] ? FLAG_MASKED : 0) | (added && added[i] ? FLAG_ADDED : 0));
		masked += plan->flags[i] & FLAG_MASKED;
		more += plan->flags[i] == FLAG_ADDED;
		left -= plan->flags[i] != 0;
	}
	if (left == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "cannot read '%s': every pixel is masked (1 means bad)", a->path);
	if (a->masked || added)
		message_note("%zu pixels masked by the file, %zu more by --mask", masked, more);
	return true;
}

/* ---- batches of whole frames ---- */

typedef struct batch {
	uint64_t *frame;     /* numbers of the valid positions in it */
	size_t *position;    /* of each */
	size_t count;
	size_t next;         /* the position after the batch */
	size_t room;
	void *counts;        /* room × rows × columns elements */
} batch;

static void batch_free(batch *b)
{
	free(b->frame);
	free(b->position);
	free(b->counts);
	*b = (batch){0};
}

static bool batch_new(batch *b, const region_plan *plan, const acquisition *a, ssb_error *err)
{
	const size_t pixels = a->rows * a->columns, bytes = pixels * a->element_size;
	const size_t room = (plan->memory / 4 < BATCH_BYTES ? plan->memory / 4 : BATCH_BYTES) / bytes;
	*b = (batch){.room = room < 1 ? 1 : room > BATCH_FRAMES ? BATCH_FRAMES : room};
	b->frame = malloc((b->room + 1) * sizeof *b->frame); /* one more: to see where the next batch begins */
	b->position = malloc((b->room + 1) * sizeof *b->position);
	b->counts = malloc(b->room * bytes);
	if (b->frame && b->position && b->counts)
		return true;
	ssb_fail_errno(err, "%zu frames", b->room);
	batch_free(b);
	return false;
}

/* Read the frames from position b->next on: as many as there is room for, fewer if that keeps chunks whole. */
static bool batch_read(batch *b, const region_plan *plan, frame_source *source, ssb_error *err)
{
	const size_t all = region_positions(plan);
	size_t seen = 0;
	for (size_t p = b->next; p < all && seen <= b->room; p++)
		if (plan->valid[p]) {
			b->frame[seen] = region_frame(plan, p);
			b->position[seen++] = p;
		}
	b->count = frame_source_batch(source, b->frame, seen, b->room);
	b->next = b->count < seen ? b->position[b->count] : all;
	return frame_source_read(source, b->frame, b->count, b->counts, err);
}

/* ---- the bright field ---- */

/* Up to SAMPLE valid positions, evenly spaced among them. */
static size_t choose_sample(const region_plan *plan, uint64_t *frames)
{
	const uint64_t wanted = plan->frames < SAMPLE ? plan->frames : SAMPLE;
	uint64_t seen = 0;
	size_t chosen = 0;
	for (size_t p = 0; p < region_positions(plan) && chosen < wanted; p++)
		if (plan->valid[p] && seen++ == chosen * plan->frames / wanted)
			frames[chosen++] = region_frame(plan, p);
	return chosen;
}

static bool sum_sample(const region_plan *plan, const acquisition *a, frame_source *source, pixel_sums *sums, ssb_error *err)
{
	uint64_t frames[SAMPLE];
	batch b;
	const size_t chosen = choose_sample(plan, frames);
	bool ok = true;
	if (frame_source_places_known(source))
		return direct_sum(plan, a, source, frames, chosen, sums, err);
	if (!batch_new(&b, plan, a, err))
		return false;
	for (size_t i = 0, n; ok && i < chosen; i += n) {
		n = frame_source_batch(source, frames + i, chosen - i, b.room);
		ok = frame_source_read(source, frames + i, n, b.counts, err);
		if (ok)
			pixel_sums_add(sums, b.counts, n, a->element_size);
	}
	batch_free(&b);
	return ok;
}

bool region_find_pixels(region_plan *plan, const acquisition *a, frame_source *source, ssb_error *err)
{
	const size_t pixels = a->rows * a->columns;
	pixel_sums sums;
	box disk;
	size_t disk_pixels;
	uint8_t *const flags = malloc(pixels);
	if (!flags)
		return ssb_fail_errno(err, "flags of %zu pixels", pixels);
	memcpy(flags, plan->flags, pixels);
	const bool ok = pixel_sums_new(&sums, pixels, err) && sum_sample(plan, a, source, &sums, err);
	if (ok) {
		pixel_sums_flag(&sums, a->element_size, flags);
		plan->pixels = (box){{0, 0}, {a->rows, a->columns}};
		plan->found = bright_field(sums.sum, flags, a->rows, a->columns, &disk, &disk_pixels);
	}
	if (ok && plan->found) {
		const size_t margin = 2 + (size_t)ceil(sqrt((double)disk_pixels / M_PI) / 8);
		plan->pixels = box_grown(&disk, margin, a->rows, a->columns);
		message_note("detector region %zu:%zu,%zu:%zu, the bright field and %zu pixels around it (--roi sets another)", plan->pixels.origin[0],
		             plan->pixels.origin[0] + plan->pixels.shape[0], plan->pixels.origin[1],
		             plan->pixels.origin[1] + plan->pixels.shape[1], margin);
	} else if (ok) {
		message_note("no bright field stands out (flat, or half of the detector and more): the full detector is kept");
	}
	pixel_sums_free(&sums);
	free(flags);
	return ok;
}

/* ---- writing ---- */

/* Chunks of whole cut frames on their way to the writer. */
typedef struct output {
	ssb_writer *writer;
	pixel_cut cut;
	size_t frame_elements, frames, filled; /* of a chunk */
	size_t done;                           /* positions handed over so far */
	void *elements;
} output;

static bool flush(output *out, ssb_error *err)
{
	const size_t count = out->filled * out->frame_elements, width = elements_width(out->elements, count, out->cut.element_size);
	if (out->filled == 0)
		return true;
	if (width < out->cut.element_size)
		elements_narrow(out->elements, count, out->cut.element_size, width);
	out->filled = 0;
	return ssb_write_chunk(out->writer, out->elements, width == 1 ? SSB_U1 : width == 2 ? SSB_U2 : SSB_U4, err);
}

/* Hand over positions out->done … end - 1; `b` holds the frames of the valid ones. */
static bool put_positions(output *out, const batch *b, size_t end, ssb_error *err)
{
	const size_t frame_bytes = out->frame_elements * out->cut.element_size, full_bytes = out->cut.rows * out->cut.columns * out->cut.element_size;
	size_t next = 0;
	while (out->done < end) {
		const size_t n = end - out->done < out->frames - out->filled ? end - out->done : out->frames - out->filled, first = next;
		uint8_t *const target = (uint8_t *)out->elements + out->filled * frame_bytes;
		memset(target, 0, n * frame_bytes);
		while (next < b->count && b->position[next] < out->done + n)
			next++;
#pragma omp parallel for schedule(static)
		for (size_t i = first; i < next; i++)
			pixel_cut_frame(&out->cut, (const uint8_t *)b->counts + i * full_bytes, target + (b->position[i] - out->done) * frame_bytes);
		out->done += n;
		out->filled += n;
		if (out->filled == out->frames && !flush(out, err))
			return false;
	}
	return true;
}

static bool write_counts(const region_plan *plan, const acquisition *a, frame_source *source, output *out, pixel_sums *sums, ssb_error *err)
{
	batch b;
	const size_t all = region_positions(plan);
	if (!batch_new(&b, plan, a, err))
		return false;
	bool ok = true;
	while (ok && b.next < all) {
		profile_phase("decode");
		ok = batch_read(&b, plan, source, err);
		if (ok)
			pixel_sums_add(sums, b.counts, b.count, a->element_size);
		profile_phase("write");
		ok = ok && put_positions(out, &b, b.next, err);
		message_progress("decoding", b.next, all);
	}
	message_progress("decoding", 0, 0);
	batch_free(&b);
	return ok && flush(out, err);
}

static json_t *pair(size_t first, size_t second)
{
	return json_pack("[I, I]", (json_int_t)first, (json_int_t)second);
}

static const char *base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static json_t *describe_data(const acquisition *a)
{
	const acquisition_part *const first = &a->part[0], *const last = &a->part[a->parts - 1];
	if (a->is_npy)
		return json_string(base_name(a->path));
	if (a->parts == 1)
		return json_sprintf("%s:%s", base_name(first->file), first->object);
	return json_sprintf("%s:%s to %s:%s", base_name(first->file), first->object, base_name(last->file), last->object);
}

static json_t *region_meta(const region_plan *plan, const acquisition *a)
{
	static const char *const policies[] = {"mask", "median", "zero", "keep"};
	const char type[] = {'u', (char)('0' + a->element_size), 0};
	json_t *const meta = json_object();
	uint64_t frames = 0;
	for (size_t i = 0; i < a->parts; i++)
		frames += a->part[i].frames;
	json_object_set_new(meta, "scan_shape", pair(plan->positions.shape[0], plan->positions.shape[1]));
	json_object_set_new(meta, "scan_shape_source", json_string(plan->scan_source));
	json_object_set_new(meta, "scan_origin", pair(plan->positions.origin[0], plan->positions.origin[1]));
	json_object_set_new(meta, "scan_shape_full", pair(plan->scan[0], plan->scan[1]));
	json_object_set_new(meta, "detector_shape", pair(a->rows, a->columns));
	json_object_set_new(meta, "detector_origin", pair(plan->pixels.origin[0], plan->pixels.origin[1]));
	json_object_set_new(meta, "frames", json_integer((json_int_t)frames));
	json_object_set_new(meta, "frames_summed", json_integer((json_int_t)plan->frames));
	json_object_set_new(meta, "stored_dtype", json_string(type));
	json_object_set_new(meta, "bad_pixels", json_string(policies[plan->policy]));
	json_object_set_new(meta, "flagged_pixels", json_string(plan->policy == BAD_KEEP ? "used" : "left out"));
	json_object_set(meta, "instrument", a->instrument);
	json_object_set_new(meta, "data", describe_data(a));
	if (json_array_size(a->warnings))
		json_object_set(meta, "warnings", a->warnings);
	return meta;
}

static ssb_array array_of(const char *name, enum ssb_dtype dtype, enum ssb_codec codec, size_t rows, size_t columns, const char *unit)
{
	const size_t chunk = 1 << 20;
	ssb_array array = {.dtype = dtype, .codec = codec, .rank = 2, .shape = {rows, columns}};
	array.chunk_elements = rows * columns < chunk ? rows * columns : chunk;
	snprintf(array.name, sizeof array.name, "%s", name);
	snprintf(array.unit, sizeof array.unit, "%s", unit);
	return array;
}

static ssb_writer *open_writer(const region_plan *plan, const acquisition *a, size_t chunk_frames, const json_t *history, const char *path,
                               ssb_error *err)
{
	const size_t *const scan = plan->positions.shape, *const roi = plan->pixels.shape;
	const enum ssb_dtype stored = a->element_size == 1 ? SSB_U1 : a->element_size == 2 ? SSB_U2 : SSB_U4;
	ssb_array arrays[] = {
		array_of("scan_valid", SSB_U1, plan->codec, scan[0], scan[1], "1"),
		array_of("counts", stored, plan->codec, scan[0], scan[1], "counts"),
		array_of("sum_pattern", SSB_U8, plan->codec, a->rows, a->columns, "counts"),
		array_of("largest_count", SSB_U8, plan->codec, a->rows, a->columns, "counts"),
		array_of("pixel_flags", SSB_U1, plan->codec, a->rows, a->columns, "1"),
	};
	arrays[1].rank = 4;
	arrays[1].shape[2] = roi[0];
	arrays[1].shape[3] = roi[1];
	arrays[1].chunk_elements = chunk_frames * roi[0] * roi[1];
	json_t *const meta = region_meta(plan, a);
	ssb_writer *const writer = ssb_writer_open(path, SSB_REGION, meta, history, arrays, sizeof arrays / sizeof *arrays, err);
	json_decref(meta);
	return writer;
}

/* What the exact sums show that could not be known before. */
static bool check_found_pixels(const region_plan *plan, const acquisition *a, const pixel_sums *sums, ssb_error *err)
{
	box disk;
	size_t disk_pixels;
	if (!plan->found || !bright_field(sums->sum, plan->flags, a->rows, a->columns, &disk, &disk_pixels) || box_contains(&plan->pixels, &disk))
		return true;
	return ssb_fail(err, SSB_BAD_INPUT, "cannot read '%s': the bright field of all frames is %zu:%zu,%zu:%zu and leaves the detector region "
	                "that %d frames showed: give --roi", a->path, disk.origin[0], disk.origin[0] + disk.shape[0], disk.origin[1],
	                disk.origin[1] + disk.shape[1], SAMPLE);
}

static void report_pixels(const region_plan *plan, const acquisition *a, const pixel_sums *sums, const uint8_t *unfilled)
{
	const double limit = json_number_value(json_object_get(a->instrument, "saturation_count"));
	size_t sentinel = 0, saturated = 0, left = 0;
	for (size_t i = 0; i < sums->pixels; i++) {
		sentinel += plan->flags[i] == FLAG_SENTINEL;
		saturated += limit > 0 && !plan->flags[i] && (double)sums->largest[i] >= limit;
		left += unfilled[i];
	}
	if (sentinel)
		message_note("%zu pixels that no mask flags read the sentinel %" PRIu64 " (saturated or without count): flagged", sentinel,
		             pixel_sentinel(a->element_size));
	if (saturated)
		message_note("%zu unflagged pixels reach the saturation count %.0f in some frame", saturated, limit);
	if (left)
		message_note("%zu bad pixels had no valid neighbour in some frame and keep the count as read there", left);
}

static bool write_all(region_plan *plan, const acquisition *a, frame_source *source, output *out, pixel_sums *sums, ssb_error *err)
{
	const bool direct = plan->policy != BAD_MEDIAN && frame_source_places_known(source);
	if (!ssb_write_array(out->writer, plan->valid, err))
		return false;
	if (!(direct ? direct_write(plan, a, source, out->frames, out->writer, sums, err) : write_counts(plan, a, source, out, sums, err)))
		return false;
	pixel_sums_flag(sums, a->element_size, plan->flags);
	return check_found_pixels(plan, a, sums, err) && ssb_write_array(out->writer, sums->sum, err) &&
	       ssb_write_array(out->writer, sums->largest, err) && ssb_write_array(out->writer, plan->flags, err);
}

bool region_write(region_plan *plan, const acquisition *a, frame_source *source, const json_t *history, const char *path, ssb_error *err)
{
	const size_t pixels = a->rows * a->columns, elements = plan->pixels.shape[0] * plan->pixels.shape[1];
	const size_t fitting = OUTPUT_BYTES / (elements * a->element_size), all = region_positions(plan);
	const size_t chunk_frames = fitting < 1 ? 1 : fitting < all ? fitting : all;
	uint8_t *const unfilled = calloc(pixels, 1);
	pixel_sums sums = {0};
	output out = {.frame_elements = elements, .frames = chunk_frames};
	out.elements = malloc(chunk_frames * elements * a->element_size);
	bool ok = (unfilled && out.elements) || ssb_fail(err, SSB_RUNTIME, "out of memory");
	out.cut = (pixel_cut){a->rows, a->columns, a->element_size, plan->pixels, plan->policy, plan->flags, unfilled};
	ok = ok && pixel_sums_new(&sums, pixels, err) && (out.writer = open_writer(plan, a, chunk_frames, history, path, err));
	if (ok)
		ok = write_all(plan, a, source, &out, &sums, err);
	if (ok) {
		report_pixels(plan, a, &sums, unfilled);
		ok = ssb_writer_finish(out.writer, err);
	} else {
		ssb_writer_discard(out.writer);
	}
	pixel_sums_free(&sums);
	free(out.elements);
	free(unfilled);
	return ok;
}
