"""Read the files of ssb-tools (regions, spectra, fits, phases, maps): an independent reader, written from SPEC.md.

    import ssbfile
    scan = ssbfile.load("scan.phase")
    scan.kind, scan.meta["sampling_A"], scan.history     # "phase", …
    scan["phase"]                                        # numpy array; list(scan.arrays) names them

Needs numpy, and zstandard only for arrays with zstd chunks. Arrays are as stored, but complex halves (c4) come as complex64; a spectrum's G is
then in units of meta["G_scale"]: scan["G"] * scan.meta.get("G_scale", 1). A raw array of one chunk is memory-mapped, any other is read when it is
first asked for. Everything but the payloads is checked by load(); a payload is checked when its array is first asked for, at some
100 MB/s (load(path, verify=False) leaves that out). Damage and truncation raise FormatError.
As a program, `python3 ssbfile.py FILE` checks everything and prints a summary.
"""
import collections.abc
import contextlib
import json
import math
import os
import struct
import sys

import numpy as np

MAGIC = b"\x89SSB\r\n\x1a\n"
KINDS = {1: "region", 2: "spectrum", 3: "fit", 4: "phase", 5: "map"}
DTYPES = {1: "u1", 2: "u2", 3: "u4", 4: "u8", 5: "i4", 6: "f4", 7: "f8", 8: "c8", 9: "c16", 10: "c4"}
RECORD = 64


class FormatError(ValueError):
    """The file is damaged, truncated, or of a version or with features this reader does not know."""


# ---- XXH3-64, seed 0, from the published description of the algorithm ----

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
_MASK = (1 << 64) - 1
_P32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_P64 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_MX = 0x165667919E3779F9, 0x9FB21C651E98DF25
_BLOCK = 1024  # bytes: 16 stripes of 64
_STRIPE_KEYS = np.array([np.frombuffer(_SECRET, "<u8", 8, 8 * s) for s in range(16)])
_SCRAMBLE_KEY = np.frombuffer(_SECRET, "<u8", 8, 128)


def _word(data, offset, size=8):
    return int.from_bytes(data[offset:offset + size], "little")


def _fold(a, b):
    product = (a & _MASK) * (b & _MASK)
    return (product & _MASK) ^ (product >> 64)


def _mix(data, offset, key):
    return _fold(_word(data, offset) ^ _word(_SECRET, key), _word(data, offset + 8) ^ _word(_SECRET, key + 8))


def _avalanche(h):
    h &= _MASK
    h = (h ^ h >> 37) * _MX[0] & _MASK
    return h ^ h >> 32


def _avalanche_short(h):
    h = (h ^ h >> 33) * _P64[1] & _MASK
    h = (h ^ h >> 29) * _P64[2] & _MASK
    return h ^ h >> 32


def _rotate(h, bits):
    return (h << bits | h >> 64 - bits) & _MASK


def _hash_to_16(data):
    n = len(data)
    if n > 8:
        low = _word(data, 0) ^ _word(_SECRET, 24) ^ _word(_SECRET, 32)
        high = _word(data, n - 8) ^ _word(_SECRET, 40) ^ _word(_SECRET, 48)
        return _avalanche(n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + _fold(low, high))
    if n > 3:
        h = (_word(data, n - 4, 4) + (_word(data, 0, 4) << 32)) ^ _word(_SECRET, 8) ^ _word(_SECRET, 16)
        h = (h ^ _rotate(h, 49) ^ _rotate(h, 24)) * _MX[1] & _MASK
        h = (h ^ (h >> 35) + n) * _MX[1] & _MASK
        return h ^ h >> 28
    if n > 0:
        word = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return _avalanche_short(word ^ _word(_SECRET, 0, 4) ^ _word(_SECRET, 4, 4))
    return _avalanche_short(_word(_SECRET, 56) ^ _word(_SECRET, 64))


