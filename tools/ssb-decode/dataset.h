/* One HDF5 dataset as a list of frames: its last two axes are the frame, the axes before them count frames in C order.
 *
 * Sets whose only filter is bitshuffle (32008) or LZ4 (32004), and chunked sets without filters, are fetched chunk by chunk and decoded
 * here by all threads; everything else that HDF5 itself can read goes through H5Dread. Either way each chunk is decoded once per call. */
#ifndef DECODE_DATASET_H
#define DECODE_DATASET_H

#include "tools/ssb-decode/chunk_decoder.h"
#include "tools/ssb-decode/chunk_index.h"
#include "tools/ssb-decode/h5.h"

typedef struct dataset dataset;

typedef struct dataset_info {
	unsigned rank;
	uint64_t shape[H5S_MAX_RANK];
	H5T_class_t class;
	size_t element_size;      /* bytes */
	bool big_endian;
	bool counts;              /* unsigned integers of 1, 2 or 4 bytes, every bit used */
	char type[16];            /* as numpy writes it: "<u2", ">f4", "text", "other" */
	uint64_t frames;          /* product of the axes before the last two; 0 for a null or empty extent */
	size_t rows, columns;     /* of a frame; sets of rank below 2 are one row */
} dataset_info;

/* Open a dataset (any rank, any element type) and check that its storage can be read: filters that are not supported are refused by
 * number and name, virtual sets and values kept in other files are refused. The place stays the caller's, and open as long as
 * the set is. */
dataset *dataset_open(const h5_place *place, ssb_error *err);
void dataset_close(dataset *set); /* NULL is allowed */
const dataset_info *dataset_describe(const dataset *set);

/* absent[i] = 1 for each of the `count` frames that has a chunk which was never written. */
bool dataset_absent(dataset *set, const uint64_t *frames, size_t count, uint8_t *absent, ssb_error *err);

/* Where each frame is, of a set whose every frame is one chunk packed in a way that chunk_unpack knows, in the machine's byte order: info.frames
 * chunks in *file, the set's, size 0 where one was never written. NULL: the set is another. */
const stored_chunk *dataset_frame_chunks(dataset *set, const raw_file **file, chunk_packing *packing);

/* Read `count` frames, numbers ascending, into `values` (count × rows × columns elements, in the machine's byte order).
 * `number_of_first` is added to frame numbers in messages. The buffers of `decoder` are used. */
bool dataset_read(dataset *set, const uint64_t *frames, size_t count, void *values, uint64_t number_of_first, chunk_decoder *decoder,
                  ssb_error *err);

/* Reverse the bytes of each of `count` elements of `size` bytes. */
void elements_swap(uint8_t *values, size_t count, size_t size);

/* Frames that share chunks come in bands: frames per band, 1 when no chunk holds more than one frame. */
uint64_t dataset_band(const dataset *set);

#endif
