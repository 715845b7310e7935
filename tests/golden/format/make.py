"""Makes the golden files of the container, good and bad, and expected.json (run with formats/ on PYTHONPATH, in an empty folder).

Another writer, again from SPEC.md alone: what it makes, the C library and ssbfile.py must read, or refuse, alike. expected.json has for
each file either the digest and the hash of each array's bytes, or words that the C library's refusal must hold.
"""
import json
import struct

import numpy as np
import zstandard

from ssbfile import DTYPES, KINDS, xxh3

CODES = {name: code for code, name in DTYPES.items()}
expected = {}


def u64(value):
    return struct.pack("<Q", value)


def padded(raw, fill=b"\0"):
    return raw + fill * (-len(raw) % 64)


def sealed(record):
    assert len(record) == 56
    return record + u64(xxh3(record))


HALVES = np.dtype([("re", "<f2"), ("im", "<f2")])


def dtype_of(array):
    return "c4" if array.dtype == HALVES else array.dtype.str[1:]


def entry(name, array, chunk_elements, codec="raw", unit="1", **other):
    return {"name": name, "dtype": dtype_of(array), "shape": list(array.shape), "chunk_elements": chunk_elements,
            "codec": codec, "unit": unit} | other


def zstd(part, **options):
    planes = np.frombuffer(part.tobytes(), np.uint8).reshape(-1, part.itemsize).T
    return zstandard.ZstdCompressor(level=3, **options).compress(planes.tobytes())


class Chunk:
    """One chunk of an array; every field can be falsified."""

    def __init__(self, array, number, part, packed=None, **false):
        payload = part.tobytes() if packed is None else packed
        self.fields = dict(mark=b"CHNK", array=array, chunk=number, raw=part.nbytes, stored=len(payload), codec=int(packed is not None),
                           dtype=CODES[dtype_of(part)], ignorable=0, refuse=0, hash=xxh3(payload)) | false
        self.header = sealed(struct.pack("<4sIQQQIIIIQ", *self.fields.values()))
        self.payload = payload

    def bytes(self, pad=b"\0"):
        return self.header + padded(self.payload, pad)


def container(kind, arrays, chunks, meta=None, text=None, text_size=None, text_hash=None, pad=b"\0", file=None, end=None, root=None):
    """The bytes; `file` and `end` falsify fields of the first and last record, `root` adds keys to the JSON."""
    code = {name: number for number, name in KINDS.items()}[kind]
    if text is None:
        header = {"kind": kind, "meta": meta or {}, "history": [], "arrays": arrays} | (root or {})
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    head = dict(magic=b"\x89SSB\r\n\x1a\n", version=1, zero=0, kind=code, ignorable=0, refuse=0, size=text_size or len(text),
                hash=text_hash or xxh3(text), zeros=bytes(16)) | (file or {})
    head = sealed(struct.pack("<8sHHIIIQQ16s", *head.values()))
    digest = xxh3(head[56:] + b"".join(c.header[56:] for c in chunks))
    tail = dict(mark=b"ENDR", arrays=len(arrays), chunks=len(chunks), raw=sum(c.fields["raw"] for c in chunks),
                stored=sum(c.fields["stored"] for c in chunks), ignorable=0, refuse=0, digest=digest, zero=0) | (end or {})
    return (head + padded(text, pad) + b"".join(c.bytes() for c in chunks) + sealed(struct.pack("<4sIQQQIIQQ", *tail.values())),
            f"{digest:016x}")


def good(name, made, arrays):
    data, digest = made
    open(name, "wb").write(data)
    expected[name] = {"digest": digest, "arrays": {key: f"{xxh3(value.tobytes()):016x}" for key, value in arrays.items()}}


def bad(name, words, data):
    open(name, "wb").write(data[0] if isinstance(data, tuple) else data)
    expected[name] = {"refused": words}


