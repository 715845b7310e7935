"""Writes the files of decode.bats into the working directory, one folder or file per case."""
import os
import subprocess
import sys

import h5py
import numpy as np

from acquisition import Bitshuffle, Lz4, Other, noise, pack_bitshuffle, pack_lz4, tagged, vendor, write_set


def folder(name):
    os.makedirs(name, exist_ok=True)
    return f"{name}/a"


def companion(base, x, y, **more):
    with h5py.File(f"{base}.h5", "w") as f:
        f.create_group("STEM Metadata").attrs.update({"NumPixelsX": x, "NumPixelsY": y, **more})


def plain(name, data, path="frames", **attributes):
    with h5py.File(name, "w") as f:
        f[path] = data
        f[path].attrs.update(attributes)


def scan_shapes():
    vendor(folder("files"), tagged(36, 12, 12), 16)
    vendor(folder("companion"), tagged(35, 12, 12), 35)
    companion("companion/a", 7, 5, Rotation=12.5, **{"High Tension": [300000.0]})
    dark = np.zeros((40, 12, 12), "u2")
    dark[38] = 7
    vendor(folder("attribute"), dark, 40)
    with h5py.File("attribute/a_master.h5", "r+") as f:
        f["entry/data"].attrs["scan_shape"] = [8, 5]
        f["entry/instrument/detector/detectorSpecific/photon_energy"] = 200000.0
    companion("attribute/a", 5, 8, **{"High Tension": [300000.0]})
    plain("shape.h5", tagged(28, 16, 16), scan_shape=[4, 7])
    plain("flat.h5", np.zeros((64, 64), "u2"), "x")
    vendor(folder("zero"), tagged(10, 12, 12), 10)
    companion("zero/a", 0, 10)
    vendor(folder("negative"), tagged(10, 12, 12), 10)
    companion("negative/a", 10, -1)
    plain("skip.h5", tagged(66, 8, 8), line_skip=1)
    plain("positions.h5", tagged(60, 8, 8), "d/frames")
    with h5py.File("positions.h5", "r+") as f:
        f["d/scan_positions"] = np.arange(60)


def frame_counts():
    vendor(folder("short"), tagged(117, 12, 12), 50)
    vendor(folder("endless"), tagged(60, 12, 12), 60, ntrigger=2000000000)
    vendor(folder("many"), tagged(200, 16, 16), 1)
    vendor(folder("lone"), tagged(200, 16, 16), 200)


def links():
    vendor(folder("aborted"), tagged(40, 12, 12), 10)
    os.remove("aborted/a_data_000003.h5")
    os.remove("aborted/a_data_000004.h5")
    vendor(folder("gap"), tagged(40, 12, 12), 10)
    os.remove("gap/a_data_000002.h5")
    vendor(folder("no_object"), tagged(20, 12, 12), 10)
    with h5py.File("no_object/a_data_000002.h5", "r+") as f:
        del f["entry/data/data"]
    vendor(folder("decoy/right"), tagged(36, 12, 12), 36)
    vendor(folder("decoy/wrong"), tagged(36, 12, 12) + 1, 36)
    vendor(folder("moved"), tagged(20, 12, 12), 10)
    with h5py.File("moved/a_master.h5", "r+") as f:
        for n in "12":
            del f[f"entry/data/data_00000{n}"]
            f[f"entry/data/data_00000{n}"] = h5py.ExternalLink(f"/nowhere/at/all/a_data_00000{n}.h5", "/entry/data/data")
    vendor(folder("unlinked"), tagged(60, 12, 12), 20)
    with h5py.File("unlinked/a_master.h5", "r+") as f:
        del f["entry/data/data_000002"], f["entry/data/data_000003"]
    vendor(folder("padding"), tagged(30, 12, 12), 10)
    with h5py.File("padding/a_master.h5", "r+") as f:
        for old, new in (("000001", "000009"), ("000002", "000010"), ("000003", "0000100")):
            f.move(f"entry/data/data_{old}", f"entry/data/data_{new}")
    vendor(folder("group_link/b"), tagged(20, 12, 12), 10, mask=np.eye(12, dtype="u4"))
    with h5py.File("group_link/top.h5", "w") as f:
        f["scan_1"] = h5py.ExternalLink("b/a_master.h5", "entry")
    with h5py.File("loop.h5", "w") as f:
        f["a"], f["b"] = h5py.SoftLink("/b"), h5py.SoftLink("/a")
        f["out"] = h5py.ExternalLink("loop.h5", "/out")
        f["data/data_000001"] = h5py.ExternalLink("loop.h5", "/out")
    with h5py.File("dead_first.h5", "w") as f:
        f["a_broken"], f["b_gone"] = h5py.SoftLink("/nothing"), h5py.ExternalLink("gone.h5", "/x")
        f["z/frames"] = tagged(6, 8, 8)
        f["c_soft"], f["d_hard"] = h5py.SoftLink("/z/frames"), f["z/frames"]


