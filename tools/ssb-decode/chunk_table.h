/* Where every chunk of a set is that HDF5 itself opened. HDF5 1.10 has no call that tells all places in one walk (by number and by
 * coordinates each answer is a walk of its own), so the set's layout message and its index are read here: B-trees of version 1
 * (HDF5 File Format Specification, section III.A.1), and the indices of chunk_index.h. */
#ifndef DECODE_CHUNK_TABLE_H
#define DECODE_CHUNK_TABLE_H

#include "tools/ssb-decode/chunk_index.h"
#include "tools/ssb-decode/h5.h"

typedef struct chunk_table {
	raw_file file;
	chunk_index index;       /* chunks in C order of the set's cells */
} chunk_table;

/* The grid of chunks as HDF5 describes it. */
typedef struct chunk_grid {
	unsigned rank;
	uint64_t chunk[H5S_MAX_RANK], cells[H5S_MAX_RANK]; /* elements of a chunk, chunks of the set along each axis */
	bool first_axis_grows;                             /* no other does */
	size_t element_size;
} chunk_grid;

/* NULL when the index is of another kind, damaged, or does not fit the grid: then ask HDF5 for each chunk. */
chunk_table *chunk_table_load(const h5_place *place, const chunk_grid *grid);
void chunk_table_free(chunk_table *table); /* NULL is allowed */

#endif
