#include "tools/ssb-save/outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/output.h"
#include "tools/common/message.h"

enum { RINGS = 1, MAP = 1 << SSB_MAP, IMAGE = 1 << SSB_PHASE | 1 << SSB_REGION | MAP, TABLE = 1 << SSB_FIT };

static save_writer write_bundle;

static const struct format { const char *extension; int kinds; save_writer *write; } formats[] = {
	{"npy", IMAGE, write_npy},
	{"npz", IMAGE, write_npz},
	{"tif", IMAGE, write_tiff},
	{"tiff", IMAGE, write_tiff},
	{"png", IMAGE, write_png},
	{"h5", IMAGE, write_nexus},
	{"json", IMAGE | TABLE, write_json},
	{"csv", TABLE | MAP | RINGS, write_csv},
	{"txt", TABLE | RINGS, write_text},
	{"zip", IMAGE | TABLE, write_bundle},
};

enum { FORMATS = sizeof formats / sizeof *formats };

static const struct format *find_format(const char *path)
{
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; dot && i < FORMATS; i++)
		if (!strcasecmp(dot + 1, formats[i].extension))
			return &formats[i];
	return NULL;
}

/* A phase with halves can also be what a table holds. */
static int kinds_of(const save_content *content)
{
	return 1 << content->kind | (has_rings(content) ? RINGS : 0);
}

static const char *extensions(int kinds, char text[100])
{
	*text = 0;
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i].kinds & kinds)
			snprintf(text + strlen(text), 100 - strlen(text), "%s.%s", *text ? " " : "", formats[i].extension);
	return text;
}

bool outputs_check(const char *const *paths, size_t count, ssb_error *err)
{
	char known[100];
	if (count > OUTPUTS_LIMIT)
		return ssb_fail(err, SSB_USAGE, "more than %d outputs", OUTPUTS_LIMIT);
	for (size_t i = 0; i < count; i++) {
		if (!find_format(paths[i]))
			return ssb_fail(err, SSB_USAGE, "'%s' has no known extension: %s", paths[i], extensions(IMAGE | TABLE, known));
		for (size_t j = 0; j < i; j++)
			if (!strcmp(paths[i], paths[j]))
				return ssb_fail(err, SSB_USAGE, "'%s' is given twice", paths[i]);
	}
	return true;
}

/* Every other form of the content, named for its kind. */
static bool write_bundle(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	zip_file *zip = zip_open(out, err);
	bool ok = zip != NULL;
	for (size_t i = 0; ok && i < FORMATS; i++) {
		char name[40];
		bytes file = {0};
		if (!(formats[i].kinds & kinds_of(content)) || formats[i].write == write_bundle || !strcmp(formats[i].extension, "tiff"))
			continue;
		snprintf(name, sizeof name, "%s.%s", ssb_kind_name(content->kind), formats[i].extension);
		ok = formats[i].write(content, options, &file, err) && zip_add(zip, name, &file, err);
		bytes_free(&file);
	}
	if (ok)
		return zip_close(zip, err);
	zip_discard(zip);
	return false;
}

/* Made in memory, written and closed, still under its temporary name. */
static ssb_output *write_one(const save_content *content, const picture_options *options, const char *path, ssb_error *err)
{
	bytes file = {0};
	ssb_output *output = NULL;
	bool ok = find_format(path)->write(content, options, &file, err);
	if (!ok)
		ssb_fail_prefix(err, "cannot make '%s': ", path);
	ok = ok && (output = ssb_output_open(path, err)) != NULL && ssb_output_write(output, file.data, file.size, err) && ssb_output_close(output, err);
	bytes_free(&file);
	if (ok)
		return output;
	ssb_output_discard(output);
	return NULL;
}

/* What a format of one array leaves out. */
static void say_left_out(const save_content *content, const char *path)
{
	save_writer *write = find_format(path)->write;
	if (content->companions && (write == write_npy || write == write_tiff || write == write_png))
		message_note("'%s' holds the %s alone, without its %s%s%s (--array, or .npz and .h5, which hold all)", path, content->array,
		             content->companion[0].name, content->companions > 1 ? " and " : "",
		             content->companions > 1 ? content->companion[1].name : "");
}

bool outputs_write(const save_content *content, const picture_options *options, const char *const *paths, size_t count, ssb_error *err)
{
	char known[100];
	for (size_t i = 0; i < count; i++)
		if (!(find_format(paths[i])->kinds & kinds_of(content)))
			return ssb_fail(err, SSB_USAGE, "a %s cannot be saved as '%s': %s%s", ssb_kind_name(content->kind), paths[i],
			                extensions(kinds_of(content), known),
			                content->kind == SSB_PHASE ? " (.csv and .txt after ssb-recon --halves)" : "");
	ssb_output *outputs[OUTPUTS_LIMIT] = {NULL};
	bool ok = true;
	for (size_t i = 0; ok && i < count; i++)
		ok = (outputs[i] = write_one(content, options, paths[i], err)) != NULL;
	for (size_t i = 0; ok && i < count; i++)
		say_left_out(content, paths[i]);
	for (size_t i = 0; i < count; i++) {
		if (ok)
			ok = ssb_output_commit(outputs[i], err);
		else
			ssb_output_discard(outputs[i]);
	}
	return ok;
}
