"""Recovery: random truths through ssb-sim, ssb-decode, ssb-prep and ssb-fit from zero; how often, how well, and whether it could be.

recovery.py FOLDER [--family NAME] [--jobs N]: results in FOLDER/recovery-NAME.jsonl, the table on standard output.
"""
import argparse
import functools
import pathlib

import numpy as np

import study

SPECIMENS = ("lattice", "amorphous", "atoms")
RMS_RAD, PEAK_RAD = 0.1, 0.8  # of the specimen's phase, whichever is reached first

# cases of each; ranges of the truth; counts per BF pixel; ssb-fit's options
FAMILIES = {
    "order-1": {"cases": 60, "C10_nm": 50, "C12_nm": 15, "edge_rad": {}, "doses": (20, 2, 0.7), "fit": ()},
    "order-3": {"cases": 60, "C10_nm": 50, "C12_nm": 15, "edge_rad": {2: 2, 3: 2}, "doses": (20, 2, 0.7), "fit": ("--order", 3, "--broad", 40)},
    "order-5": {"cases": 18, "C10_nm": 30, "C12_nm": 10, "edge_rad": {2: 1, 3: 1, 4: 1, 5: 1}, "doses": (20, 2), "fit": ("--order", 5, "--broad", 40)},
}


def judge(fit, truth, model, phase):
    """What the fit file says against the truth, in plain numbers."""
    p, transposed = study.cartesian(truth), truth["transposed"]
    names = fit.meta["covariance_names"]
    L_truth, significance = model.likelihood(p, transposed)
    bound = model.bound(p, transposed, names, phase)
    line = {"names": names, "significance_at_truth": significance, "L_truth": L_truth, "bound": list(bound), "found": fit.meta["found"],
            "L_fit": fit.meta["objective"]["likelihood"], "success": False}
    if not fit.meta["found"]:
        return line
    optics, errors = fit.meta["optics"], study.standard_errors(fit)
    off, own = study.differences(study.cartesian(optics), p)
    line["right_transposition"] = optics["transposed"] == transposed
    line["own_branch"] = bool(own)
    line["L_model"] = model.likelihood(study.cartesian(optics), optics["transposed"])[0]
    line["error"], line["standard_error"] = [off[name] for name in names], [errors[name] for name in names]
    line["success"] = line["right_transposition"] and all(abs(off[name]) <= study.tolerance(name, np.nan_to_num(errors[name])) for name in names)
    return line


def run_case(folder, family, case, dose):
    f = FAMILIES[family]
    rng = np.random.default_rng([len(family), case])
    truth = study.random_truth(rng, SPECIMENS[case % 3], 1000 + case, f["C10_nm"], f["C12_nm"], f["edge_rad"])
    name = pathlib.Path(folder) / "run" / f"{family}-{case}-{dose}"
    peak = min(PEAK_RAD, study.peak_for_rms(f"{name}-rms", truth, RMS_RAD))
    with study.Tools(name) as tools:
        full = tools.simulate("x", truth, "--dose", dose, "--phase", f"{peak:.4f}")
        tools.prepare("x_master.h5", "spectrum")
        seconds = tools.run("ssb-fit", "spectrum", *f["fit"], "-o", "fit")
        fit, model = tools.load("fit"), study.Model(tools.load("spectrum"))
        return {"specimen": truth["specimen"], "dose": dose, "seconds": seconds, "commands": tools.commands, "truth": full,
                "optics": fit.meta.get("optics"), "stopped": fit.meta["stopped"], "warnings": [w["text"] for w in fit.meta["warnings"]],
                **judge(fit, full, model, tools.phase("x"))}


def in_deviations(lines):
    """|error| over its standard error, all parameters of the successes."""
    values = [abs(e) / s for line in lines if line["success"] for e, s in zip(line["error"], line["standard_error"]) if s and s == s]
    return np.array(values)


def summary(lines):
    n = len(lines)
    able = [line for line in lines if line["significance_at_truth"] > study.NOISE_LIMIT]
    won = [line for line in lines if line["success"]]
    lost = [line for line in lines if line["found"] and not line["success"]]
    missed = sum(line["L_fit"] < line["L_truth"] for line in lost)
    sd = in_deviations(lines)
    reported = [s / b for line in won for s, b in zip(line["standard_error"], line["bound"]) if s == s and b > 0]
    return [n, f"{len(able)}", f"{len(won)}", f"{sum(line['success'] for line in able)} of {len(able)}", missed, len(lost) - missed,
            sum(not line["found"] for line in lines), f"{sum(line['own_branch'] for line in won)}",
            f"{np.median(sd):.2f}, {np.quantile(sd, 0.95):.2f}" if len(sd) else "–",
            f"{np.median(reported):.2f}" if reported else "–", f"{np.median([line['seconds'] for line in lines]):.1f}"]


HEAD = ["counts", "specimen", "cases", "could be found", "success", "of those", "optimum missed", "failed, L above the truth's", "nothing found",
        "branch right", "error in σ: median, 95 %", "σ over bound", "s"]


def print_table(lines):
    rows = []
    for dose in sorted({line["dose"] for line in lines}, reverse=True):
        for specimen in (*SPECIMENS, "all"):
            some = [line for line in lines if line["dose"] == dose and specimen in (line["specimen"], "all")]
            if some:
                rows.append([dose, specimen, *summary(some)])
    print(study.table(HEAD, rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--family", choices=FAMILIES, action="append")
    parser.add_argument("--cases", type=int, help="only the first N truths")
    parser.add_argument("--jobs", type=int, default=2)
    a = parser.parse_args()
    for family in a.family or FAMILIES:
        f = FAMILIES[family]
        work = {f"{family} {case} {dose}": functools.partial(run_case, a.folder, family, case, dose)
                for dose in f["doses"] for case in range(min(f["cases"], a.cases or f["cases"]))}
        lines = study.Results(pathlib.Path(a.folder) / f"recovery-{family}.jsonl").complete(work, a.jobs)
        print(f"\n### {family}\n")
        print_table(lines)


main()
