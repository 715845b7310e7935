#include "tools/ssb-decode/h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/ssb-decode/superblock.h"

void h5_setup(void)
{
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	H5PLset_loading_state(0);
}

static herr_t keep_description(unsigned depth, const H5E_error2_t *error, void *text)
{
	if (depth == 0)
		snprintf(text, H5_CAUSE_SIZE, "%s", error->desc ? error->desc : "");
	return 0;
}

const char *h5_cause(char text[H5_CAUSE_SIZE])
{
	text[0] = 0;
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_description, text);
	return text;
}

bool h5_open(const char *path, hid_t *file, ssb_error *err)
{
	if (!superblock_check(path, err))
		return false;
	const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
	H5Pset_file_locking(access, true, true); /* file systems without locks are no obstacle */
	*file = H5Fopen(path, H5F_ACC_RDONLY, access);
	char cause[H5_CAUSE_SIZE];
	h5_cause(cause); /* before the next call of HDF5 forgets it */
	H5Pclose(access);
	if (*file >= 0)
		return true;
	if (strstr(cause, "lock file"))
		return ssb_fail(err, SSB_BAD_INPUT, "the file is being written (a program has it open)");
	return ssb_fail(err, SSB_BAD_INPUT, "damaged HDF5 file: %s", cause);
}

void h5_leave(h5_place *place)
{
	if (place->file > 0)
		H5Fclose(place->file);
	place->file = -1;
}

static herr_t append_name(hid_t group, const char *name, const H5L_info_t *info, void *at)
{
	(void)group;
	(void)info;
	char ***const next = at;
	return (*(*next)++ = strdup(name)) ? 0 : -1;
}

char **h5_names(const h5_place *group, size_t *count, ssb_error *err)
{
	char cause[H5_CAUSE_SIZE];
	H5G_info_t info;
	*count = 0;
	if (H5Gget_info_by_name(group->file, group->object, &info, H5P_DEFAULT) < 0 || info.nlinks > (1 << 24))
		return ssb_fail(err, SSB_BAD_INPUT, "group '%s' in '%s' cannot be read: %s", group->object, group->path, h5_cause(cause)), NULL;
	char **const names = calloc(info.nlinks + 1, sizeof *names), **next = names;
	if (!names)
		return ssb_fail_errno(err, "names of '%s'", group->object), NULL;
	const hid_t id = H5Gopen2(group->file, group->object, H5P_DEFAULT);
	const herr_t status = H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, NULL, append_name, &next);
	h5_cause(cause);
	H5Gclose(id);
	*count = (size_t)(next - names);
	if (status >= 0)
		return names;
	h5_names_free(names, *count);
	return ssb_fail(err, SSB_BAD_INPUT, "group '%s' in '%s' cannot be read: %s", group->object, group->path, cause), NULL;
}

void h5_names_free(char **names, size_t count)
{
	for (size_t i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}

static bool is_type(const h5_place *place, H5O_type_t type)
{
	H5O_info_t info;
	return H5Oget_info_by_name2(place->file, place->object, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 && info.type == type;
}

bool h5_is_dataset(const h5_place *place)
{
	return is_type(place, H5O_TYPE_DATASET);
}

bool h5_is_group(const h5_place *place)
{
	return is_type(place, H5O_TYPE_GROUP);
}

typedef herr_t reader(hid_t id, hid_t memory_type, void *values);

static herr_t read_dataset(hid_t id, hid_t memory_type, void *values)
{
	return H5Dread(id, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

static int read_numbers(hid_t id, hid_t space, hid_t type, reader *read, double *values, int room)
{
	const hssize_t count = H5Sget_simple_extent_npoints(space);
	const H5T_class_t class = H5Tget_class(type);
	if (count < 1 || count > room || (class != H5T_INTEGER && class != H5T_FLOAT) || read(id, H5T_NATIVE_DOUBLE, values) < 0)
		return -1;
	return (int)count;
}

int h5_numbers(const h5_place *place, double *values, int room)
{
	const hid_t id = H5Dopen2(place->file, place->object, H5P_DEFAULT), space = H5Dget_space(id), type = H5Dget_type(id);
	const int count = read_numbers(id, space, type, read_dataset, values, room);
	H5Tclose(type);
	H5Sclose(space);
	H5Dclose(id);
	return count;
}

int h5_attribute_numbers(const h5_place *place, const char *attribute, double *values, int room)
{
	const hid_t id = H5Aopen_by_name(place->file, place->object, attribute, H5P_DEFAULT, H5P_DEFAULT);
	const hid_t space = H5Aget_space(id), type = H5Aget_type(id);
	const int count = read_numbers(id, space, type, H5Aread, values, room);
	H5Tclose(type);
	H5Sclose(space);
	H5Aclose(id);
	return count;
}

/* The items of a text array, joined by commas. Each is `stride` bytes after the one before, or where a pointer there says. */
static void join_items(const char *items, size_t count, size_t stride, bool pointers, char *text, size_t size)
{
	size_t length = 0;
	text[0] = 0;
	for (size_t i = 0; i < count && length < size; i++) {
		const char *item = items + i * stride;
		if (pointers)
			memcpy(&item, items + i * stride, sizeof item);
		const size_t longest = pointers ? size : stride;
		length += (size_t)snprintf(text + length, size - length, "%s%.*s", i ? ", " : "", (int)longest, item ? item : "");
	}
}

static bool read_text(hid_t id, hid_t space, hid_t type, reader *read, char *text, size_t size)
{
	enum { LONGEST = 1 << 16, MOST_ITEMS = 64 };
	const size_t stride = H5Tget_size(type);
	const hssize_t count = H5Sget_simple_extent_npoints(space);
	if (H5Tget_class(type) != H5T_STRING || count < 1 || count > MOST_ITEMS || stride == 0 || stride > LONGEST)
		return false;
	const bool pointers = H5Tis_variable_str(type) > 0;
	char *const items = calloc((size_t)count, stride);
	const bool ok = items && read(id, type, items) >= 0;
	if (ok)
		join_items(items, (size_t)count, stride, pointers, text, size);
	if (ok && pointers)
		H5Dvlen_reclaim(type, space, H5P_DEFAULT, items);
	free(items);
	return ok;
}

bool h5_text(const h5_place *place, char *text, size_t size)
{
	const hid_t id = H5Dopen2(place->file, place->object, H5P_DEFAULT), space = H5Dget_space(id), type = H5Dget_type(id);
	const bool ok = read_text(id, space, type, read_dataset, text, size);
	H5Tclose(type);
	H5Sclose(space);
	H5Dclose(id);
	return ok;
}

bool h5_attribute_text(const h5_place *place, const char *attribute, char *text, size_t size)
{
	const hid_t id = H5Aopen_by_name(place->file, place->object, attribute, H5P_DEFAULT, H5P_DEFAULT);
	const hid_t space = H5Aget_space(id), type = H5Aget_type(id);
	const bool ok = read_text(id, space, type, H5Aread, text, size);
	H5Tclose(type);
	H5Sclose(space);
	H5Aclose(id);
	return ok;
}
