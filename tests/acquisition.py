"""Acquisitions for the tests, written without the filter plug-ins that Debian lacks: chunks are packed here and stored as they are.

The bit shuffle is numpy's own packbits; LZ4 blocks hold literals only, which every decoder must take.
"""
import numpy as np

BITSHUFFLE, LZ4 = 32008, 32004


def literals(data):
    """One LZ4 block that is a single run of literals."""
    extra = len(data) - 15
    token = bytes([min(len(data), 15) << 4])
    return token + (b"" if extra < 0 else b"\xff" * (extra // 255) + bytes([extra % 255])) + data


def zstd(data):
    import zstandard
    return zstandard.ZstdCompressor().compress(data)


def shuffle(block, size):
    bits = np.unpackbits(np.frombuffer(block, "u1").reshape(-1, size), axis=1, bitorder="little")
    return np.packbits(bits.T, axis=1, bitorder="little").tobytes()


def pack_bitshuffle(raw, size, compressor="lz4", block=0):
    """A 32008 chunk of elements of `size` bytes; `block` elements each, 0: the default."""
    block = block or max(8192 // size // 8 * 8, 128)
    whole = len(raw) // size // 8 * 8
    out = b"" if compressor == "none" else len(raw).to_bytes(8, "big") + (block * size).to_bytes(4, "big")
    for i in range(0, whole, block):
        part = shuffle(raw[i * size:min(i + block, whole) * size], size)
        if compressor != "none":
            part = {"lz4": literals, "zstd": zstd}[compressor](part)
            part = len(part).to_bytes(4, "big") + part
        out += part
    return out + raw[whole * size:]


def pack_lz4(raw, block, stored=False):
    """A 32004 chunk; `stored`: blocks as they are."""
    out = len(raw).to_bytes(8, "big") + block.to_bytes(4, "big")
    for i in range(0, len(raw), block):
        part = raw[i:i + block] if stored else literals(raw[i:i + block])
        out += len(part).to_bytes(4, "big") + part
    return out


class Bitshuffle:
    def __init__(self, compressor="lz4", block=0):
        self.compressor, self.block = compressor, block

    def filters(self, size):
        import h5py
        own = (self.block, {"none": 0, "lz4": 2, "zstd": 3}[self.compressor])
        # where the plug-in is installed it puts version and element size in front itself
        return [(BITSHUFFLE, own if h5py.h5z.filter_avail(BITSHUFFLE) else (0, 4, size) + own)]

    def pack(self, raw, size):
        return pack_bitshuffle(raw, size, self.compressor, self.block)


class Lz4:
    def __init__(self, block=1 << 20, stored=False):
        self.block, self.stored = block, stored

    def filters(self, size):
        return [(LZ4, (self.block,))]

    def pack(self, raw, size):
        return pack_lz4(raw, self.block, self.stored)


class Other:
    """Some other filter, whose chunks hold whatever they hold."""
    def __init__(self, number):
        self.number = number

    def filters(self, size):
        return [(self.number, ())]

    def pack(self, raw, size):
        return raw


def write_set(file, path, data, chunks, packing, skip=(), growing=True):
    """A chunked set whose chunks go into the file directly; `skip`: origins of chunks that are never written."""
    import h5py
    data = np.ascontiguousarray(data)
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(chunks)
    for number, values in packing.filters(data.itemsize):
        plist.set_filter(number, h5py.h5z.FLAG_OPTIONAL, values)
    most = ((h5py.h5s.UNLIMITED,) if growing else data.shape[:1]) + data.shape[1:]
    space = h5py.h5s.create_simple(data.shape, most)
    links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    d = h5py.Dataset(h5py.h5d.create(file.id, path.encode(), h5py.h5t.py_create(data.dtype, logical=True), space, plist, links))
    for cell in np.ndindex(*[-(-n // c) for n, c in zip(data.shape, chunks)]):
        origin = tuple(i * c for i, c in zip(cell, chunks))
        if origin in skip:
            continue
        part = data[tuple(slice(o, o + c) for o, c in zip(origin, chunks))]
        part = np.pad(part, [(0, c - n) for n, c in zip(part.shape, chunks)])
        d.id.write_direct_chunk(origin, packing.pack(part.tobytes(), data.itemsize))
    return d


def vendor(base, frames, per_file, mask=None, nimages=1, ntrigger=None, packing=None, libver=None):
    """BASE_master.h5 and BASE_data_00000n.h5 as the camera writes them: one frame per chunk, links by relative name."""
    import h5py
    packing = packing or Bitshuffle()
    with h5py.File(f"{base}_master.h5", "w", libver=libver) as m:
        data, det = m.create_group("entry/data"), m.create_group("entry/instrument/detector/detectorSpecific")
        det["nimages"], det["ntrigger"] = nimages, len(frames) if ntrigger is None else ntrigger
        det["pixel_mask"] = np.zeros(frames.shape[1:], "u4") if mask is None else mask
        for n, i in enumerate(range(0, len(frames), per_file), 1):
            name = f"{base}_data_{n:06d}.h5"
            part = frames[i:i + per_file]
            with h5py.File(name, "w", libver=libver) as f:
                d = write_set(f, "entry/data/data", part, (1,) + part.shape[1:], packing)
                d.attrs["image_nr_low"], d.attrs["image_nr_high"] = i + 1, i + len(part)
            data[f"data_{n:06d}"] = h5py.ExternalLink(name.rsplit("/", 1)[-1], "/entry/data/data")


def tagged(n, r, c, dtype="u2"):
    """Frame i is the constant i, with one bright pixel off every symmetry line: order, flips and swaps all show."""
    a = np.broadcast_to(np.arange(n, dtype=dtype)[:, None, None], (n, r, c)).copy()
    a[:, 1, c - 2] += 100
    return a


def noise(shape, dtype, seed=1, most=None):
    """Counts over the whole range below the sentinel (or below `most`)."""
    top = np.iinfo(np.dtype(dtype).newbyteorder("=")).max if most is None else most
    return np.random.default_rng(seed).integers(0, top, shape, dtype=np.dtype(dtype).newbyteorder("=")).astype(dtype)