def _hash_to_240(data):
    n = len(data)
    h = n * _P64[0]
    if n > 128:
        h = _avalanche(h + sum(_mix(data, 16 * i, 16 * i) for i in range(8)))
        h += sum(_mix(data, 16 * i, 16 * i - 125) for i in range(8, n // 16))
        return _avalanche(h + _mix(data, n - 16, 119))
    for i in range((n - 1) // 32 + 1):
        h += _mix(data, 16 * i, 32 * i) + _mix(data, n - 16 * (i + 1), 32 * i + 16)
    return _avalanche(h)


def _stripe_sums(words, keys):
    """What stripes of 8 words add to the 8 lanes, summed over the second-last axis."""
    keyed = words ^ keys
    products = (keyed & np.uint64(0xFFFFFFFF)) * (keyed >> np.uint64(32))
    return products.sum(-2, dtype=np.uint64) + words.sum(-2, dtype=np.uint64)[..., [1, 0, 3, 2, 5, 4, 7, 6]]


def _hash_long(data):
    n = len(data)
    data = np.frombuffer(data, np.uint8)
    lanes = np.array([_P32[2], *_P64[:4], _P32[1], _P64[4], _P32[0]], np.uint64)
    full = (n - 1) // _BLOCK
    for start in range(0, full, 1024):
        stop = min(full, start + 1024)
        words = np.frombuffer(data[start * _BLOCK:stop * _BLOCK], "<u8").reshape(-1, 16, 8)
        for sums in _stripe_sums(words, _STRIPE_KEYS):
            lanes += sums
            lanes ^= lanes >> np.uint64(47)
            lanes ^= _SCRAMBLE_KEY
            lanes *= np.uint64(_P32[0])
    stripes = (n - 1) % _BLOCK // 64
    words = np.frombuffer(data[full * _BLOCK:full * _BLOCK + 64 * stripes], "<u8").reshape(stripes, 8)
    lanes += _stripe_sums(words, _STRIPE_KEYS[:stripes])
    lanes += _stripe_sums(np.frombuffer(data[n - 64:], "<u8").reshape(1, 8), np.frombuffer(_SECRET, "<u8", 8, 121))
    lanes = [int(x) for x in lanes]
    return _avalanche(n * _P64[0] + sum(_fold(lanes[i] ^ _word(_SECRET, 11 + 8 * i), lanes[i + 1] ^ _word(_SECRET, 19 + 8 * i))
                                        for i in range(0, 8, 2)))


def xxh3(data):
    """The 64-bit hash of a contiguous buffer of bytes."""
    n = len(data)
    if n > 240:
        return _hash_long(data)
    return _hash_to_16(bytes(data)) if n <= 16 else _hash_to_240(bytes(data))


# ---- the container ----

def _require(condition, text):
    if not condition:
        raise FormatError(text)


@contextlib.contextmanager
def _reading(path):
    try:
        yield
    except FormatError as error:
        raise FormatError(f"cannot read '{path}': {error}") from error


class _Cursor:
    """Takes bytes off the file one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size, what):
        _require(size <= len(self.data) - self.at, f"truncated at byte {len(self.data)}, in {what}")
        self.at += size
        return self.data[self.at - size:self.at]

    def record(self, form, what):
        """The fields of a record whose last is the hash of the others."""
        raw = bytes(self.take(RECORD, what))
        fields = struct.unpack(form, raw)
        _require(xxh3(raw[:56]) == fields[-1], f"{what} fails its checksum")
        return fields

    def skip_padding(self, what):
        _require(not np.any(self.take(-self.at % RECORD, what)), f"the padding of {what} is not zero")


def _object(pairs):
    result = dict(pairs)
    _require(len(result) == len(pairs), "a key appears twice in the JSON header")
    return result


def _constant(name):
    raise FormatError(f"{name} in the JSON header")


def _check_values(value):
    """What Python's parser lets pass: numbers out of range, strings that are not Unicode text."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list):
        for item in value:
            _check_values(item)
    elif isinstance(value, str):
        value.encode()
        _require("\0" not in value, "a NUL in the JSON header")
    elif isinstance(value, float):
        _require(math.isfinite(value), "a number in the JSON header is out of range")
    elif isinstance(value, int):
        _require(-2**63 <= value < 2**63, "a number in the JSON header is out of range")


def _parse_json(text, kind):
    try:
        root = json.loads(text.decode(), object_pairs_hook=_object, parse_constant=_constant)
        _check_values(root)
    except FormatError:
        raise
    except (ValueError, RecursionError) as error:  # text that is not UTF-8 or not JSON, integers of thousands of digits, deep nesting
        raise FormatError(f"the JSON header is wrong: {error}") from error
    _require(isinstance(root, dict) and root.get("kind") == kind, f"the JSON header is not that of a {kind}")
    for key, of in ("meta", dict), ("history", list), ("arrays", list):
        _require(isinstance(root.get(key), of), f"the JSON header's '{key}' is missing or of the wrong type")
    return root


def _whole(value, least):
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


class ArrayInfo:
    """One entry of the header's list of arrays: name, dtype, shape, chunk_elements, codec, unit."""

    def __init__(self, entry):
        _require(isinstance(entry, dict), "an array's entry is no object")
        self.name, self.dtype, self.shape = entry.get("name"), entry.get("dtype"), entry.get("shape")
        self.chunk_elements, self.codec, self.unit = entry.get("chunk_elements"), entry.get("codec"), entry.get("unit")
        name = self.name
        _require(isinstance(name, str) and name.replace("_", "a").isalnum() and name.isascii() and len(name) < 32,
                 f"the array name {name!r} is not allowed")
        _require(self.dtype in DTYPES.values() and self.codec in ("raw", "zstd"), f"array '{name}': unknown dtype or codec")
        _require(isinstance(self.unit, str) and len(self.unit.encode()) < 32, f"array '{name}': its unit is no short text")
        _require(isinstance(self.shape, list) and len(self.shape) <= 6 and all(_whole(n, 0) for n in self.shape),
                 f"array '{name}': its shape is wrong")
        _require(_whole(self.chunk_elements, 1), f"array '{name}': its chunk_elements is wrong")
        _require(math.prod(n for n in self.shape if n) * self.itemsize < 2**63, f"array '{name}' is too large")

    @property
    def elements(self):
        return math.prod(self.shape)

    @property
    def itemsize(self):
        return int(self.dtype[1:])

    @property
    def chunks(self):
        return -(-self.elements // self.chunk_elements)

    def holds(self, stored):
        return stored == self.dtype or (stored[0] == self.dtype[0] == "u" and int(stored[1:]) < self.itemsize)


def _view(payload, dtype):
    """Bytes as elements; numpy has no complex halves: those are copied to complex singles."""
    return payload.view("<f2").astype("<f4").view("<c8") if dtype == "c4" else payload.view("<" + dtype)


class _Chunk:
    """A chunk's place in the file, and how to decode it."""

    def __init__(self, cursor, info, array, number):
        self.what = f"chunk {number} of '{info.name}'"
        mark, index, chunk, self.raw_size, self.size, codec, dtype, _, refuse, self.hash, self.check = cursor.record(
            "<4sIQQQIIIIQQ", "the header of " + self.what)
        _require(mark == b"CHNK" and refuse == 0, f"{self.what}: no chunk, or one with unknown features")
        _require((index, chunk) == (array, number), f"{self.what}: in its place is chunk {chunk} of array {index}")
        self.dtype, self.packed = DTYPES.get(dtype, ""), codec == 1
        _require(self.dtype and info.holds(self.dtype) and (codec == 0 or (codec == 1 and info.codec == "zstd")),
                 f"{self.what}: its dtype or codec cannot be in this array")
        elements = min(info.chunk_elements, info.elements - number * info.chunk_elements)
        _require(self.raw_size == elements * int(self.dtype[1:]) and self.size > 0
                 and (self.raw_size // 32768 <= self.size < self.raw_size if self.packed else self.size == self.raw_size),
                 f"{self.what}: its sizes cannot be")
        self.payload = cursor.take(self.size, self.what)
        self.padding = cursor.take(-self.size % RECORD, self.what)

    def elements(self, verify):
        if verify:
            _require(xxh3(self.payload) == self.hash, f"{self.what} fails its checksum")
            _require(not np.any(self.padding), f"the padding of {self.what} is not zero")
        if not self.packed:
            return _view(self.payload, self.dtype)
        planes = np.frombuffer(self._decompressed(), np.uint8).reshape(int(self.dtype[1:]), -1)
        return _view(np.ascontiguousarray(planes.T).reshape(-1), self.dtype)

    def _decompressed(self):
        import zstandard
        frame = bytes(self.payload)
        try:
            declared = zstandard.frame_content_size(frame)
            _require(declared == self.raw_size, f"{self.what}: its zstd frame is of another size")
            decoder = zstandard.ZstdDecompressor().decompressobj()
            decoded = decoder.decompress(frame)
        except zstandard.ZstdError as error:
            raise FormatError(f"{self.what} cannot be decompressed: {error}") from error
        _require(len(decoded) == self.raw_size and not decoder.unused_data, f"{self.what} is not one whole zstd frame")
        return decoded


class Arrays(collections.abc.Mapping):
    """The arrays by name, read when first asked for. info[name] describes one."""

    def __init__(self, path, infos, chunks, verify):
        self.info = {info.name: info for info in infos}
        self._path, self._chunks, self._verify, self._loaded = path, dict(zip(self.info, chunks)), verify, {}

    def __iter__(self):
        return iter(self.info)

    def __len__(self):
        return len(self.info)

    def __getitem__(self, name):
        if name not in self._loaded:
            with _reading(self._path):
                self._loaded[name] = self._load(self.info[name], self._chunks[name])
        return self._loaded[name]

    def _load(self, info, chunks):
        if len(chunks) == 1 and chunks[0].dtype == info.dtype:
            return chunks[0].elements(self._verify).reshape(info.shape)
        result = np.empty(info.elements, "<c8" if info.dtype == "c4" else "<" + info.dtype)
        for number, chunk in enumerate(chunks):
            start = number * info.chunk_elements
            result[start:start + info.chunk_elements] = chunk.elements(self._verify)
        return result.reshape(info.shape)


class Container:
    """kind, meta, history, arrays (a mapping by name), digest; container["phase"] is container.arrays["phase"]."""

    def __init__(self, path, data, verify):
        cursor = _Cursor(data)
        _require(bytes(data[:8]) == MAGIC, "this is no file of ssb-tools, or it was copied as text")
        _, version, zero, kind, _, refuse, size, text_hash, zeros, check = cursor.record("<8sHHIIIQQ16sQ", "the file header")
        _require(version == 1 and refuse == 0 and kind in KINDS, f"format version {version} with features {refuse:#x} is unknown")
        _require(zero == 0 and not any(zeros) and size <= 64 << 20, "the file header is wrong")
        self.kind = KINDS[kind]
        text = bytes(cursor.take(size, "the JSON header"))
        _require(xxh3(text) == text_hash, "the JSON header fails its checksum")
        cursor.skip_padding("the JSON header")
        root = _parse_json(text, self.kind)
        self.meta, self.history = root["meta"], root["history"]
        infos = [ArrayInfo(entry) for entry in root["arrays"]]
        _require(len(infos) <= 32 and len({info.name for info in infos}) == len(infos), "too many arrays, or one listed twice")
        _require(sum(info.elements * info.itemsize for info in infos) < 2**63, "the arrays are too large")
        chunks = [[_Chunk(cursor, info, i, n) for n in range(info.chunks)] for i, info in enumerate(infos)]
        self._read_end(cursor, [check], [chunk for array in chunks for chunk in array], len(infos))
        self.arrays = Arrays(path, infos, chunks, verify)

    def _read_end(self, cursor, checks, chunks, arrays):
        mark, count, number, raw, stored, ignorable, refuse, digest, zero, _ = cursor.record("<4sIQQQIIQQQ", "the end record")
        _require(mark == b"ENDR" and refuse == 0 and zero == 0, "the end record is wrong or has unknown features")
        checks = np.array(checks + [chunk.check for chunk in chunks], "<u8")
        _require((count, number, raw, stored, digest) ==
                 (arrays, len(chunks), sum(c.raw_size for c in chunks), sum(c.size for c in chunks), xxh3(checks.tobytes())),
                 "the end record contradicts the chunks before it")
        _require(ignorable & 1 or cursor.at == len(cursor.data), "bytes follow the end record")
        self.digest = f"{digest:016x}"

    def __getitem__(self, name):
        return self.arrays[name]


def load(path, verify=True):
    """Open a file; verify=False leaves out the payloads' hashes."""
    data = np.memmap(path, np.uint8, "r") if os.path.getsize(path) else np.zeros(0, np.uint8)
    with _reading(path):
        return Container(path, data, verify)


def _summary(container):
    yield f"{container.kind}, digest {container.digest}"
    yield json.dumps({"meta": container.meta, "history": container.history}, indent=2, ensure_ascii=False)
    for name, info in container.arrays.info.items():
        container[name]  # checks the payload
        yield f"{name}: {info.dtype} {info.shape} [{info.unit}], {info.chunks} chunks, {info.codec}"


def _main():
    if len(sys.argv) != 2:
        sys.exit("usage: ssbfile.py FILE")
    try:
        print(*_summary(load(sys.argv[1])), sep="\n")
    except (FormatError, OSError) as error:
        print(f"ssbfile.py: {error}", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    _main()
