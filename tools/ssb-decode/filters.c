#include "tools/ssb-decode/filters.h"

#include <string.h>

enum { BITSHUFFLE = 32008, LZ4 = 32004, MOST_PARAMETERS = 32, NAME_SIZE = 64 };

typedef struct filter {
	H5Z_filter_t id;
	unsigned parameter[MOST_PARAMETERS];
	size_t parameters;
	char name[NAME_SIZE]; /* as the file has it */
} filter;

/* Registered numbers that a reader may meet; HDF5's own are 1 to 6. */
static const struct { H5Z_filter_t id; const char *name; } known[] = {
	{1, "deflate"}, {2, "shuffle"}, {3, "fletcher32"}, {4, "szip"}, {5, "nbit"}, {6, "scaleoffset"}, {305, "lzo"}, {307, "bzip2"},
	{32000, "lzf"}, {32001, "blosc"}, {LZ4, "lz4"}, {BITSHUFFLE, "bitshuffle"}, {32013, "zfp"}, {32015, "zstd"}, {32017, "sz"},
	{32026, "blosc2"},
};

static const char *filter_name(const filter *f)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].id == f->id)
			return known[i].name;
	return f->name[0] ? f->name : "unknown";
}

static bool read_filter(hid_t creation, unsigned index, filter *f, ssb_error *err)
{
	unsigned flags, configuration;
	f->parameters = MOST_PARAMETERS;
	f->name[0] = 0;
	f->id = H5Pget_filter2(creation, index, &flags, &f->parameters, f->parameter, NAME_SIZE, f->name, &configuration);
	f->name[NAME_SIZE - 1] = 0;
	if (f->parameters > MOST_PARAMETERS)
		f->parameters = MOST_PARAMETERS;
	return f->id >= 0 || ssb_fail(err, SSB_BAD_INPUT, "the filter pipeline is damaged");
}

/* The parameters are: version, version, element size, elements per block, compressor. */
static bool judge_bitshuffle(const filter *f, chunk_packing *packing, ssb_error *err)
{
	const unsigned compressor = f->parameters > 4 ? f->parameter[4] : BITSHUFFLE_NONE;
	if (f->parameters < 3)
		return ssb_fail(err, SSB_BAD_INPUT, "filter 32008 (bitshuffle) has %zu parameters, needs 3 or more", f->parameters);
	if (compressor != BITSHUFFLE_NONE && compressor != BITSHUFFLE_LZ4 && compressor != BITSHUFFLE_ZSTD)
		return ssb_fail(err, SSB_BAD_INPUT, "filter 32008 (bitshuffle) with compressor %u is not supported", compressor);
	if (f->parameter[2] != packing->element_size)
		return ssb_fail(err, SSB_BAD_INPUT, "filter 32008 (bitshuffle) is set for elements of %u bytes, the set has %zu",
		                f->parameter[2], packing->element_size);
	packing->filter = CHUNK_BITSHUFFLE;
	packing->compressor = (enum bitshuffle_compressor)compressor;
	packing->block_elements = f->parameters > 3 ? f->parameter[3] : 0;
	return true;
}

/* HDF5's own filters, as far as this build of it has them. */
static bool judge_foreign(const filter *f, ssb_error *err)
{
	unsigned configuration = 0;
	if (f->id < H5Z_FILTER_DEFLATE || f->id > H5Z_FILTER_SCALEOFFSET)
		return ssb_fail(err, SSB_BAD_INPUT, "filter %d (%s) is not supported", (int)f->id, filter_name(f));
	if (H5Zfilter_avail(f->id) <= 0 || H5Zget_filter_info(f->id, &configuration) < 0 ||
	    !(configuration & H5Z_FILTER_CONFIG_DECODE_ENABLED))
		return ssb_fail(err, SSB_BAD_INPUT, "filter %d (%s) is not available in this build of HDF5", (int)f->id, filter_name(f));
	return true;
}

bool filters_judge(hid_t creation, size_t element_size, bool *ours, chunk_packing *packing, ssb_error *err)
{
	const int count = H5Pget_nfilters(creation);
	*ours = count == 0;
	*packing = (chunk_packing){.filter = CHUNK_PLAIN, .element_size = element_size};
	if (count < 0)
		return ssb_fail(err, SSB_BAD_INPUT, "the filter pipeline is damaged");
	for (int i = 0; i < count; i++) {
		filter f;
		if (!read_filter(creation, (unsigned)i, &f, err))
			return false;
		if (f.id != BITSHUFFLE && f.id != LZ4) {
			if (!judge_foreign(&f, err))
				return false;
			continue;
		}
		if (count > 1)
			return ssb_fail(err, SSB_BAD_INPUT, "filter %d (%s) together with other filters is not supported", (int)f.id, filter_name(&f));
		*ours = true;
		packing->filter = CHUNK_LZ4;
		if (f.id == BITSHUFFLE && !judge_bitshuffle(&f, packing, err))
			return false;
	}
	return true;
}
