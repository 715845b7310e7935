#include "tools/ssb-decode/acquisition.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tools/common/message.h"
#include "tools/ssb-decode/dataset.h"
#include "tools/ssb-decode/metadata.h"

enum { FAILURES_SIZE = 1000 };

/* Data files that cannot be had: what is wrong with them and which frames are affected. */
typedef struct dead_parts {
	char text[FAILURES_SIZE];
	size_t count;
	uint64_t first;   /* the first frame affected */
	uint64_t end;     /* one past the last, 0: unknown */
	bool open;        /* the part before was dead: where the next begins is to be found out */
} dead_parts;

static const char *base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* ---- one set ---- */

static bool check_counts(const dataset_info *info, ssb_error *err)
{
	if (info->counts)
		return true;
	if (info->class == H5T_FLOAT)
		return ssb_fail(err, SSB_BAD_INPUT, "float data (%s) are not supported, only unsigned integers of 8, 16 and 32 bits", info->type);
	if (info->class == H5T_INTEGER && info->type[1] == 'i')
		return ssb_fail(err, SSB_BAD_INPUT, "signed data (%s) are not supported, only unsigned integers of 8, 16 and 32 bits", info->type);
	return ssb_fail(err, SSB_BAD_INPUT, "elements of type %s are not supported, only unsigned integers of 8, 16 and 32 bits", info->type);
}

/* Thresholds are no scan axis: the set, or in NeXus its group, names its axes. */
static bool has_channels(const h5_place *place, char *axes, size_t size)
{
	h5_place group = *place;
	*strrchr(group.object, '/') = 0;
	if (!group.object[0])
		strcpy(group.object, "/");
	return (h5_attribute_text(place, "axes", axes, size) && strstr(axes, "channel")) ||
	       (h5_attribute_text(&group, "axes", axes, size) && strstr(axes, "channel"));
}

static bool check_axes(const h5_place *place, const dataset_info *info, bool linked, ssb_error *err)
{
	char axes[200];
	if (has_channels(place, axes, sizeof axes))
		return ssb_fail(err, SSB_BAD_INPUT, "several channels per frame (axes '%s') are not supported", axes);
	if (info->rank < 3)
		return ssb_fail(err, SSB_BAD_INPUT, "'%s' is %u-D (%zux%zu), need frames", place->object, info->rank, info->rows, info->columns);
	if (info->rank > 4 || (linked && info->rank > 3))
		return ssb_fail(err, SSB_BAD_INPUT, "'%s' has %u axes, need frames of two", place->object, info->rank);
	return true;
}

static bool check_like_others(const acquisition *a, const dataset_info *info, ssb_error *err)
{
	if (a->parts == 0 || (info->rows == a->rows && info->columns == a->columns && info->element_size == a->element_size))
		return true;
	return ssb_fail(err, SSB_BAD_INPUT, "'%s' holds %zux%zu frames of %s, those before are %zux%zu of %s", a->part[a->parts].link, info->rows,
	                info->columns, info->type, a->rows, a->columns, a->type);
}

static void part_free(acquisition_part *part)
{
	free(part->link);
	free(part->file);
	free(part->object);
}

/* Add the set at `place` as the next part, placed by the caller. */
static bool take_set(acquisition *a, const h5_place *place, const char *link, bool linked, ssb_error *err)
{
	acquisition_part *const part = &a->part[a->parts];
	dataset *const set = dataset_open(place, err);
	if (!set)
		return false;
	const dataset_info *const info = dataset_describe(set);
	*part = (acquisition_part){strdup(link), strdup(place->path), strdup(place->object), 0, info->frames, dataset_band(set)};
	bool ok = part->link && part->file && part->object;
	if (!ok)
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	if (ok && info->frames == 0)
		message_note("'%s' in '%s' has no extent or no frames: counted as 0 frames", place->object, place->path);
	else if (ok)
		ok = check_axes(place, info, linked, err) && check_counts(info, err) && check_like_others(a, info, err);
	if (ok && info->frames > 0) {
		a->rows = info->rows;
		a->columns = info->columns;
		a->element_size = info->element_size;
		memcpy(a->type, info->type, sizeof a->type);
	}
	if (ok && info->rank == 4)
		a->stated[a->statements++] = (scan_statement){(double)info->shape[0], (double)info->shape[1], "the shape of the set"};
	dataset_close(set);
	if (ok) {
		a->parts++;
		return true;
	}
	part_free(part);
	return ssb_fail_prefix(err, "'%s:%s': ", base_name(place->path), place->object);
}

