"""How fast the tools are on this machine, against what it can do at best: make bench, bench-full and bench-growth.

    bench.py small     one scan of 128x128, beside h5py; the table on stderr, lines for a history.tsv on stdout
    bench.py full      A, its central quarter A/2, B and C: the four that others have published times of; the table on stdout
    bench.py growth    time per element (k,q) of A's scan at 128x128, 256x256 and 512x512 (--sizes)

Acquisitions are simulated once and kept in $SSB_BENCH_DIR (default: ssb-bench in the user's cache). Files between the stages lie in
$SSB_BENCH_WORK, or where there is room: /dev/shm, whose files are memory, or else a folder in $SSB_BENCH_DIR, whose disk is then measured,
too; the table says where they lay. What the tools are given as --memory is what was left when they began.

"wall_s" is of the process, from its start to its end; the rows of its phases, and its bytes, are what --profile says. A roofline is
measured on the same threads: LZ4 alone on a sample of the acquisition's chunks, FFTW alone on transforms of the scan's shape, each with a
memcpy of what the stage puts out; the spectrum read once. What no stage can do without and some virtual machines take long for is a note
beside: the first touch of as much memory as the spectrum has, and writing as large a file to where it lies. "ratio" is wall_s over the
roofline; of a total, over the published time.
"""
import argparse
import collections
import dataclasses
import datetime
import functools
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = (HERE.parents[1] / os.environ.get("BUILD", "build")).resolve()
KV, SEMIANGLE_MRAD, STEP_A, DETECTOR, RADIUS_PX, DOSE = 300, 30, 0.264, 192, 53, 1.5
WAVELENGTH_A = 0.0196875
GB = 1e9
SPARE = 2 * GB              # memory that is left to everything else
SAMPLED_CHUNKS = 16384
COLUMNS = ("case", "way", "stage", "wall_s", "cpu_s", "peak_rss_GB", "in_GB", "out_GB", "rate", "rate_unit", "roofline", "roofline_s", "ratio")
AMOUNTS = ("wall_s", "cpu_s", "bytes_in", "bytes_out")

Run = collections.namedtuple("Run", "wall_s cpu_s memory profiles")


@dataclasses.dataclass
class Case:
    name: str
    acquisition: str
    scan: int                   # positions along each axis
    step: float = STEP_A
    detector: int = DETECTOR    # pixels along each axis
    radius: float = RADIUS_PX   # of the bright field, in pixels
    centre: str = ""            # of the bright field, where ssb-prep cannot find it
    roi: int = 0                # positions along each axis of the central region that is processed; 0: all
    upsample: str = "3"
    published_s: float = 0      # total of others
    published: str = "published"


class Failed(Exception):
    """A run that cannot be, and why."""


def say(*words):
    print("#", *words, file=sys.stderr, flush=True)


# ---- the machine ----

def available_memory():
    lines = dict(line.split(":") for line in open("/proc/meminfo"))
    return int(lines["MemAvailable"].split()[0]) * 1024


def processor():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{names[0] if names else os.uname().machine} x{os.cpu_count()}"


def commit():
    git = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return git.stdout.strip() or "unknown"


def python_with_h5(kept, imports):
    """An interpreter with these modules: this one, or that of an environment kept with the acquisitions."""
    ours = kept / "venv/bin/python"
    for python in sys.executable, ours:
        if os.path.exists(python) and subprocess.run([python, "-c", f"import {imports}"], capture_output=True).returncode == 0:
            return python
    say("no", imports, "in", sys.executable, "- making", kept / "venv")
    for command in ([sys.executable, "-m", "venv", "--system-site-packages", kept / "venv"],
                    [ours, "-m", "pip", "install", "--quiet", "h5py", "hdf5plugin"]):
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            raise Failed(f"no {imports}: " + (made.stderr or made.stdout).strip().splitlines()[-1])
    return ours


def roofline(*arguments, text=None):
    """Seconds."""
    done = subprocess.run([BUILD / "bench/roofline", *map(str, arguments)], input=text, capture_output=True, text=True)
    if done.returncode:
        raise Failed(done.stderr.strip() or f"roofline ended with status {done.returncode}")
    return float(done.stdout)


@functools.lru_cache
def memory_s_per_GB(what):
    return roofline(what, int(GB))