def layouts():
    plain("channels.h5", np.zeros((60, 3, 16, 16), "u2"), "entry/data/data", axes="image_id, channel, ., .")
    plain("channels_group.h5", np.zeros((60, 3, 16, 16), "u2"), "entry/data/data")
    with h5py.File("channels_group.h5", "r+") as f:
        f["entry/data"].attrs["axes"] = ["image_id", "channel", ".", "."]
    with h5py.File("two.h5", "w") as f:
        f["one"], f["other"] = tagged(6, 8, 8), tagged(6, 8, 8)
    with h5py.File("survey.h5", "w") as f:
        f["a/survey"], f["b/cube"] = np.zeros((512, 512), "u2"), tagged(60, 16, 16).reshape(6, 10, 16, 16)
    virtual = h5py.VirtualLayout((28, 16, 16), "u2")
    virtual[:] = h5py.VirtualSource("shape.h5", "frames", (28, 16, 16))
    with h5py.File("virtual.h5", "w", libver="latest") as f:
        f.create_virtual_dataset("v", virtual)
    plain("velox.emd", np.zeros((2, 3, 5), "u2"), "Data/Image/0/Data")
    with h5py.File("empty.h5", "w") as f:
        f["e"] = h5py.Empty("u2")
    for name, shape, dtype in (("other_type", (12, 12), "u4"), ("other_shape", (12, 14), "u2")):
        vendor(folder(name), tagged(20, 12, 12), 10)
        with h5py.File(f"{name}/a_data_000002.h5", "w") as f:
            write_set(f, "entry/data/data", tagged(10, *shape, dtype), (1,) + shape, Bitshuffle())


def one_set(name, data, chunks, packing, **options):
    with h5py.File(name, "w") as f:
        write_set(f, "entry/data/data", data, chunks, packing, **options)


def filters():
    for r, c, dtype in ((9, 9, "u2"), (11, 13, "u1"), (15, 17, "u4")):
        one_set(f"odd_{dtype}.h5", noise((6, r, c), dtype), (1, r, c), Bitshuffle())
    big = noise((6, 100, 90), "u2")
    for compressor in ("lz4", "zstd", "none"):
        one_set(f"bs_{compressor}.h5", big, (1, 100, 90), Bitshuffle(compressor))
        one_set(f"bs_{compressor}_64.h5", big, (1, 100, 90), Bitshuffle(compressor, 64))
    for block in (3, 12, 13, 16):
        one_set(f"lz4_{block}.h5", noise((6, 16, 16), "u2"), (1, 16, 16), Lz4(block))
    one_set("lz4_stored.h5", np.zeros((6, 16, 16), "u2"), (1, 16, 16), Lz4(100, stored=True))
    for number in (32026, 305):
        one_set(f"filter_{number}.h5", np.zeros((6, 16, 16), "u2"), (1, 16, 16), Other(number))
    with h5py.File("skipped.h5", "w") as f:
        import zlib
        frames = tagged(6, 16, 16)
        d = f.create_dataset("d", frames.shape, "u2", chunks=(1, 16, 16), shuffle=True, compression="gzip")
        for i, frame in enumerate(frames):
            raw = frame.tobytes()
            shuffled = np.frombuffer(raw, "u1").reshape(-1, 2).T.tobytes()
            packed = {0: zlib.compress(raw), 1: shuffled, 2: raw}.get(i, zlib.compress(shuffled))
            d.id.write_direct_chunk((i, 0, 0), packed, {0: 1, 1: 2, 2: 3}.get(i, 0))
    with h5py.File("skipped_bs.h5", "w") as f:
        d = write_set(f, "d", tagged(6, 16, 16), (1, 16, 16), Bitshuffle())
        d.id.write_direct_chunk((4, 0, 0), tagged(6, 16, 16)[4].tobytes(), 1)


