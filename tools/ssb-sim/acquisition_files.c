#include "tools/ssb-sim/acquisition_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/output.h"
#include "tools/bitshuffle/bitshuffle.h"
#include "tools/common/message.h"
#include "tools/common/npy.h"
#include "tools/ssb-sim/dectris.h"

enum { NAME_ROOM = 4096 };

/* The outputs so far, none under its final name yet. */
typedef struct outputs {
	ssb_output *output[MOST_DATA_FILES + 3];
	size_t count;
} outputs;

size_t acquisition_data_files(const acquisition *a)
{
	const size_t frames = a->scan[0] * a->scan[1];
	return frames / a->frames_per_file + (frames % a->frames_per_file != 0);
}

char *acquisition_folder(const char *name, ssb_error *err)
{
	const char *slash = strrchr(name, '/');
	char *folder = slash ? strndup(name, (size_t)(slash - name) + 1) : strdup(".");
	if (folder && access(folder, W_OK | X_OK) == 0)
		return folder;
	ssb_fail_errno(err, "cannot write in '%s'", folder ? folder : name);
	free(folder);
	return NULL;
}

static const char *base_of(const char *name)
{
	const char *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

/* Open NAME + suffix as the next output. */
static ssb_output *add_output(outputs *o, const char *name, const char *suffix, ssb_error *err)
{
	char path[NAME_ROOM];
	const int length = snprintf(path, sizeof path, "%s%s", name, suffix);
	if (length < 0 || (size_t)length >= sizeof path) {
		ssb_fail(err, SSB_USAGE, "the name is longer than %d bytes", NAME_ROOM);
		return NULL;
	}
	ssb_output *output = ssb_output_open(path, err);
	if (!output)
		return NULL;
	o->output[o->count++] = output;
	if (ssb_output_temporary_name(output))
		return output;
	ssb_fail(err, SSB_USAGE, "cannot write '%s': it is no regular file", path);
	return NULL;
}

/* ---- frames ---- */

/* Frames in hand at a time: raw, and encoded each in a slot of its own. */
typedef struct batch {
	size_t most, frame_bytes, slot_bytes;
	uint8_t *frames, *chunks;
	size_t *sizes;
} batch;

static bool batch_make(const acquisition *a, batch *b, ssb_error *err)
{
	const size_t frame_bytes = a->detector[0] * a->detector[1] * a->element_size, slot_bytes = bitshuffle_bound(frame_bytes, a->element_size);
	const size_t fitting = a->memory / 8 / (frame_bytes + slot_bytes);
	const size_t most = fitting < 1 ? 1 : fitting > 256 ? 256 : fitting;
	*b = (batch){most, frame_bytes, slot_bytes, malloc(most * frame_bytes), malloc(most * slot_bytes), malloc(most * sizeof *b->sizes)};
	return (b->frames && b->chunks && b->sizes) || ssb_fail(err, SSB_RUNTIME, "out of memory for %zu frames", most);
}

static void batch_free(batch *b)
{
	free(b->frames);
	free(b->chunks);
	free(b->sizes);
}

static void encode(const acquisition *a, batch *b, size_t n)
{
#pragma omp parallel for schedule(static) num_threads((int)a->threads)
	for (size_t i = 0; i < n; i++)
		b->sizes[i] = bitshuffle_encode(b->frames + i * b->frame_bytes, b->frame_bytes, a->element_size, b->chunks + i * b->slot_bytes);
}

static bool write_frames(const acquisition *a, const counts *c, batch *b, dectris_file *file, size_t first, size_t frames, ssb_error *err)
{
	for (size_t at = 0; at < frames; at += b->most) {
		const size_t n = frames - at < b->most ? frames - at : b->most;
		counts_frames(c, first + at, n, b->frames);
		encode(a, b, n);
		for (size_t i = 0; i < n; i++)
			if (!dectris_write_frame(file, at + i, b->chunks + i * b->slot_bytes, b->sizes[i], err))
				return false;
		message_progress("writing", first + at + n, a->scan[0] * a->scan[1]);
	}
	return true;
}

static bool write_data_file(const acquisition *a, const counts *c, batch *b, ssb_output *output, size_t index, ssb_error *err)
{
	const size_t first = index * a->frames_per_file, left = a->scan[0] * a->scan[1] - first;
	const size_t frames = left < a->frames_per_file ? left : a->frames_per_file;
	dectris_file *file = dectris_create(ssb_output_temporary_name(output), a, first, frames, err);
	if (!file)
		return false;
	const bool ok = write_frames(a, c, b, file, first, frames, err);
	ssb_error later;
	return dectris_close(file, ok ? err : &later) && ok && ssb_output_close(output, err);
}

static bool write_data(const acquisition *a, const char *name, const counts *c, outputs *o, ssb_error *err)
{
	batch b;
	bool ok = batch_make(a, &b, err);
	for (size_t i = 0; ok && i < acquisition_data_files(a); i++) {
		char suffix[40];
		dectris_data_name("", i + 1, suffix, sizeof suffix);
		ssb_output *output = add_output(o, name, suffix, err);
		ok = output && (write_data_file(a, c, &b, output, i, err) || ssb_fail_prefix(err, "cannot write '%s%s': ", name, suffix));
	}
	message_progress("writing", 0, 0);
	batch_free(&b);
	return ok;
}

/* ---- the others ---- */

static bool write_master(const acquisition *a, const char *name, const bad_pixel *bad, outputs *o, ssb_error *err)
{
	uint32_t *mask = camera_pixel_mask(a, bad, err);
	ssb_output *output = mask ? add_output(o, name, "_master.h5", err) : NULL;
	bool ok = output != NULL;
	if (ok)
		ok = dectris_write_master(ssb_output_temporary_name(output), a, base_of(name), acquisition_data_files(a), mask, err) ||
		     ssb_fail_prefix(err, "cannot write '%s_master.h5': ", name);
	free(mask);
	return ok && ssb_output_close(output, err);
}

static bool write_truth(const acquisition *a, const char *name, const bad_pixel *bad, uint64_t clipped, outputs *o, ssb_error *err)
{
	ssb_output *output = add_output(o, name, "_truth.json", err);
	json_t *truth = acquisition_truth(a, base_of(name), bad, clipped);
	char *text = truth ? json_dumps(truth, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(truth);
	bool ok = output != NULL;
	if (ok && !text)
		ok = ssb_fail(err, SSB_RUNTIME, "cannot write '%s_truth.json': out of memory, or the name is not UTF-8", name);
	ok = ok && ssb_output_write(output, text, strlen(text), err) && ssb_output_write(output, "\n", 1, err) && ssb_output_close(output, err);
	free(text);
	return ok;
}

static bool write_phase(const acquisition *a, const char *name, const float *phase, outputs *o, ssb_error *err)
{
	const size_t shape[2] = {a->scan[0] * a->truth_upsample, a->scan[1] * a->truth_upsample};
	char header[NPY_HEADER_ROOM];
	ssb_output *output = add_output(o, name, "_truth_phase.npy", err);
	return output && ssb_output_write(output, header, npy_header(header, "<f4", shape, 2), err) &&
	       ssb_output_write(output, phase, shape[0] * shape[1] * sizeof *phase, err) && ssb_output_close(output, err);
}

/* The master goes last: where it is, the rest is. */
static bool commit_all(outputs *o, ssb_error *err)
{
	bool ok = true;
	for (size_t i = 0; i < o->count; i++) {
		if (ok)
			ok = ssb_output_commit(o->output[i], err);
		else
			ssb_output_discard(o->output[i]);
	}
	return ok;
}

bool acquisition_write(const acquisition *a, const char *name, const counts *c, const bad_pixel *bad, const float *phase, ssb_error *err)
{
	outputs o = {.count = 0};
	const bool ok = write_data(a, name, c, &o, err) && write_phase(a, name, phase, &o, err) &&
	                write_truth(a, name, bad, counts_clipped(c), &o, err) && write_master(a, name, bad, &o, err);
	if (ok)
		return commit_all(&o, err);
	for (size_t i = 0; i < o.count; i++)
		ssb_output_discard(o.output[i]);
	return false;
}