def lz4_alone(case, kept):
    """Seconds to decompress all of the case's chunks, from a sample of them."""
    python = python_with_h5(kept, "h5py")
    listed = subprocess.run([python, HERE / "h5.py", "chunks", f"{kept / case.acquisition}_master.h5", str(SAMPLED_CHUNKS)],
                            capture_output=True, text=True)
    if listed.returncode:
        raise Failed(listed.stderr.strip().splitlines()[-1])
    first, _, rest = listed.stdout.partition("\n")
    element, chunks = map(int, first.split())
    return roofline("lz4", element, text=rest) * positions(case) / min(chunks, SAMPLED_CHUNKS)


# ---- sizes ----

def read_scan(case):
    """Positions of the scan that are processed: its central region, where the case has one."""
    return case.roi or case.scan


def positions(case):
    return read_scan(case) ** 2


def bins(case):
    """Scan frequencies of the half plane within the double aperture, all but exactly."""
    n = read_scan(case)
    limit = 2.1 * SEMIANGLE_MRAD * 1e-3 / WAVELENGTH_A * n * case.step
    return min(n * (n // 2 + 1), math.pi / 2 * (limit + 1) ** 2)


def spectrum_bytes(case):
    return 8 * bins(case) * math.pi * (case.radius + 1) ** 2


def region_bytes(case):
    side = min(case.detector, 2 * (1.125 * case.radius + 4))
    return 2 * side ** 2 * positions(case)


# ---- acquisitions ----

def is_made(case, name):
    try:
        truth = json.load(open(f"{name}_truth.json"))
    except OSError:
        return False
    return (os.path.exists(f"{name}_master.h5") and truth["scan_shape"] == [case.scan] * 2 and truth["detector_shape"] == [case.detector] * 2 and
            truth["scan_step_A"] == [case.step] * 2 and truth["bf_radius_px"] == [case.radius] * 2 and truth["dose_counts_per_bf_pixel"] == DOSE)


def make_acquisition(case, kept):
    name, needed = kept / case.acquisition, case.scan ** 2 * (case.detector ** 2 * DOSE / 4 + 1000)
    if is_made(case, name):
        return
    if shutil.disk_usage(kept).free < needed:
        raise Failed(f"{kept} has {shutil.disk_usage(kept).free / GB:.1f} GB free, {needed / GB:.1f} GB are needed (SSB_BENCH_DIR)")
    command = [BUILD / "bin/ssb-sim", name, f"--scan={case.scan}x{case.scan}", f"--step={case.step}",
               f"--detector={case.detector}x{case.detector}", f"--kv={KV}", f"--semiangle={SEMIANGLE_MRAD}", f"--radius={case.radius}",
               *([f"--centre={case.centre}"] if case.centre else []), f"--dose={DOSE}", "--specimen=lattice", "--phase=0.3", "--c10=-8nm", "--c12=1.5nm,20deg", "--rotation=15deg",
               "--bad-pixels=12" if case.detector > 100 else "--bad-pixels=0", "--seed=5", f"--memory={int(memory_left()) >> 20}M"]
    say("simulating", *command[1:])
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failed(done.stderr.strip())


def warm(case, kept):
    """Have the acquisition in the page cache, as far as it fits: the disk is not what is measured."""
    for path in kept.glob(f"{case.acquisition}_*.h5"):
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 24):
                pass


# ---- runs ----

def memory_left():
    """--memory of a tool that begins now. Where its output is memory, too, ssb-prep gives back what it has written."""
    left = available_memory() - SPARE
    if left < 0.3 * GB:
        raise Failed(f"{available_memory() / GB:.1f} GB of memory are available: too little")
    return left


def run(*commands):
    """Commands as a pipeline, each with --profile."""
    memory = memory_left()
    logs = [tempfile.TemporaryFile("w+") for _ in commands]
    source, processes, start = subprocess.DEVNULL, [], time.monotonic()
    for i, command in enumerate(commands):
        last = i == len(commands) - 1
        p = subprocess.Popen([BUILD / "bin" / command[0], *map(str, command[1:]), "--profile", f"--memory={int(memory) >> 20}M"], stdin=source, stderr=logs[i],
                             stdout=subprocess.DEVNULL if last else subprocess.PIPE, env={**os.environ, "SOURCE_DATE_EPOCH": "0"})
        if i:
            source.close()
        source = p.stdout
        processes.append(p)
    cpu_s, failed = 0, False
    for p in processes:
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        cpu_s += used.ru_utime + used.ru_stime
        failed |= p.returncode != 0
    wall_s = time.monotonic() - start
    texts = [log.seek(0) or log.read() for log in logs]
    if failed:
        raise Failed(" | ".join(text.strip().splitlines()[-1] for text, p in zip(texts, processes) if p.returncode and text.strip()) or "killed")
    return Run(wall_s, cpu_s, memory, [json.loads(line) for text in texts for line in text.splitlines() if line.startswith("{")])


def fastest(commands, repeats):
    """Of so many runs of the same, each into a new file."""
    output, runs = pathlib.Path(commands[-1][-1]), []
    for _ in range(repeats):
        output.unlink(missing_ok=True)
        runs.append(run(*commands))
    return min(runs, key=lambda r: r.wall_s)


class Work:
    """Where the files between the stages lie; they go when the case is done."""

    def __init__(self, kept):
        given = os.environ.get("SSB_BENCH_WORK")
        self.roots = [pathlib.Path(given)] if given else [pathlib.Path("/dev/shm"), kept]
        self.folders = [pathlib.Path(tempfile.mkdtemp(prefix="ssb-bench-", dir=root)) for root in self.roots if os.access(root, os.W_OK)]
        self.seen = collections.defaultdict(list)  # names by place

    def place(self, name, size, beside=0):
        """A path with room for `size` bytes, while `beside` bytes of memory are used."""
        for folder in self.folders:
            room = shutil.disk_usage(folder).free
            if in_memory(folder):
                room = min(room, available_memory() - SPARE - beside)
            if size < room:
                self.seen[f"{folder.parent} ({filesystem(folder)})"].append(name)
                return folder / name
        raise Failed(f"no room for {name}, {size / GB:.1f} GB, in " + " or ".join(str(f.parent) for f in self.folders))

    def where(self):
        return "; ".join(f"in {place}: {' '.join(names)}" for place, names in self.seen.items())

    def clear(self):
        for folder in self.folders:
            for path in folder.iterdir():
                path.unlink()

    def remove(self):
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


def filesystem(path):
    return subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True).stdout.strip()