def damage():
    """Frame 3 of 6 is spoilt."""
    frames = tagged(6, 16, 16)
    raw = frames[3].tobytes()
    good = pack_bitshuffle(raw, 2)
    lz4 = pack_lz4(raw, 512)
    spoilt = {
        "stray": good + b"\0" * 12,
        "cut": good[:-20],
        "claim": (1 << 40).to_bytes(8, "big") + good[8:],
        "block_0": good[:8] + bytes(4) + good[12:],
        "block_length": good[:12] + (len(good)).to_bytes(4, "big") + good[16:],
        "lz4_size": good[:8] + (1 << 16).to_bytes(4, "big") + (3).to_bytes(4, "big") + good[16:],
        "header_only": good[:7],
    }
    for name, chunk in spoilt.items():
        with h5py.File(f"bad_{name}.h5", "w") as f:
            write_set(f, "d", frames, (1, 16, 16), Bitshuffle()).id.write_direct_chunk((3, 0, 0), chunk)
    for name, total in (("500", 500), ("5000", 5000)):
        with h5py.File(f"bad_lz4_{name}.h5", "w") as f:
            d = write_set(f, "d", frames, (1, 16, 16), Lz4(512))
            d.id.write_direct_chunk((3, 0, 0), total.to_bytes(8, "big") + lz4[8:])
    vendor(folder("cut_file"), tagged(40, 12, 12), 10)
    os.truncate("cut_file/a_data_000002.h5", os.path.getsize("cut_file/a_data_000002.h5") - 1024)
    writer = ("import h5py, numpy, os; f = h5py.File('open.h5', 'w', libver='latest'); "
              "d = f.create_dataset('d', data=numpy.zeros((6, 8, 8), 'u2'), chunks=(1, 8, 8), maxshape=(None, 8, 8)); "
              "f.swmr_mode = True; d.flush(); os._exit(0)")
    subprocess.run([sys.executable, "-c", writer], check=True)


def storage():
    with h5py.File("blocks.h5", "w") as f:
        f.create_dataset("d", data=noise((16, 16, 32, 32), "u2"), chunks=(4, 4, 32, 32), compression="gzip")
        f.create_dataset("e", data=noise((60, 32, 32), "u2"), chunks=(8, 8, 8), compression="gzip")
        f.create_dataset("plain", data=noise((60, 32, 32), "u4"))
        f.create_dataset("checked", data=noise((6, 32, 32), "u1"), chunks=(1, 32, 32), fletcher32=True)
        f.create_dataset("open", data=noise((6, 32, 32), "u1"), chunks=(4, 20, 20))
    one_set("ragged.h5", noise((37, 16, 16), "u2"), (8, 16, 16), Bitshuffle(block=64))
    one_set("across.h5", noise((7, 20, 30), "u4"), (3, 8, 16), Bitshuffle(), growing=False)
    one_set("hole.h5", tagged(60, 12, 12), (1, 12, 12), Bitshuffle(), skip=[(30, 0, 0)])
    with h5py.File("hole_gzip.h5", "w") as f:
        d = f.create_dataset("d", (60, 12, 12), "u2", chunks=(1, 12, 12), compression="gzip")
        for i in (*range(30), *range(31, 60)):
            d[i] = tagged(60, 12, 12)[i]
    vendor(folder("null"), tagged(20, 12, 12), 10)
    with h5py.File("null/a_data_000002.h5", "w") as f:
        f["entry/data/data"] = h5py.Empty("u2")
    with h5py.File("user_block.h5", "w", userblock_size=512) as f:
        write_set(f, "d", tagged(6, 12, 12), (1, 12, 12), Bitshuffle())
    with open("in_front.h5", "wb") as f:
        f.write(bytes(512) + open("bs_lz4.h5", "rb").read())
    plist = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    plist.set_sizes(4, 4)
    with h5py.File(h5py.h5f.create(b"narrow.h5", fcpl=plist)) as f:
        write_set(f, "d", tagged(2, 12, 12), (1, 12, 12), Bitshuffle())
    with h5py.File("latest.h5", "w", libver="latest") as f:
        write_set(f, "d", tagged(300, 12, 12), (1, 12, 12), Bitshuffle())


