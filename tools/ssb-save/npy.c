#include "tools/common/npy.h"
#include "tools/ssb-save/writers.h"

bool npy_append(bytes *out, const char *descr, const size_t *shape, unsigned rank, const void *data, size_t size, ssb_error *err)
{
	char header[NPY_HEADER_ROOM];
	return bytes_append(out, header, npy_header(header, descr, shape, rank), err) && bytes_append(out, data, size, err);
}

bool write_npy(const save_content *content, const picture_options *options, bytes *out, ssb_error *err)
{
	(void)options;
	const size_t shape[] = {content->pages, content->rows, content->columns}, pixels = content_pixels(content);
	const unsigned rank = content->pages > 1 ? 3 : 2;
	if (content->objective)
		return npy_append(out, "<f8", shape + (content->map.axes == 1 ? 2 : 1), (unsigned)content->map.axes, content->objective,
		                  pixels * sizeof *content->objective, err);
	if (content->phase)
		return npy_append(out, "<f4", shape + 3 - rank, rank, content->phase, pixels * sizeof *content->phase, err);
	return npy_append(out, "<u8", shape + 3 - rank, rank, content->counts, pixels * sizeof *content->counts, err);
}