def in_memory(path):
    return filesystem(path) == "tmpfs"


# ---- one case, through files or pipes ----

def info(path, key):
    return subprocess.run([BUILD / "bin/ssb-info", "-q", path, "--get", key], capture_output=True, text=True).stdout.strip()


def decode_command(case, kept, o):
    command = ["ssb-decode", "-q", f"{kept / case.acquisition}_master.h5", f"--scan={case.scan}x{case.scan}"]
    first = (case.scan - read_scan(case)) // 2
    roi = f"{first}:{first + read_scan(case)}"
    return command + ([f"--scan-roi={roi},{roi}"] if case.roi else []) + o.decode


def prep_command(case, region, spectrum, o):
    command = ["ssb-prep", "-q", region, f"--kv={KV}", f"--semiangle={SEMIANGLE_MRAD}", f"--step={case.step}"]
    given = [f"--centre={case.centre}", f"--radius={case.radius}", f"--sampling={SEMIANGLE_MRAD / case.radius}"] if case.centre else []
    return command + given + o.prep + ["-o", spectrum]


def image_stages(case, way, paths, work):
    """Native and finer phase, each saved: name and what to run."""
    spectrum, fit = paths["spectrum"], paths["fit"]
    for name, factor in ("native", "1"), (f"upsample {case.upsample}", case.upsample):
        recon = ["ssb-recon", "-q", spectrum, fit, f"--upsample={factor}"]
        size = 8 * positions(case) * (4 if factor == "auto" else int(factor)) ** 2
        phase, picture = work.place(f"{factor}.phase", size), work.place(f"{factor}.png", size)
        if way == "files":
            yield f"recon {name}", [[*recon, "-o", phase]]
            yield f"save {name}", [["ssb-save", "-q", phase, picture]]
        else:
            yield f"recon | save {name}", [recon, ["ssb-save", "-q", "-", picture]]