/* ---- the sets of a master ---- */

static int by_number(const void *a, const void *b)
{
	const char *const x = *(char *const *)a, *const y = *(char *const *)b;
	uint64_t m = UINT64_MAX, n = UINT64_MAX; /* names without a number go last */
	candidates_number(x, &m);
	candidates_number(y, &n);
	return m != n ? (m > n ? 1 : -1) : strcmp(x, y);
}

static void note_dead(dead_parts *dead, const acquisition *a, const ssb_error *why)
{
	const size_t length = strlen(dead->text);
	if (dead->count++ == 0)
		dead->first = a->frames;
	dead->end = 0;
	dead->open = true;
	snprintf(dead->text + length, sizeof dead->text - length, "%s%s", length ? "; " : "", why->text);
}

/* Give the part just added its place: after those before, or, after dead ones, where its own number says. */
static bool place_part(acquisition *a, dead_parts *dead, double number_low, bool partial, ssb_error *err)
{
	acquisition_part *const part = &a->part[a->parts - 1];
	part->first = a->frames;
	if (dead->open && number_low - 1 >= (double)a->frames && number_low < 0x1p53) {
		part->first = dead->end = (uint64_t)number_low - 1;
		dead->open = false;
	} else if (dead->open && partial) {
		return ssb_fail(err, SSB_BAD_INPUT, "the frames of '%s' cannot be placed after %s: it has no usable image_nr_low", part->link, dead->text);
	} else if (number_low > 0 && number_low - 1 != (double)a->frames) {
		message_warn(a->warnings, "'%s' says its first frame is number %.0f (image_nr_low), but %llu frames precede it", part->link,
		             number_low, (unsigned long long)a->frames);
	}
	if (__builtin_add_overflow(part->first, part->frames, &a->frames))
		return ssb_fail(err, SSB_BAD_INPUT, "more frames than can be counted");
	return true;
}

static bool take_link(acquisition *a, const frames_at *at, const char *name, dead_parts *dead, bool partial, ssb_error *err)
{
	char object[H5_OBJECT_SIZE + 32];
	h5_place place;
	bool absent;
	double low = 0;
	ssb_error why;
	snprintf(object, sizeof object, "%s/%s", at->object, name);
	if (!h5_follow(a->path, object, &place, &absent, &why))
		return note_dead(dead, a, &why), true;
	bool ok = take_set(a, &place, object, true, err);
	if (ok && h5_attribute_numbers(&place, "image_nr_low", &low, 1) != 1)
		low = 0;
	if (ok && a->part[a->parts - 1].frames > 0)
		ok = place_part(a, dead, low, partial, err);
	h5_leave(&place);
	return ok;
}

static bool dead_end(const dead_parts *dead, size_t links, double triggers, ssb_error *err)
{
	char range[100];
	const double end = dead->end ? (double)dead->end : triggers;
	if (end > (double)dead->first)
		snprintf(range, sizeof range, "frames %llu to %.0f are affected", (unsigned long long)dead->first, end - 1);
	else
		snprintf(range, sizeof range, "frames from %llu on are affected", (unsigned long long)dead->first);
	return ssb_fail(err, SSB_BAD_INPUT, "%zu of %zu data files cannot be read, %s (--partial reads the others): %s", dead->count, links, range,
	                dead->text);
}

