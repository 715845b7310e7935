#include "tools/ssb-decode/candidates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/ssb-decode/dataset.h"

enum { MOST_CANDIDATES = 16, MOST_OBJECTS = 20000, DEEPEST = 24, LIST_SIZE = 700 };

bool candidates_number(const char *name, uint64_t *number)
{
	const char *const digits = name + strlen("data_");
	if (strncmp(name, "data_", strlen("data_")) != 0 || strspn(digits, "0123456789") != strlen(digits) || !*digits || strlen(digits) > 18)
		return false;
	*number = strtoull(digits, NULL, 10);
	return true;
}

static bool is_frame_group(const h5_place *place)
{
	size_t count;
	ssb_error err;
	uint64_t number;
	bool found = false;
	if (!h5_is_group(place))
		return false;
	char **const names = h5_names(place, &count, &err);
	for (size_t i = 0; names && i < count; i++)
		found = found || candidates_number(names[i], &number);
	h5_names_free(names, count);
	return found;
}

/* An object that was seen: the walk goes nowhere twice. */
typedef struct seen { char *path; haddr_t address; } seen;

typedef struct search {
	frames_at found[MOST_CANDIDATES];
	size_t count;
	char list[LIST_SIZE];     /* the candidates */
	char reasons[LIST_SIZE];  /* why others are none */
	seen *seen;
	size_t objects;
} search;

static void append(char *list, const char *text)
{
	const size_t length = strlen(list);
	snprintf(list + length, LIST_SIZE - length, "%s%s", length ? ", " : "", text);
}