def stages(case, way, kept, work, o, paths):
    """Name and commands of each stage, one after the other, for there may be room only then."""
    size = spectrum_bytes(case)
    if way == "files":
        region = work.place("region", region_bytes(case), beside=size / 4)
        yield "decode", [[*decode_command(case, kept, o), "-o", region]]
        paths["spectrum"] = work.place("spectrum", size, beside=size / 4)
        yield "prep", [prep_command(case, region, paths["spectrum"], o)]
        region.unlink()
    else:
        paths["spectrum"] = work.place("spectrum", size, beside=size / 4 + region_bytes(case))
        yield "decode | prep", [decode_command(case, kept, o), prep_command(case, "-", paths["spectrum"], o)]
    paths["fit"] = work.place("fit", 1e6)
    yield "fit", [["ssb-fit", "-q", paths["spectrum"], *o.fit, "-o", paths["fit"]]]
    yield from image_stages(case, way, paths, work)


def measure(case, way, kept, work, o, notes):
    """{stage: Run}, the shape of G, the spectrum's path and its size in bytes."""
    runs, paths = {}, {}
    for name, commands in stages(case, way, kept, work, o, paths):
        say(case.name, way, name)
        runs[name] = fastest(commands, o.repeat or (2 if o.what == "growth" else 1))
    notes.append(f"{case.name} {way}: --memory " + ", ".join(f"{name} {r.memory / GB:.1f} GB" for name, r in runs.items()))
    header = json.loads(subprocess.run([BUILD / "bin/ssb-info", "--json", paths["spectrum"]], capture_output=True, text=True).stdout)
    shape = next(a["shape"] for a in header["arrays"] if a["name"] == "G")
    truth = json.load(open(f"{kept / case.acquisition}_truth.json"))
    found = ", ".join(f"{p} {float(info(paths['fit'], f'meta.parameters.{p}.value') or 'nan'):.3f} +- "
                      f"{float(info(paths['fit'], f'meta.parameters.{p}.standard_error') or 'nan'):.3f} {unit} (truth {truth[f'{p}_{unit}']:.3f})"
                      for p, unit in (("C10", "nm"), ("C12", "nm"), ("rotation", "deg")))
    notes.append(f"{case.name} {way}: {shape[1]} bright-field pixels, {shape[0]} frequencies; {found}; digest {header['digest']}")
    return runs, shape, paths["spectrum"], paths["spectrum"].stat().st_size


# ---- the table ----

def rates(case, shape):
    raw_GB = positions(case) * case.detector ** 2 * 2 / GB
    kq = (math.prod(shape) / 1e9, "1e9 (k,q)/s")
    return {"decode": (raw_GB, "GB/s of frames"), "decode | prep": (raw_GB, "GB/s of frames"), "prep": kq, "fit": kq, "recon": kq}


def bounds(case, shape, spectrum, size, kept, notes):
    """{kind of stage: (name, seconds)} that this machine needs at least, but for a memcpy of the output."""
    of_spectrum = f"{size / GB:.2f} GB, as much as the spectrum has, takes"
    notes.append(f"{case.name}: a file of {of_spectrum} {roofline('write', size, spectrum):.2f} s to write where that lay")
    spectrum.unlink()
    if size < available_memory() - SPARE:
        notes.append(f"{case.name}: the first touch of memory of {of_spectrum} {roofline('touch', size):.2f} s")
    n = read_scan(case)
    once = ("read once", memory_s_per_GB("read") * size / GB)
    fftw = roofline("fft", n, n, shape[1])
    found = {"prep": ("FFTW, memcpy", fftw), "fit": once, "recon": once}
    try:
        found["decode"] = ("LZ4, memcpy", lz4_alone(case, kept))
        found["decode | prep"] = ("LZ4, FFTW, memcpy", found["decode"][1] + fftw)
    except Failed as why:
        notes.append(f"{case.name}: LZ4 alone skipped: {why}")
    return found


def kind_of(stage):
    return stage if stage == "decode | prep" else stage.split()[0]


