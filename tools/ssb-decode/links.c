/* h5_follow: the walk along a path, one link at a time, one file open at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tools/common/message.h"
#include "tools/ssb-decode/h5.h"

enum { MOST_LINKS = 32, TRAIL_SIZE = 600 };

typedef struct walk {
	h5_place *place;              /* the file, and the object reached so far ("" for the root) */
	char rest[2 * H5_OBJECT_SIZE];/* path still to go */
	size_t asked;                 /* how much of the end of `rest` was asked for and does not come from a link */
	unsigned links;               /* followed so far */
	char trail[TRAIL_SIZE];       /* the last of them, for messages: "link '/a' -> 'b.h5:/c': " */
} walk;

static bool join(char *target, size_t size, const char *a, const char *b, ssb_error *err)
{
	const int length = snprintf(target, size, "%s%s", a, b);
	return (length >= 0 && (size_t)length < size) || ssb_fail(err, SSB_BAD_INPUT, "a name is longer than %zu bytes", size);
}

/* The folder of `path` with its slash, "" for the working directory's own files. */
static int folder_length(const char *path)
{
	const char *const slash = strrchr(path, '/');
	return slash ? (int)(slash - path + 1) : 0;
}

static bool is_there(char *found, const char *holder, const char *name, ssb_error *err)
{
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%.*s", name[0] == '/' ? 0 : folder_length(holder), holder);
	return join(found, PATH_MAX, folder, name, err) && access(found, F_OK) == 0;
}

/* The file that an external link in the file `holder` means. */
static bool find_target(const walk *w, const char *holder, const char *name, char found[PATH_MAX], ssb_error *err)
{
	char real[PATH_MAX], missing[PATH_MAX];
	if (is_there(found, holder, name, err) || (name[0] != '/' && realpath(holder, real) && is_there(found, real, name, err)))
		return true;
	if (name[0] == '/' && is_there(found, holder, strrchr(name, '/') + 1, err)) {
		message_note("%s'%s' does not exist, reading '%s' beside the file that holds the link", w->trail, name, found);
		return true;
	}
	is_there(missing, holder, name, err);
	return ssb_fail(err, SSB_BAD_INPUT, "%sfile '%s' is missing", w->trail, missing);
}

static bool follow_external(walk *w, const char *target, const char *object, ssb_error *err)
{
	char found[PATH_MAX];
	if (!find_target(w, w->place->path, target, found, err))
		return false;
	h5_leave(w->place);
	memcpy(w->place->path, found, sizeof found);
	w->place->object[0] = 0;
	if (!h5_open(found, &w->place->file, err)) {
		w->place->file = -1;
		return ssb_fail_prefix(err, "%sfile '%s': ", w->trail, found);
	}
	char rest[sizeof w->rest];
	memcpy(rest, w->rest, sizeof rest);
	return join(w->rest, sizeof w->rest, object, rest, err);
}

static bool follow_soft(walk *w, const char *target, ssb_error *err)
{
	char rest[sizeof w->rest];
	memcpy(rest, w->rest, sizeof rest);
	if (target[0] == '/')
		w->place->object[0] = 0;
	return join(w->rest, sizeof w->rest, target, rest, err);
}

static bool follow_link(walk *w, const char *name, const H5L_info_t *info, ssb_error *err)
{
	const char *target, *object;
	unsigned flags;
	char cause[H5_CAUSE_SIZE];
	if (++w->links > MOST_LINKS)
		return ssb_fail(err, SSB_BAD_INPUT, "%slink loop", w->trail);
	if (info->u.val_size == 0 || info->u.val_size > PATH_MAX + H5_OBJECT_SIZE)
		return ssb_fail(err, SSB_BAD_INPUT, "link '%s' in '%s' has a target of %zu bytes", name, w->place->path, info->u.val_size);
	char value[PATH_MAX + H5_OBJECT_SIZE + 1] = "";
	if (H5Lget_val(w->place->file, name, value, info->u.val_size, H5P_DEFAULT) < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "link '%s' in '%s' cannot be read: %s", name, w->place->path, h5_cause(cause));
	if (info->type == H5L_TYPE_SOFT) {
		snprintf(w->trail, sizeof w->trail, "soft link '%.280s' -> '%.280s': ", name, value);
		return follow_soft(w, value, err);
	}
	if (H5Lunpack_elink_val(value, info->u.val_size, &flags, &target, &object) < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "link '%s' in '%s' is damaged", name, w->place->path);
	snprintf(w->trail, sizeof w->trail, "link '%.180s' -> '%.200s:%.180s': ", name, target, object);
	return follow_external(w, target, object, err);
}

/* Take the next name off `rest` and go there. */
static bool step(walk *w, bool *absent, ssb_error *err)
{
	char *const name = w->rest + strspn(w->rest, "/");
	const size_t length = strcspn(name, "/");
	const bool asked = strlen(name) <= w->asked;
	char next[H5_OBJECT_SIZE + 2 * H5_OBJECT_SIZE];
	H5L_info_t info;
	snprintf(next, sizeof next, "%s/%.*s", w->place->object, (int)length, name);
	memmove(w->rest, name + length, strlen(name + length) + 1);
	if (asked)
		w->asked = strlen(w->rest);
	if (length == 0 || (length == 1 && next[strlen(next) - 1] == '.'))
		return true;
	if (H5Lexists(w->place->file, next, H5P_DEFAULT) <= 0) {
		*absent = asked;
		return ssb_fail(err, SSB_BAD_INPUT, "%sthere is no '%s' in '%s'", w->trail, next, w->place->path);
	}
	if (H5Lget_info(w->place->file, next, &info, H5P_DEFAULT) < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "%s'%s' in '%s' is damaged", w->trail, next, w->place->path);
	if (info.type == H5L_TYPE_HARD)
		return join(w->place->object, H5_OBJECT_SIZE, next, "", err);
	if (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL)
		return ssb_fail(err, SSB_BAD_INPUT, "'%s' in '%s' is a link of an unknown kind", next, w->place->path);
	return follow_link(w, next, &info, err);
}

bool h5_follow(const char *path, const char *object, h5_place *place, bool *absent, ssb_error *err)
{
	walk w = {.place = place, .asked = strlen(object)};
	*absent = false;
	place->file = -1;
	place->object[0] = 0;
	if (!join(place->path, sizeof place->path, path, "", err) || !join(w.rest, sizeof w.rest, object, "", err) ||
	    !h5_open(path, &place->file, err))
		return false;
	while (w.rest[strspn(w.rest, "/")])
		if (!step(&w, absent, err)) {
			h5_leave(place);
			return false;
		}
	if (!place->object[0])
		strcpy(place->object, "/");
	return true;
}
