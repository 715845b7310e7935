#include "tools/ssb-prep/region.h"

#include <stdlib.h>
#include <string.h>
#include "tools/common/meta.h"

const void *counts_frame(const frame_counts *c, size_t frame, enum ssb_dtype *type)
{
	const size_t block = frame / c->block_frames;
	*type = c->type[block];
	return (const char *)c->block[block] + frame % c->block_frames * c->frame_elements * ssb_dtype_size(*type);
}

const char *region_name(const region *r)
{
	const char *path = ssb_reader_path(r->reader);
	return strcmp(path, "-") ? path : "standard input";
}

/* Puts the file's name in front of a failure of the checks here; the reader's own failures name it already. */
static bool named(const region *r, bool ok, ssb_error *err)
{
	return ok || ssb_fail_prefix(err, "'%s': ", region_name(r));
}

static bool read_geometry(region *r, ssb_error *err)
{
	const json_t *meta = r->meta;
	if (!meta_sizes(meta, "scan_shape", r->scan, err) || !meta_sizes(meta, "scan_origin", r->scan_origin, err) ||
	    !meta_sizes(meta, "detector_shape", r->detector, err) || !meta_sizes(meta, "detector_origin", r->origin, err))
		return false;
	return (r->scan[0] && r->scan[1] && r->detector[0] && r->detector[1]) ||
	       ssb_fail(err, SSB_BAD_INPUT, "its scan or its detector is empty");
}

static bool check_shape(const ssb_array *array, const size_t *shape, ssb_error *err)
{
	for (unsigned i = 0; i < array->rank; i++)
		if (array->shape[i] != shape[i])
			return ssb_fail(err, SSB_BAD_INPUT, "axis %u of '%s' has %llu elements, the header says %zu", i, array->name,
			                (unsigned long long)array->shape[i], shape[i]);
	return true;
}

/* The array `name` of `shape`, read; NULL on failure. */
static void *load(region *r, const char *name, enum ssb_dtype dtype, const size_t shape[2], ssb_error *err)
{
	size_t index;
	if (!ssb_reader_find(r->reader, name, dtype, 2, &index, err) ||
	    !named(r, check_shape(ssb_reader_array(r->reader, index), shape, err), err))
		return NULL;
	return ssb_load_array(r->reader, name, dtype, 2, NULL, err);
}

static bool check_window(region *r, const ssb_array *array, ssb_error *err)
{
	for (int i = 0; i < 2; i++) {
		if (array->shape[2 + i] == 0 || r->origin[i] > r->detector[i] || array->shape[2 + i] > r->detector[i] - r->origin[i])
			return ssb_fail(err, SSB_BAD_INPUT, "its counts lie outside of the detector");
		r->window[i] = array->shape[2 + i];
	}
	const size_t shape[4] = {r->scan[0], r->scan[1], r->window[0], r->window[1]};
	if (!check_shape(array, shape, err))
		return false;
	if (array->dtype > SSB_U4)
		return ssb_fail(err, SSB_BAD_INPUT, "its counts are of type %s, not u1, u2 or u4", ssb_dtype_name(array->dtype));
	if (array->chunk_elements % (r->window[0] * r->window[1]))
		return ssb_fail(err, SSB_BAD_INPUT, "its counts are not in chunks of whole frames");
	return true;
}

/* Each is verified as it is taken, in a file by all threads. */
static bool load_blocks(region *r, size_t array, ssb_error *err)
{
	frame_counts *c = &r->counts;
	const ssb_array *counts = ssb_reader_array(r->reader, array);
	const bool mapped = ssb_reader_is_mapped(r->reader);
	size_t bytes = 0, bad = c->blocks; /* the first that is */
#pragma omp parallel for schedule(static) reduction(+ : bytes) if (mapped)
	for (size_t i = 0; i < c->blocks; i++) {
		ssb_error failure;
		size_t limit;
#pragma omp atomic read
		limit = bad;
		if (i > limit)
			continue;
		if (ssb_reader_chunk(r->reader, array, i, &c->block[i], &c->type[i], &failure))
			bytes += ssb_chunk_elements(counts, i) * ssb_dtype_size(c->type[i]);
		else
#pragma omp critical(bad_block)
			if (i < bad) {
				*err = failure;
#pragma omp atomic write
				bad = i;
			}
	}
	*(mapped && counts->codec == SSB_RAW ? &r->mapped : &r->held) = bytes;
	return bad == c->blocks;
}

static bool load_counts(region *r, ssb_error *err)
{
	size_t index;
	frame_counts *c = &r->counts;
	if (!ssb_reader_find(r->reader, "counts", 0, 4, &index, err))
		return false;
	const ssb_array *array = ssb_reader_array(r->reader, index);
	if (!named(r, check_window(r, array, err), err))
		return false;
	c->frames = r->scan[0] * r->scan[1];
	c->frame_elements = r->window[0] * r->window[1];
	c->block_frames = array->chunk_elements / c->frame_elements;
	c->blocks = ssb_array_chunks(array);
	c->block = calloc(c->blocks, sizeof *c->block);
	c->type = calloc(c->blocks, sizeof *c->type);
	if (!c->block || !c->type)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	return load_blocks(r, index, err);
}

static bool check_valid_positions(region *r, ssb_error *err)
{
	size_t summed;
	if (!meta_size(r->meta, "frames_summed", &summed, err))
		return false;
	for (size_t i = 0; i < r->counts.frames; i++) {
		if (r->scan_valid[i] > 1)
			return ssb_fail(err, SSB_BAD_INPUT, "'scan_valid' is neither 0 nor 1 at position %zu", i);
		r->valid_positions += r->scan_valid[i];
	}
	return r->valid_positions == summed ||
	       ssb_fail(err, SSB_BAD_INPUT, "%zu positions are valid, but its sum pattern is of %zu frames", r->valid_positions, summed);
}

/* Flagged pixels are left out, unless the region says that they are to be used all the same. */
static bool mark_usable(region *r, ssb_error *err)
{
	const char *flagged;
	if (!meta_text(r->meta, "flagged_pixels", &flagged, err))
		return false;
	const bool used = !strcmp(flagged, "used");
	if (!used && strcmp(flagged, "left out") != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "the header's 'flagged_pixels' is '%s', neither 'left out' nor 'used'", flagged);
	for (size_t i = 0; i < r->detector[0] * r->detector[1]; i++)
		r->usable[i] = used || !r->usable[i];
	return true;
}

static bool load_all(region *r, ssb_error *err)
{
	return named(r, read_geometry(r, err), err) && (r->scan_valid = load(r, "scan_valid", SSB_U1, r->scan, err)) &&
	       load_counts(r, err) && (r->sum_pattern = load(r, "sum_pattern", SSB_U8, r->detector, err)) &&
	       (r->largest_count = load(r, "largest_count", SSB_U8, r->detector, err)) &&
	       (r->usable = load(r, "pixel_flags", SSB_U1, r->detector, err)) && named(r, mark_usable(r, err), err) &&
	       named(r, check_valid_positions(r, err), err) && ssb_reader_finish(r->reader, r->digest, err);
}

bool region_load(region *r, const char *path, size_t memory, ssb_error *err)
{
	*r = (region){.reader = ssb_reader_open_kind(path, SSB_REGION, memory, err)};
	if (!r->reader)
		return false;
	r->meta = ssb_reader_meta(r->reader);
	return load_all(r, err);
}

void region_close(region *r)
{
	ssb_reader_close(r->reader);
	free(r->counts.block);
	free(r->counts.type);
	free(r->scan_valid);
	free(r->sum_pattern);
	free(r->largest_count);
	free(r->usable);
}