def stage_rows(case, way, name, run_of, rate, bound):
    amount = {a: sum(p.get(a, 0) for p in run_of.profiles) for a in AMOUNTS}
    row = {"case": case.name, "way": way, "stage": name, "wall_s": run_of.wall_s, "cpu_s": run_of.cpu_s,
           "peak_rss_GB": sum(p["peak_rss_bytes"] for p in run_of.profiles) / GB, "in_GB": amount["bytes_in"] / GB,
           "out_GB": amount["bytes_out"] / GB}
    if rate:
        row.update(rate=rate[0] / run_of.wall_s, rate_unit=rate[1])
    if bound:
        least_s = bound[1] + memory_s_per_GB("copy") * row["out_GB"]
        row.update(roofline=bound[0], roofline_s=least_s, ratio=run_of.wall_s / least_s)
    yield row
    for profile in run_of.profiles:
        for phase in profile["phases"][1:]:
            yield {"case": case.name, "way": way, "stage": f"- {profile['tool'][4:]}: {phase['name']}", "wall_s": phase["wall_s"],
                   "cpu_s": phase["cpu_s"], "in_GB": phase.get("bytes_in", 0) / GB, "out_GB": phase.get("bytes_out", 0) / GB}


def total_row(case, way, runs):
    row = {"case": case.name, "way": way, "stage": "total", "wall_s": sum(r.wall_s for r in runs.values()),
           "cpu_s": sum(r.cpu_s for r in runs.values()),
           "peak_rss_GB": max(sum(p["peak_rss_bytes"] for p in r.profiles) for r in runs.values()) / GB}
    if case.published_s:
        row.update(roofline=case.published, roofline_s=case.published_s, ratio=row["wall_s"] / case.published_s)
    return row


def case_rows(case, kept, o, notes):
    """Rows of a case through files and through pipes; what cannot be run is a note."""
    rows, known = [], None
    try:
        make_acquisition(case, kept)
        warm(case, kept)
    except Failed as why:
        notes.append(f"{case.name}: {why}")
        return rows
    for way in "files", "pipes":
        work = Work(kept)
        try:
            runs, shape, spectrum, size = measure(case, way, kept, work, o, notes)
            work.clear()
            known = known or bounds(case, shape, spectrum, size, kept, notes)
            rate = rates(case, shape)
            for name, r in runs.items():
                rows += stage_rows(case, way, name, r, rate.get(kind_of(name)), known.get(kind_of(name)))
            rows.append(total_row(case, way, runs))
        except Failed as why:
            notes.append(f"{case.name} {way}: {why}")
        finally:
            notes.append(f"{case.name} {way}: {work.where()}")
            work.remove()
    return rows


def h5py_row(case, kept, notes):
    try:
        python = python_with_h5(kept, "h5py, hdf5plugin")
        start = time.monotonic()
        done = subprocess.run([python, HERE / "h5.py", "read", f"{kept / case.acquisition}_master.h5"], capture_output=True, text=True)
        if done.returncode:
            raise Failed((done.stderr.strip().splitlines() or ["killed"])[-1])
        used, raw_GB = float(done.stdout), case.scan ** 2 * case.detector ** 2 * 2 / GB
        return [{"case": case.name, "way": "h5py", "stage": "h5py + hdf5plugin", "wall_s": used, "cpu_s": time.monotonic() - start,
                 "rate": raw_GB / used, "rate_unit": "GB/s of frames"}]
    except Failed as why:
        notes.append(f"{case.name}: h5py + hdf5plugin skipped: {why}")
        return []


