"""The acquisition as h5py sees it, for the benchmark: run by whatever Python has h5py (and hdf5plugin).

    h5.py read MASTER          seconds that reading every frame takes, through hdf5plugin's filters
    h5.py chunks MASTER N      "element size, chunks in all", then of at most N chunks, evenly spaced: "offset size path" each

Chunks are asked for by their coordinates: by index HDF5 1.10 takes a time that grows with their square.
"""
import sys
import time

import h5py


def datasets(master):
    data = h5py.File(master, "r")["entry/data"]
    return [data[name] for name in sorted(data)]


def read(master):
    import hdf5plugin  # noqa: F401 (registers the filters)
    start = time.monotonic()
    for data in datasets(master):
        for first in range(0, len(data), 512):
            data[first:first + 512]
    print(time.monotonic() - start)


def chunks(master, most):
    parts = datasets(master)
    total = sum(len(data) for data in parts)
    print(parts[0].dtype.itemsize, total)
    frames = [(data, frame) for data in parts for frame in range(len(data))]
    for i in range(min(total, most)):
        data, frame = frames[i * total // min(total, most)]
        info = data.id.get_chunk_info_by_coord((frame, 0, 0))
        print(info.byte_offset, info.size, data.file.filename)


if __name__ == "__main__":
    if sys.argv[1] == "read":
        read(sys.argv[2])
    else:
        chunks(sys.argv[2], int(sys.argv[3]))