static void shape_text(const dataset_info *info, char *text, size_t size)
{
	size_t length = 0;
	text[0] = 0;
	for (unsigned i = 0; i < info->rank && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%llu", i ? "x" : "", (unsigned long long)info->shape[i]);
}

/* Velox keeps images as (row, column, image). */
static bool frames_last(const char *object)
{
	return strncmp(object, "/Data/Image/", strlen("/Data/Image/")) == 0 && strcmp(strrchr(object, '/'), "/Data") == 0;
}

static void judge_set(search *s, const h5_place *place, const char *shown)
{
	ssb_error err;
	char text[400], shape[100];
	dataset *const set = dataset_open(place, &err);
	if (!set) {
		append(s->reasons, err.text);
		return;
	}
	const dataset_info *const info = dataset_describe(set);
	const bool number = info->class == H5T_INTEGER || info->class == H5T_FLOAT;
	shape_text(info, shape, sizeof shape);
	if (number && info->rank > 2 && info->frames > 0 && frames_last(shown)) {
		snprintf(text, sizeof text, "'%.200s' (%s) has its frame axis last: images, no diffraction frames", shown, shape);
		append(s->reasons, text);
	} else if (number && info->rank > 2 && info->frames > 0) {
		snprintf(text, sizeof text, "'%.200s' (%s, %s)", shown, shape, info->type);
		append(s->list, text);
		if (s->count < MOST_CANDIDATES)
			snprintf(s->found[s->count].object, H5_OBJECT_SIZE, "%s", shown);
		s->count++;
	} else if (number && info->frames == 0) {
		snprintf(text, sizeof text, "'%.200s' has no extent", shown);
		append(s->reasons, text);
	} else if (number && info->rank > 0) {
		snprintf(text, sizeof text, "'%.200s' is %u-D (%s), need frames", shown, info->rank, shape);
		append(s->reasons, text);
	}
	dataset_close(set);
}

static bool first_visit(search *s, const h5_place *place)
{
	H5O_info_t info;
	if (s->objects == MOST_OBJECTS || H5Oget_info_by_name2(place->file, place->object, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
		return false;
	for (size_t i = 0; i < s->objects; i++)
		if (s->seen[i].address == info.addr && strcmp(s->seen[i].path, place->path) == 0)
			return false;
	s->seen[s->objects].path = strdup(place->path);
	s->seen[s->objects].address = info.addr;
	return s->seen[s->objects++].path;
}

static void visit(search *s, const h5_place *place, const char *shown, unsigned depth);

/* `child`: a link in the group `place`. A link leads to another file or path; then that is opened beside this one. */
static void visit_child(search *s, const h5_place *place, const char *shown, const char *child, unsigned depth)
{
	char inner[H5_OBJECT_SIZE], outer[H5_OBJECT_SIZE];
	h5_place target;
	bool absent;
	ssb_error err;
	if (snprintf(inner, sizeof inner, "%s/%s", strcmp(place->object, "/") ? place->object : "", child) >= H5_OBJECT_SIZE ||
	    snprintf(outer, sizeof outer, "%s/%s", strcmp(shown, "/") ? shown : "", child) >= H5_OBJECT_SIZE)
		return;
	if (!h5_follow(place->path, inner, &target, &absent, &err)) {
		message_note("dead link '%s': %s", outer, err.text);
		return;
	}
	visit(s, &target, outer, depth + 1);
	h5_leave(&target);
}

static void visit(search *s, const h5_place *place, const char *shown, unsigned depth)
{
	size_t count;
	ssb_error err;
	if (depth > DEEPEST || !first_visit(s, place))
		return;
	if (h5_is_dataset(place)) {
		judge_set(s, place, shown);
		return;
	}
	if (is_frame_group(place)) {
		append(s->list, shown);
		if (s->count < MOST_CANDIDATES) {
			s->found[s->count].group = true;
			snprintf(s->found[s->count].object, H5_OBJECT_SIZE, "%s", shown);
		}
		s->count++;
		return;
	}
	if (!h5_is_group(place))
		return;
	char **const names = h5_names(place, &count, &err);
	if (!names)
		append(s->reasons, err.text);
	for (size_t i = 0; names && i < count; i++)
		visit_child(s, place, shown, names[i], depth);
	h5_names_free(names, count);
}

static bool search_tree(search *s, const char *path, frames_at *at, ssb_error *err)
{
	bool absent;
	h5_place root;
	if (!h5_follow(path, "/", &root, &absent, err))
		return false;
	visit(s, &root, "/", 0);
	h5_leave(&root);
	*at = s->found[0];
	if (s->count > 1)
		return ssb_fail(err, SSB_BAD_INPUT, "several sets may hold the frames, choose with --dataset: %s", s->list);
	return s->count == 1 || ssb_fail(err, SSB_BAD_INPUT, "no frames: looked for '/entry/data/data_000001', '/entry/data/data' and any set of "
	                                 "three or more axes%s%s", s->reasons[0] ? "; " : "", s->reasons);
}

static bool search_file(const char *path, frames_at *at, ssb_error *err)
{
	search *const s = calloc(1, sizeof *s);
	bool ok = s && (s->seen = calloc(MOST_OBJECTS, sizeof *s->seen));
	if (ok)
		ok = search_tree(s, path, at, err);
	else
		ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; s && i < s->objects; i++)
		free(s->seen[i].path);
	if (s)
		free(s->seen);
	free(s);
	return ok;
}

/* What `object` is: a group of data_N links, a set, or nothing to read frames from (false with *missing, or with the error). */
static bool try_object(const char *path, const char *object, frames_at *at, bool *missing, ssb_error *err)
{
	h5_place place;
	if (!h5_follow(path, object, &place, missing, err))
		return false;
	at->group = is_frame_group(&place);
	const bool ok = at->group || h5_is_dataset(&place);
	if (!ok)
		ssb_fail(err, SSB_BAD_INPUT, "'%s' is neither a dataset nor a group with data_000001 and so on", object);
	*missing = !ok;
	h5_leave(&place);
	if (snprintf(at->object, sizeof at->object, "%s%s", object[0] == '/' ? "" : "/", object) >= H5_OBJECT_SIZE)
		return ssb_fail(err, SSB_BAD_INPUT, "the name of the dataset is too long");
	return ok;
}

bool candidates_find(const char *path, const char *asked, frames_at *at, ssb_error *err)
{
	bool missing;
	if (asked)
		return try_object(path, asked, at, &missing, err);
	if (try_object(path, "/entry/data", at, &missing, err))
		return true;
	if (missing && try_object(path, "/entry/data/data", at, &missing, err))
		return true;
	return missing && search_file(path, at, err);
}
