/* The filter pipeline of a dataset: who decodes it, or why it is refused. */
#ifndef DECODE_FILTERS_H
#define DECODE_FILTERS_H

#include <hdf5.h>
#include "tools/ssb-decode/chunk_decoder.h"

/* Judge the pipeline of the creation property list `creation` of a chunked set. *ours: the chunks are for chunk_decoder, packed as
 * *packing says (raw_size is left alone); otherwise HDF5 decodes them. Fails for a filter that neither can, by number and name. */
bool filters_judge(hid_t creation, size_t element_size, bool *ours, chunk_packing *packing, ssb_error *err);

#endif
