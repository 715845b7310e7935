"""The published objective beside the likelihood: errors of C10, C12a and C12b at the optimum of each, as the dose falls.

variance_table.py FOLDER [--draws N] [--jobs N]: results in FOLDER/variance.jsonl, the table on standard output. Every draw is a specimen
and a noise of its own; the rotation is held, as in the published fit.
"""
import argparse
import pathlib

import numpy as np

import study

DOSES = (36, 3.6, 1.2)  # counts per BF pixel and position
TRUTH = {"specimen": "amorphous", "aberrations": {"C10": (8, 0), "C12": (3, 0)}, "rotation_deg": 15, "transposed": False}
NAMES = ("C10", "C12a", "C12b")
FIT = ("--fit", "C10,C12", "--fix", "rotation=15deg", "--fix", "transposed=no", "--range", "C10=-30nm:30nm", "--range", "C12=8nm")


def run_draw(folder, dose, draw):
    with study.Tools(pathlib.Path(folder) / "run" / f"variance-{dose}-{draw}") as tools:
        truth = tools.simulate("x", {**TRUTH, "seed": 100 + draw}, "--dose", dose, "--phase", "0.2")
        tools.prepare("x_master.h5", "spectrum")
        line = {"dose": dose}
        for objective in ("variance", "likelihood"):
            seconds = tools.run("ssb-fit", "spectrum", *FIT, "--objective", objective, "-o", objective)
            meta = tools.load(objective).meta
            line[objective] = {"seconds": seconds, "objective": meta["objective"], "found": meta["found"]}
            if meta["found"]:
                off, _ = study.differences(study.cartesian(meta["optics"]), study.cartesian(truth))
                line[objective]["error_A"] = [off[name] for name in NAMES]
        return {**line, "commands": tools.commands}


def rms(errors):
    return np.sqrt((errors ** 2).mean(0)) if len(errors) else []


def worst(errors):
    return abs(errors).max(0) if len(errors) else []


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--draws", type=int, default=10)
    options.add_argument("--jobs", type=int, default=1)
    given = options.parse_args()
    work = {f"{dose}-{draw}": lambda dose=dose, draw=draw: run_draw(given.folder, dose, draw) for dose in DOSES for draw in range(given.draws)}
    lines = study.Results(given.folder / "variance.jsonl").complete(work, given.jobs)
    rows = []
    for dose in DOSES:
        found = [line for line in lines if line["dose"] == dose and line["variance"]["found"] and line["likelihood"]["found"]]
        errors = [np.array([line[objective]["error_A"] for line in found]) for objective in ("variance", "likelihood")]
        rows.append([dose, len(found)] + [", ".join(f"{x:.1f}" for x in f(e)) for f in (rms, worst) for e in errors])
    print(f"Errors of {', '.join(NAMES)} in A at the optimum, truth 80, 30, 0; {given.draws} draws\n")
    print(study.table(["counts per BF pixel", "found", "variance, rms", "likelihood, rms", "variance, worst", "likelihood, worst"], rows))


if __name__ == "__main__":
    main()
