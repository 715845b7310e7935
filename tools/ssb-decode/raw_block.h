/* Blocks of an HDF5 file's metadata: bytes at an address, with a signature and a checksum. */
#ifndef DECODE_RAW_BLOCK_H
#define DECODE_RAW_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include "formats/status.h"

/* Bytes that are taken from the front; taking more than there are sets `failed` and gives 0. */
typedef struct byte_view { const uint8_t *at; size_t left; bool failed; } byte_view;

uint64_t view_take(byte_view *view, size_t bytes); /* 1 to 8 bytes, little-endian */
void view_skip(byte_view *view, uint64_t bytes);

/* A file whose addresses are of 8 bytes, from its superblock on. */
typedef struct raw_file { int descriptor; uint64_t base, size; } raw_file;

bool raw_open(raw_file *file, const char *path, ssb_error *err);
void raw_close(raw_file *file);

/* Exactly `size` bytes at `address`, which must lie in the file. */
bool raw_peek(const raw_file *file, uint64_t address, void *bytes, uint64_t size, ssb_error *err);

typedef struct raw_block { uint8_t *bytes; byte_view view; } raw_block;

/* Read prefix + content bytes and the checksum behind them. The block begins with the 4-byte `signature` (NULL: none), which `view` is past.
 * The caller frees block->bytes. */
bool raw_read(const raw_file *file, uint64_t address, uint64_t prefix, uint64_t content, const char *signature, raw_block *block,
                   ssb_error *err);

#endif
