#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tools/ssb-save/writers.h"

struct zip_file {
	struct archive *archive;
};

static la_ssize_t store(struct archive *archive, void *out, const void *data, size_t size)
{
	ssb_error err;
	if (bytes_append(out, data, size, &err))
		return (la_ssize_t)size;
	archive_set_error(archive, ENOMEM, "%s", err.text);
	return -1;
}

static bool zip_failed(const zip_file *zip, ssb_error *err)
{
	return ssb_fail(err, SSB_RUNTIME, "libarchive: %s", archive_error_string(zip->archive));
}

zip_file *zip_open(bytes *out, ssb_error *err)
{
	zip_file *zip = calloc(1, sizeof *zip);
	if (!zip || !(zip->archive = archive_write_new())) {
		free(zip);
		ssb_fail(err, SSB_RUNTIME, "out of memory");
		return NULL;
	}
	struct archive *archive = zip->archive;
	if (archive_write_set_format_zip(archive) == ARCHIVE_OK &&
	    archive_write_set_format_option(archive, "zip", "compression", "store") == ARCHIVE_OK &&
	    archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK && archive_write_open(archive, out, NULL, store, NULL) == ARCHIVE_OK)
		return zip;
	zip_failed(zip, err);
	zip_discard(zip);
	return NULL;
}

bool zip_add(zip_file *zip, const char *name, const bytes *file, ssb_error *err)
{
	struct archive_entry *entry = archive_entry_new();
	if (!entry)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	/* No time is set: the entry then says 1980-01-01, whatever the clock and the time zone. */
	archive_entry_set_pathname(entry, name);
	archive_entry_set_size(entry, (la_int64_t)file->size);
	archive_entry_set_filetype(entry, S_IFREG);
	archive_entry_set_perm(entry, 0644);
	const bool ok = archive_write_header(zip->archive, entry) == ARCHIVE_OK &&
	                archive_write_data(zip->archive, file->data, file->size) == (la_ssize_t)file->size &&
	                archive_write_finish_entry(zip->archive) == ARCHIVE_OK;
	archive_entry_free(entry);
	return ok || zip_failed(zip, err);
}

void zip_discard(zip_file *zip)
{
	if (zip)
		archive_write_free(zip->archive);
	free(zip);
}

bool zip_close(zip_file *zip, ssb_error *err)
{
	const bool ok = archive_write_close(zip->archive) == ARCHIVE_OK || zip_failed(zip, err);
	zip_discard(zip);
	return ok;
}