def make_good():
    counts = np.arange(24, dtype="<u2") * np.where(np.arange(24) < 8, 31, 2800).astype("<u2")
    parts = [counts[:8].astype("<u1"), counts[8:16], counts[16:]]
    counts = counts.reshape(4, 3, 2)
    made = container("region", [entry("counts", counts, 8, unit="counts")], [Chunk(0, i, p) for i, p in enumerate(parts)],
                     {"scan_shape": [2, 2], "data": "Å and µ"})
    good("good-narrowed.region", made, {"counts": counts})

    wave = (np.repeat([1 + 2j, -0.5j], 8)).astype("<c8")
    sums = np.array([5, 2**16 - 1] * 16, "<u8")
    made = container("spectrum", [entry("G", wave, 12, "zstd"), entry("sum", sums, 32, "zstd", "counts")],
                     [Chunk(0, 0, wave[:12], zstd(wave[:12])), Chunk(0, 1, wave[12:]),
                      Chunk(1, 0, sums.astype("<u2"), zstd(sums.astype("<u2")))])
    good("good-zstd.spectrum", made, {"G": wave, "sum": sums})

    shapes = [(), (1,), (2, 1), (1, 2, 1), (1, 1, 2, 1), (2, 1, 1, 1, 1), (1, 1, 2, 1, 1, 1), (2,), (1, 2)]
    arrays = {f"{dtype}_{len(shape)}d": (np.arange(np.prod(shape, dtype=int)) * (3 - 1j if dtype[0] == "c" else 3)).astype("<" + dtype)
              .reshape(shape) for dtype, shape in zip(CODES, shapes)}
    made = container("fit", [entry(n, a, 2) for n, a in arrays.items()], [Chunk(i, 0, a) for i, a in enumerate(arrays.values())])
    good("good-dtypes.fit", made, arrays)

    halves = np.array([1, -2, 65504, -2**-24, 0, -0.0, 2**-14, 0.333] * 6, "<f2").view(HALVES)
    made = container("spectrum", [entry("G", halves.reshape(4, 6), 12, unit="counts"), entry("Z", halves, 24, "zstd")],
                     [Chunk(0, 0, halves[:12]), Chunk(0, 1, halves[12:]), Chunk(1, 0, halves, zstd(halves))], {"G_scale": 0.5})
    good("good-halves-zstd.spectrum", made, {"G": halves, "Z": halves})

    empty = np.zeros((3, 0, 2), "<f4")
    good("good-empty.phase", container("phase", [entry("phase", empty, 4, unit="rad")], []), {"phase": empty})
    good("good-no-arrays.phase", container("phase", [], []), {})

    data, digest = container("phase", [entry("phase", phase, 4, comment="new")], [Chunk(0, 0, phase, ignorable=1 << 7)],
                             file={"ignorable": 1 << 31}, end={"ignorable": 1 | 4}, root={"later": None})
    good("good-ignorable.phase", (data + b"an index, perhaps", digest), {"phase": phase})


phase = np.array([0.5, -0.25, 3e-9, -0.0], "<f4")
ARRAYS = [entry("phase", phase, 2, unit="rad")]
CHUNKS = [Chunk(0, 0, phase[:2]), Chunk(0, 1, phase[2:])]


def simple(**false):
    return container("phase", ARRAYS, CHUNKS, **false)


def with_chunk(*replaced, codec="raw", array=phase):
    return container("phase", [entry("phase", array, 2, codec)], list(replaced))


def with_array(**false):
    return container("phase", [ARRAYS[0] | false], CHUNKS)


def make_bad_records():
    data, _ = simple()
    flipped = bytearray(data)
    flipped[-64 - 64] ^= 1
    bad("bad-empty.phase", "empty", b"")
    bad("bad-text-copy.phase", "copied as text", data.replace(b"\r\n", b"\n"))
    bad("bad-magic.phase", "no file of ssb-tools", b"\x89HDF" + data[4:])
    bad("bad-checksum.phase", "file header fails its checksum", data[:20] + b"\1" + data[21:])
    bad("bad-version.phase", "version 2", simple(file={"version": 2}))
    bad("bad-refuse-file.phase", "bits 0x4", simple(file={"refuse": 4}))
    bad("bad-refuse-end.phase", "bits 0x100", simple(end={"refuse": 256}))
    bad("bad-kind.phase", "kind 9", simple(file={"kind": 9}))
    bad("bad-kinds.phase", "says both fit and 'phase'", simple(file={"kind": 3}))
    bad("bad-reserved.phase", "reserved", simple(file={"zeros": b"\1" + bytes(15)}))
    bad("bad-end-digest.phase", "contradicts", simple(end={"digest": 1}))
    bad("bad-end-chunks.phase", "contradicts", simple(end={"chunks": 3}))
    bad("bad-end-size.phase", "contradicts", simple(end={"raw": 17}))
    bad("bad-truncated-end.phase", "the end record is truncated", data[:-64])
    bad("bad-truncated-chunk.phase", "chunk 1 of 'phase' is truncated", data[:-100])
    bad("bad-trailing.phase", "is followed by bytes", data + b"\0")


def make_bad_json():
    text = json.dumps({"kind": "phase", "meta": {}, "history": [], "arrays": ARRAYS}, separators=(",", ":"))

    def edited(before, after):
        assert before in text
        return simple(text=text.replace(before, after).encode("utf-8", "surrogatepass"))

    bad("bad-json-hash.phase", "JSON header fails", simple(text_hash=1))
    bad("bad-json-padding.phase", "JSON header fails", simple(pad=b" "))
    bad("bad-json-size.phase", "announces", simple(text_size=1 << 40))
    bad("bad-json-longer.phase", "JSON header", simple(text_size=1 << 16))
    bad("bad-json-syntax.phase", "JSON header is wrong", edited("[]", "[,]"))
    bad("bad-json-twice.phase", "JSON header is wrong", edited('"meta":{}', '"meta":{"a":1,"a":2}'))
    bad("bad-json-nan.phase", "JSON header is wrong", edited("{}", '{"a":NaN}'))
    bad("bad-json-range.phase", "JSON header is wrong", edited("{}", '{"a":1e999}'))
    bad("bad-json-integer.phase", "JSON header is wrong", edited("{}", '{"a":9223372036854775808}'))
    bad("bad-json-surrogate.phase", "JSON header is wrong", edited("{}", '{"a":"\\ud800"}'))
    bad("bad-json-utf8.phase", "JSON header is wrong", edited("{}", '{"a":"\ud800"}'))
    bad("bad-json-nul.phase", "JSON header is wrong", edited("{}", '{"a":"\\u0000"}'))
    bad("bad-json-history.phase", "meta, history and arrays", edited('"history":[]', '"history":{}'))
    bad("bad-json-no-meta.phase", "JSON header is wrong", edited('"meta"', '"Meta"'))