static bool take_links(acquisition *a, const frames_at *at, bool partial, ssb_error *err)
{
	h5_place group;
	bool absent;
	size_t count = 0, links = 0;
	uint64_t number;
	dead_parts dead = {.count = 0};
	if (!h5_follow(a->path, at->object, &group, &absent, err))
		return false;
	char **const names = h5_names(&group, &count, err);
	h5_leave(&group);
	if (!names)
		return false;
	qsort(names, count, sizeof *names, by_number);
	while (links < count && candidates_number(names[links], &number))
		links++;
	a->part = calloc(links + 1, sizeof *a->part);
	bool ok = a->part;
	if (!ok)
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; ok && i < links; i++)
		ok = take_link(a, at, names[i], &dead, partial, err);
	h5_names_free(names, count);
	if (ok && dead.count > 0 && (!partial || a->frames == 0))
		return dead_end(&dead, links, metadata_triggers(a, at), err);
	if (ok && dead.count > 0)
		message_warn(a->warnings, "%zu of %zu data files cannot be read: %s", dead.count, links, dead.text);
	return ok;
}

/* ---- counters and siblings ---- */

/* "BASE_data_000001.h5" after "BASE_"? */
static bool is_data_file(const char *name, const char *prefix)
{
	char number[NAME_MAX + 1];
	uint64_t value;
	const size_t length = strlen(name), ends = strlen(".h5");
	if (strncmp(name, prefix, strlen(prefix)) != 0 || length <= strlen(prefix) + ends || strcmp(name + length - ends, ".h5") != 0)
		return false;
	snprintf(number, sizeof number, "%.*s", (int)(length - ends - strlen(prefix)), name + strlen(prefix));
	return candidates_number(number, &value);
}

static bool is_linked(const acquisition *a, const char *name)
{
	for (size_t i = 0; i < a->parts; i++)
		if (strcmp(base_name(a->part[i].file), name) == 0)
			return true;
	return false;
}