def as_text(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def show(columns, rows, notes, file):
    """Columns aligned by blanks, at least two between them."""
    table = [columns] + [[as_text(row.get(c, "-")) for c in columns] for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    for note in notes:
        print("#", note, file=file)
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip(), file=file)
    file.flush()


# ---- what is asked for ----

def full_cases(n):
    """At n = 512 what others have published times of."""
    A = "A" if n == 512 else f"A{n}"
    times = iter((13.0, 6.5, 20.1, 4.5) if n == 512 else (0, 0, 0, 0))
    return [Case(A, A, n, published_s=next(times), published="published (RTX PRO 6000; M5 Max: 13.2)"),
            Case(f"{A}/2", A, n, roi=n // 2, published_s=next(times)),
            Case(f"B{A[1:]}", f"B{A[1:]}", n, step=0.53, upsample="auto", published_s=next(times)),
            Case(f"C{A[1:]}", f"C{A[1:]}", n, detector=12, radius=5.75, centre="6,6", published_s=next(times))]


def like_A(o, scan):
    """A of another scan, or also of another detector."""
    own = "" if (o.detector, o.radius) == (DETECTOR, RADIUS_PX) else f"-{o.detector}-{o.radius:g}"
    name = "A" if scan == 512 and not own else f"A{scan}{own}"
    return Case(name, name, scan, detector=o.detector, radius=o.radius)


def small(o, kept):
    case, notes = like_A(o, o.scan or 128), []
    rows = case_rows(case, kept, o, notes)
    rows += h5py_row(case, kept, notes) if rows else []
    show(COLUMNS, rows, notes, sys.stderr)
    day, what, machine = datetime.date.today().isoformat(), commit(), processor()
    for row in rows:
        if not row["stage"].startswith("-"):
            print(day, what, machine, f"{row['case']} {row['way']} {row['stage']}", f"{row['wall_s']:.4f}", as_text(row.get("ratio", "-")), sep="\t")
    return bool(rows)


def full(o, kept):
    rows, notes = [], [f"{processor()}, {commit()}, {os.environ.get('OMP_NUM_THREADS', os.cpu_count())} threads, "
                       f"memcpy {1 / memory_s_per_GB('copy'):.1f} GB/s, read {1 / memory_s_per_GB('read'):.1f} GB/s"]
    for case in full_cases(o.scan or 512):
        if not o.cases or case.name[0] + case.name[1:].lstrip("0123456789") in o.cases:
            more = []
            rows += (found := case_rows(case, kept, o, more))
            notes += more
            show(COLUMNS, found, more, sys.stderr)
    show(COLUMNS, rows, notes, sys.stdout)
    return bool(rows)


def growth(o, kept):
    """Time per element of G, in ns, and how many times that of the smallest scan."""
    columns = ("scan", "elements", "prep_ns", "fit_ns", "recon_ns", "prep", "fit", "recon")
    rows, notes = [], []
    for n in o.sizes:
        case, work = like_A(o, n), Work(kept)
        try:
            make_acquisition(case, kept)
            warm(case, kept)
            runs, shape, *_ = measure(case, "files", kept, work, o, notes)
            elements = math.prod(shape)
            row = {"scan": n, "elements": elements}
            for stage, name in ("prep", "prep"), ("fit", "fit"), ("recon", "recon native"):
                row[f"{stage}_ns"] = runs[name].wall_s / elements * 1e9
                row[stage] = row[f"{stage}_ns"] / (rows[0] if rows else row)[f"{stage}_ns"]
            rows.append(row)
        except Failed as why:
            notes.append(f"{case.name}: {why}")
        finally:
            notes.append(f"{case.name}: {work.where()}")
            work.remove()
    show(columns, rows, notes, sys.stdout)
    return bool(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("small", "full", "growth"))
    parser.add_argument("--scan", type=int, help="positions along each axis (default: of small 128, of full 512)")
    parser.add_argument("--detector", type=int, default=DETECTOR, help="of small and growth")
    parser.add_argument("--radius", type=float, default=RADIUS_PX, help="of small and growth, in pixels")
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 256, 512], help="of growth")
    parser.add_argument("--cases", nargs="+", help="of full: A A/2 (its central quarter) B C")
    parser.add_argument("--decode", type=str.split, default=[], help="more options of ssb-decode, such as '--bad-pixels zero'")
    parser.add_argument("--prep", type=str.split, default=[], help="more options of ssb-prep, such as '--precision half'")
    parser.add_argument("--repeat", type=int, help="runs of each stage, of which the fastest counts (default: of growth 2, else 1): the first has "
                        "to obtain its memory from the host of a virtual machine")
    parser.add_argument("--fit", type=str.split, default=[], help="more options of ssb-fit")
    o = parser.parse_args()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    kept = pathlib.Path(os.environ.get("SSB_BENCH_DIR") or os.path.join(cache, "ssb-bench")).resolve()
    kept.mkdir(parents=True, exist_ok=True)
    say(f"acquisitions are kept in {kept} (SSB_BENCH_DIR)")
    return 0 if {"small": small, "full": full, "growth": growth}[o.what](o, kept) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what lies in memory goes
    sys.exit(main())