def make_bad_arrays():
    bad("bad-array-name.phase", "is not allowed", with_array(name="../phase"))
    bad("bad-array-twice.phase", "twice", container("phase", ARRAYS * 2, CHUNKS))
    bad("bad-array-dtype.phase", "dtype 'f2'", with_array(dtype="f2"))
    bad("bad-array-codec.phase", "codec 'lz4'", with_array(codec="lz4"))
    bad("bad-array-unit.phase", "not allowed", with_array(unit="u" * 32))
    bad("bad-array-rank.phase", "no shape", with_array(shape=[4] + [1] * 6))
    bad("bad-array-negative.phase", "no shape", with_array(shape=[-4]))
    bad("bad-array-real.phase", "no shape", with_array(shape=[4.0]))
    bad("bad-array-chunk.phase", "chunks of 0 elements", with_array(chunk_elements=0))
    bad("bad-array-huge.phase", "more elements", with_array(shape=[1 << 40, 1 << 40, 1 << 40]))
    bad("bad-array-huge-empty.phase", "more elements", with_array(shape=[1 << 40, 1 << 40, 0]))
    bad("bad-array-claims.phase", "chunk 1 of array 0 in its place", container("phase", [entry("phase", phase, 2) | {"shape": [1 << 60]}], CHUNKS[1:]))


def make_bad_chunks():
    first, second = CHUNKS
    packed = zstd(np.zeros(64, "<f4"))
    zeros = np.zeros(64, "<f4")

    def one(payload, **false):
        return container("phase", [entry("phase", zeros, 64, "zstd")], [Chunk(0, 0, zeros, payload, **false)])

    bad("bad-chunk-hash.phase", "fails its checksum", with_chunk(first, Chunk(0, 1, phase[2:], hash=3)))
    data = simple()[0]
    bad("bad-chunk-padding.phase", "padding", data[:-65] + b"\1" + data[-64:])
    bad("bad-chunk-header.phase", "has a damaged header", data[:-180] + b"\1" + data[-179:])
    bad("bad-chunk-mark.phase", "has a damaged header", with_chunk(first, Chunk(0, 1, phase[2:], mark=b"CHNX")))
    bad("bad-chunk-order.phase", "has chunk 1 of array 0", with_chunk(second, first))
    bad("bad-chunk-array.phase", "of array 1", with_chunk(first, Chunk(1, 1, phase[2:])))
    bad("bad-chunk-missing.phase", "chunk 1 of 'phase' is missing", with_chunk(first))
    bad("bad-chunk-surplus.phase", "end record", with_chunk(first, second, Chunk(0, 2, phase[2:])))
    bad("bad-chunk-refuse.phase", "bits 0x1", with_chunk(first, Chunk(0, 1, phase[2:], refuse=1)))
    bad("bad-chunk-dtype.phase", "cannot be in this array", with_chunk(first, Chunk(0, 1, np.ones(2, "<u2"))))
    wide = np.ones(2, "<u4")
    bad("bad-chunk-wider.phase", "cannot be in this array", container("phase", [entry("n", wide.astype("<u2"), 2)], [Chunk(0, 0, wide)]))
    bad("bad-chunk-size.phase", "impossible sizes", with_chunk(first, Chunk(0, 1, phase[1:])))
    bad("bad-chunk-claims.phase", "impossible sizes", with_chunk(first, Chunk(0, 1, phase[2:], raw=1 << 62, stored=1 << 62)))
    bad("bad-chunk-codec.phase", "codec 1", with_chunk(first, Chunk(0, 1, phase[2:], codec=1)))
    bad("bad-zstd-data.phase", "chunk 0 of 'phase'", one(packed[:-3] + b"\xff\xff\xff"))
    bad("bad-zstd-size.phase", "one zstd frame of 256 bytes", one(zstd(np.zeros(65, "<f4"))))
    bad("bad-zstd-no-size.phase", "one zstd frame", one(zstd(zeros, write_content_size=False)))
    bad("bad-zstd-two.phase", "one zstd frame", one(packed + packed))
    bad("bad-zstd-larger.phase", "impossible sizes", container("phase", [entry("phase", phase, 4, "zstd")], [Chunk(0, 0, phase, zstd(phase))]))


if __name__ == "__main__":
    make_good()
    make_bad_records()
    make_bad_json()
    make_bad_arrays()
    make_bad_chunks()
    with open("expected.json", "w") as file:
        json.dump(expected, file, indent=1)
        file.write("\n")