/* Data files beside the master, named like the linked ones, that no link names. */
static size_t unlinked_siblings(const acquisition *a, char *list, size_t size)
{
	const char *const master = base_name(a->path), *const end = strstr(master, "_master.h5");
	char folder[PATH_MAX], prefix[NAME_MAX + 8];
	struct dirent **entries;
	size_t found = 0, length = 0;
	list[0] = 0;
	if (!end || snprintf(prefix, sizeof prefix, "%.*s_", (int)(end - master), master) >= (int)sizeof prefix)
		return 0;
	snprintf(folder, sizeof folder, "%.*s", (int)(master - a->path), a->path);
	const int count = scandir(folder[0] ? folder : ".", &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *const name = entries[i]->d_name;
		const bool counts = is_data_file(name, prefix) && !is_linked(a, name);
		if (counts && length < size)
			length += (size_t)snprintf(list + length, size - length, "%s%s", found ? ", " : "", name);
		found += counts;
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return found;
}

static void cross_check_counters(acquisition *a, const frames_at *at)
{
	char siblings[REMARK_SIZE / 2], text[REMARK_SIZE];
	const double triggers = metadata_triggers(a, at);
	const size_t unlinked = at->group ? unlinked_siblings(a, siblings, sizeof siblings) : 0;
	if (unlinked > 0 && triggers > (double)a->frames)
		snprintf(text, sizeof text, "%llu of %.0f frames linked; unlinked siblings: %s", (unsigned long long)a->frames, triggers, siblings);
	else if (triggers > 0 && triggers != (double)a->frames)
		snprintf(text, sizeof text, "%llu of %.0f triggers present", (unsigned long long)a->frames, triggers);
	else
		return;
	memcpy(a->remark, text, sizeof text);
	message_note("%s", text);
}

/* ---- opening ---- */

static bool take_only_set(acquisition *a, const frames_at *at, ssb_error *err)
{
	h5_place place;
	bool absent;
	a->part = calloc(1, sizeof *a->part);
	if (!a->part)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	if (!h5_follow(a->path, at->object, &place, &absent, err))
		return false;
	const bool ok = take_set(a, &place, at->object, false, err);
	h5_leave(&place);
	a->frames = ok ? a->part[0].frames : 0;
	return ok;
}

static bool open_hdf5(acquisition *a, const char *asked, bool partial, ssb_error *err)
{
	frames_at at;
	memset(&at, 0, sizeof at);
	if (!candidates_find(a->path, asked, &at, err))
		return false;
	if (!(at.group ? take_links(a, &at, partial, err) : take_only_set(a, &at, err)))
		return false;
	if (a->frames == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "'%s' has no frames", at.object);
	cross_check_counters(a, &at);
	return metadata_collect(a, &at, err);
}

static bool take_npy(acquisition *a, ssb_error *err)
{
	const npy_header *const npy = &a->npy;
	const bool counts = npy->kind == 'u' && (npy->element_size == 1 || npy->element_size == 2 || npy->element_size == 4);
	if (!counts)
		return ssb_fail(err, SSB_BAD_INPUT, "elements of type %s are not supported, only unsigned integers of 8, 16 and 32 bits", npy->type);
	if (npy->rank != 3 && npy->rank != 4)
		return ssb_fail(err, SSB_BAD_INPUT, "the array is %u-D, need 3-D or 4-D", npy->rank);
	a->frames = npy->rank == 4 ? npy->shape[0] * npy->shape[1] : npy->shape[0];
	a->rows = npy->shape[npy->rank - 2];
	a->columns = npy->shape[npy->rank - 1];
	if (a->frames == 0 || a->rows == 0 || a->columns == 0)
		return ssb_fail(err, SSB_BAD_INPUT, "the array is empty");
	a->element_size = npy->element_size;
	memcpy(a->type, npy->type, sizeof a->type);
	if (npy->rank == 4)
		a->stated[a->statements++] = (scan_statement){(double)npy->shape[0], (double)npy->shape[1], "the shape of the array"};
	return true;
}

static bool open_npy(acquisition *a, ssb_error *err)
{
	int descriptor;
	if (!npy_open(a->path, &a->npy, &descriptor, err))
		return false;
	close(descriptor);
	a->is_npy = true;
	a->part = calloc(1, sizeof *a->part);
	if (!a->part || !(a->part[0].file = strdup(a->path)))
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	a->parts = 1;
	if (!take_npy(a, err))
		return false;
	a->part[0].frames = a->frames;
	a->part[0].band = 1;
	return true;
}

static void note_sources(const acquisition *a)
{
	const acquisition_part *const last = &a->part[a->parts - 1];
	if (a->is_npy)
		message_note("'%s': %llu frames of %zux%zu, %s", a->path, (unsigned long long)a->frames, a->rows, a->columns, a->type);
	else
		message_note("'%s': %llu frames of %zux%zu, %s, read from '%s:%s'%s%s%s", a->path, (unsigned long long)a->frames, a->rows, a->columns,
		             a->type, a->part[0].file, a->part[0].object, a->parts > 1 ? " to '" : "", a->parts > 1 ? last->file : "",
		             a->parts > 1 ? "'" : "");
	for (size_t i = 0; i < a->parts && !a->is_npy; i++)
		message_detail("frames %llu to %llu: '%s' in '%s:%s'", (unsigned long long)a->part[i].first,
		               (unsigned long long)(a->part[i].first + a->part[i].frames) - 1, a->part[i].link, a->part[i].file, a->part[i].object);
}

acquisition *acquisition_open(const char *path, const char *asked, bool partial, ssb_error *err)
{
	acquisition *const a = calloc(1, sizeof *a);
	const size_t length = strlen(path);
	if (!a)
		return ssb_fail_errno(err, "'%s'", path), NULL;
	h5_setup();
	a->path = path;
	a->instrument = json_object();
	a->warnings = json_array();
	const bool npy = length > 4 && strcmp(path + length - 4, ".npy") == 0;
	if (npy && asked)
		ssb_fail(err, SSB_USAGE, "--dataset is for HDF5 files, '%s' is none", path);
	else if (npy ? open_npy(a, err) : open_hdf5(a, asked, partial, err))
		return note_sources(a), a;
	else
		ssb_fail_prefix(err, "cannot read '%s': ", path);
	acquisition_free(a);
	return NULL;
}

void acquisition_free(acquisition *a)
{
	if (!a)
		return;
	for (size_t i = 0; a->part && i < a->parts; i++)
		part_free(&a->part[i]);
	free(a->part);
	free(a->masked);
	json_decref(a->instrument);
	json_decref(a->warnings);
	free(a);
}