def numbers():
    for dtype in (">u2", ">u4", ">f4"):
        data = noise((6, 16, 18), dtype.replace("f", "u")).astype(dtype)
        one_set(f"big_endian_{dtype[1:]}.h5", data, (1, 16, 18), Bitshuffle())
    plain("big_endian_plain.h5", noise((6, 16, 18), ">u2"))
    wide = noise((20, 16, 16), "u4", most=40)
    wide[7, 5, 5] = 70000
    wide[:, 2, 3] = 0xffffffff
    one_set("wide.h5", wide, (1, 16, 16), Bitshuffle())
    plain("float.h5", np.zeros((6, 8, 8), "f4"))
    plain("signed.h5", np.full((6, 8, 8), -1, "i4"))
    plain("u8.h5", np.zeros((6, 8, 8), "u8"))


def masks():
    frames = noise((20, 16, 16), "u4", most=100)
    frames[:, 4, 4] = frames[:, 9, 9] = 0xffffffff
    mask = np.zeros((16, 16), "u4")
    mask[9, 9] = 1
    vendor(folder("sentinel"), frames, 20, mask=mask)
    vendor(folder("mask_bool"), tagged(6, 12, 12), 6, mask=np.eye(12) > 0)
    vendor(folder("mask_3d"), tagged(6, 12, 12), 6, mask=np.eye(12, dtype="u4")[None])
    vendor(folder("mask_all"), tagged(6, 12, 12), 6, mask=np.ones((12, 12), "u4"))
    vendor(folder("mask_shape"), tagged(6, 12, 12), 6, mask=np.zeros((12, 13), "u4"))
    bad = np.zeros((16, 16), "u4")
    bad[4, 4] = bad[0, 0] = 1
    bad[10:13, 6:9] = 2     # a cluster: its middle has no valid neighbour
    counts = noise((6, 16, 16), "u2", most=900)
    counts[2, 14, 14] = 65535
    counts[:, 4, 4] = 60000
    vendor(folder("fill"), counts, 6, mask=bad)
    np.save("mask.npy", np.pad(np.ones((1, 2), bool), ((3, 12), (5, 9))))
    np.save("mask_wrong.npy", np.zeros((4, 4), "u1"))
    np.save("mask_float.npy", np.zeros((16, 16)))


def patterns():
    """A bright disk of radius 6 at (14, 17) of 40x36; a far pixel that lights up in one frame only."""
    r, c = np.mgrid[:40, :36]
    disk = ((r - 14) ** 2 + (c - 17) ** 2 <= 36).astype("u2")
    frames = np.random.default_rng(3).poisson(5.0 * disk, (64, 40, 36)).astype("u2")
    plain("disk.h5", frames, scan_shape=[8, 8])
    half = np.zeros((6, 16, 16), "u1")
    half[:, :, :12] = 5
    plain("half.h5", half, scan_shape=[2, 3])
    many = np.zeros((5000, 12, 12), "u2")
    many[:, 5:8, 5:8] = 4
    many[4999, 0, 0] = 60000
    plain("late.h5", many, scan_shape=[50, 100])
    np.save("three.npy", tagged(6, 8, 8))
    np.save("four.npy", tagged(6, 8, 8).reshape(2, 3, 8, 8).astype(">u4"))
    np.save("fortran.npy", np.asfortranarray(tagged(6, 8, 8)))
    np.save("float.npy", np.zeros((6, 8, 8)))
    data = open("three.npy", "rb").read()
    open("short.npy", "wb").write(data[:-1])


for step in (scan_shapes, frame_counts, links, layouts, filters, damage, storage, numbers, masks, patterns):
    step()
