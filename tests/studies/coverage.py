"""Coverage: do the error bars hold? Many noise draws of one expected acquisition, each fitted from near the truth.

coverage.py FOLDER [--family NAME] [--draws N] [--jobs N]: results in FOLDER/coverage-NAME.jsonl, the table on standard output.

The expected counts are those of ssb-sim without noise for a specimen of PEAK_RAD, with what it modulates amplified to RMS_RAD: the weak-phase
model is then exact. Sampling and centre of the disk are given: an error bar says nothing of theirs (the family order-3-centre measures it).
"""
import argparse
import functools
import pathlib

import numpy as np

import study

PEAK_RAD, RMS_RAD, DOSES = 0.004, 0.2, (20, 2)
MIDDLING = {"C10": (-18, 0), "C12": (4, 25)}
HIGHER = {"C21": (400, 40), "C23": (500, -20), "C30": (12000, 0), "C32": (9000, 70), "C34": (11000, -35)}
HIGHEST = {"C41": (4e5, 15), "C43": (3e5, 45), "C45": (4e5, -10), "C50": (-1.5e7, 0), "C52": (1e7, 60), "C54": (1.2e7, -25), "C56": (1.5e7, 5)}

CENTRE = ("--centre", f"{study.CENTRE_PX},{study.CENTRE_PX}", "--radius", study.RADIUS_PX)

# specimen, truth, ssb-fit's options; CENTRE unless the name says that it is measured
FAMILIES = {
    "order-1": ("amorphous", {"aberrations": MIDDLING}, ()),
    "order-3": ("amorphous", {"aberrations": {**MIDDLING, **HIGHER}}, ("--order", 3)),
    "order-3-centre": ("amorphous", {"aberrations": {**MIDDLING, **HIGHER}}, ("--order", 3)),
    "order-5": ("amorphous", {"aberrations": {**MIDDLING, **HIGHER, **HIGHEST}}, ("--order", 5)),
    "thick": ("amorphous", {"aberrations": {"C10": (-8, 0), "C12": (2, 25)}, "thick": ("--thickness", "12nm", "--tilt", "5,-3")},
              ("--fit", "C10,C12,rotation,tilt,thickness", "--range", "tilt=8mrad", "--range", "thickness=20nm")),
    "sampling": ("amorphous", {"aberrations": MIDDLING}, ("--fit", "C10,C12,rotation,sampling")),
}


def centre(family):
    return () if family.endswith("centre") else CENTRE


def counts_of(tools, name):
    """Every count of an acquisition by ssb-sim: [scan rows, scan columns, rows, columns]."""
    tools.run("ssb-decode", f"{name}_master.h5", "--scan", f"{study.SCAN}x{study.SCAN}", "--roi", "full", "-o", "all")
    return np.array(tools.load("all")["counts"], float)


def expect(folder, family):
    """Expected counts per counts of dose, the truth, and a start (FOLDER/start.fit) fitted from zero without noise; made once."""
    folder = pathlib.Path(folder)
    if not (folder / "expected.npy").exists():
        specimen, truth, options = FAMILIES[family]
        truth = {"seed": 5, "specimen": specimen, "rotation_deg": 31, "transposed": False, **truth}
        with study.Tools(folder / "make") as tools:
            full = tools.simulate("x", truth, "--noise", "none", "--dose", 1e8, "--dtype", "u4", "--phase", PEAK_RAD)
            counts = counts_of(tools, "x") / 1e8
            mean = counts.mean((0, 1))
            expected = mean + RMS_RAD / tools.phase("x").std() * (counts - mean)
            np.save(tools.folder / "noise_free.npy", np.rint(1000 * expected.clip(0)).astype("u2"))
            tools.prepare("noise_free.npy", "spectrum", *centre(family))
            tools.run("ssb-fit", "spectrum", *options, "-o", "start.fit")
            (tools.folder / "start.fit").rename(folder / "start.fit")
            (folder / "truth.json").write_text(study.json.dumps(full))
            np.save(folder / "unfinished.npy", expected.clip(0))
            (folder / "unfinished.npy").rename(folder / "expected.npy")
    return folder / "start.fit", study.json.loads((folder / "truth.json").read_text()), np.load(folder / "expected.npy", mmap_mode="r")


def run_draw(folder, family, dose, draw, start, truth, expected):
    with study.Tools(folder / "run" / f"{dose}-{draw}") as tools:
        rng = np.random.default_rng([int(1000 * dose), draw])
        np.save(tools.folder / "x.npy", rng.poisson(dose * expected).astype("u1"))
        tools.prepare("x.npy", "spectrum", *centre(family))
        tools.run("ssb-fit", "spectrum", *FAMILIES[family][2], "--start", start.resolve(), "-o", "fit")
        fit = tools.load("fit")
        errors = study.standard_errors(fit)
        line = {"dose": dose, "names": list(errors), "found": fit.meta["found"], "stopped": fit.meta["stopped"]}
        if not fit.meta["found"]:
            return line
        off, _ = study.differences(study.cartesian(fit.meta["optics"]), study.cartesian(truth))
        return {**line, "error": [off[name] for name in errors], "standard_error": list(errors.values())}


def coverage_row(name, z, draws):
    one, two = (100 * np.mean(abs(z) < s) for s in (1, 2))
    held = "yes" if abs(one - 68) <= 7 and abs(two - 95) <= 4 else "no"
    return [name, f"{len(z)} of {draws}", f"{one:.0f}", f"{two:.0f}", held, f"{np.std(z):.2f}", f"{np.mean(z):+.2f}"]


def print_table(lines, dose):
    """By parameter; a draw in which the data do not determine one leaves it out."""
    some = [line for line in lines if line["dose"] == dose]
    z = {}
    for line in some:
        for name, error, bar in zip(line["names"], line.get("error", ()), line.get("standard_error", ())):
            if np.isfinite(bar):
                z.setdefault(name, []).append(error / bar)
    print(f"\n{dose} counts\n")
    print(study.table(["parameter", "draws with a value", "below 1 σ, %", "below 2 σ, %", "held", "spread of error / σ", "mean of error / σ"],
                      [coverage_row(name, np.array(values), len(some)) for name, values in z.items()]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--family", choices=FAMILIES, action="append")
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    a = parser.parse_args()
    for family in a.family or FAMILIES:
        folder = pathlib.Path(a.folder) / f"coverage-{family}"
        folder.mkdir(parents=True, exist_ok=True)
        start, truth, expected = expect(folder, family)
        work = {f"{family} {dose} {draw}": functools.partial(run_draw, folder, family, dose, draw, start, truth, expected)
                for draw in range(a.draws) for dose in DOSES}
        lines = study.Results(folder / "results.jsonl").complete(work, a.jobs)
        print(f"\n### {family}")
        for dose in DOSES:
            print_table(lines, dose)


main()
