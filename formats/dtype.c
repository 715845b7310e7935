#include "formats/frame.h"

static const char *const kind_names[] = {[SSB_REGION] = "region", [SSB_SPECTRUM] = "spectrum", [SSB_FIT] = "fit", [SSB_PHASE] = "phase",
                                         [SSB_MAP] = "map"};

static const struct { const char *name; size_t size; } dtypes[] = {
	[SSB_U1] = {"u1", 1}, [SSB_U2] = {"u2", 2}, [SSB_U4] = {"u4", 4}, [SSB_U8] = {"u8", 8}, [SSB_I4] = {"i4", 4},
	[SSB_F4] = {"f4", 4}, [SSB_F8] = {"f8", 8}, [SSB_C8] = {"c8", 8}, [SSB_C16] = {"c16", 16},
	[SSB_C4] = {"c4", 4},
};

const char *ssb_kind_name(enum ssb_kind kind)
{
	return kind >= SSB_REGION && kind <= SSB_MAP ? kind_names[kind] : "unknown";
}

const char *ssb_dtype_name(enum ssb_dtype dtype)
{
	return dtype >= SSB_U1 && dtype <= SSB_C4 ? dtypes[dtype].name : "unknown";
}

size_t ssb_dtype_size(enum ssb_dtype dtype)
{
	return dtype >= SSB_U1 && dtype <= SSB_C4 ? dtypes[dtype].size : 0;
}

uint64_t ssb_array_elements(const ssb_array *array)
{
	uint64_t elements = 1;
	for (unsigned i = 0; i < array->rank; i++)
		elements *= array->shape[i];
	return elements;
}

uint64_t ssb_array_chunks(const ssb_array *array)
{
	const uint64_t elements = ssb_array_elements(array);
	return elements / array->chunk_elements + (elements % array->chunk_elements != 0);
}

uint64_t ssb_chunk_elements(const ssb_array *array, uint64_t chunk)
{
	const uint64_t left = ssb_array_elements(array) - chunk * array->chunk_elements;
	return left < array->chunk_elements ? left : array->chunk_elements;
}

bool dtype_holds(enum ssb_dtype dtype, enum ssb_dtype stored)
{
	const bool both_unsigned = dtype >= SSB_U1 && dtype <= SSB_U8 && stored >= SSB_U1 && stored <= SSB_U8;
	return stored == dtype || (both_unsigned && stored < dtype);
}
