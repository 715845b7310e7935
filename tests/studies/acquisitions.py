"""The acquisitions of ../shared/data from file to fit against their truth: acquisitions.py FOLDER, a table in Markdown on stdout.

The detector sampling is given. Fitted: C10, C12 and the rotation with the orders above held at the truth; the two thick ones with tilt and
thickness; the one with coma, three-fold astigmatism and C30 to third order as well."""
import json
import pathlib
import subprocess
import sys

from study import TOP, ssbfile

DATA = TOP.parent / "shared" / "data"
HIGHER = ("C21", "C23", "C30", "C32", "C34", "C41", "C43", "C45", "C50", "C52", "C54", "C56")
THICK = ["--fit", "C10,C12,rotation,tilt,thickness"]
FITS = (("graphene-thin", []), ("graphene-thin", ["--order", "auto"]), ("mos2-lowdose", []), ("mos2-lowdose", ["--order", "3"]), ("rect-rotated", []),
        ("u32-highcount", []), ("focus-180", []), ("thick-weak-tilt", []), ("thick-weak-tilt", THICK), ("srtio3-thick-tilt", THICK))
PERIOD = {"rotation": 360}


def tool(name, *arguments):
    subprocess.run([TOP / "build" / "bin" / f"ssb-{name}", "-q", *map(str, arguments)], check=True, stderr=subprocess.DEVNULL)


def spectrum(name, truth, folder):
    path = folder / f"{name}.spectrum"
    if not path.exists():
        tool("decode", DATA / name / f"{name}_master.h5", "--scan", "%dx%d" % tuple(truth["scan_shape"]), "-o", folder / "x.region")
        tool("prep", folder / "x.region", "--kv", truth["voltage_kV"], "--semiangle", truth["semiangle_mrad"], "--step", truth["scan_step_A"],
             "--sampling", truth["detector_sampling_mrad"], "-o", path)
    return path


def held(truth):
    for order in HIGHER:
        if truth[order + "_nm"]:
            angle = f",{truth['phi' + order[1:] + '_deg']}deg" if order[2] != "0" else ""
            yield from ("--fix", f"{order}={truth[order + '_nm']}nm{angle}")


def truth_of(name, truth):
    if name.startswith("tilt"):
        return truth["tilt_mrad"]["rc".index(name[-1])]
    return {"rotation": truth["rotation_deg"], "thickness": truth["thickness_nm"]}.get(
        name, truth.get(f"{name}_nm" if name[0] == "C" else f"{name}_deg", 0))


def row(name, options, folder):
    truth = json.loads((DATA / name / "truth.json").read_text())
    path = spectrum(name, truth, folder)
    tool("fit", path, *(options if "--order" in options else [*options, *held(truth)]), "-o", folder / "x.fit")
    meta = ssbfile.load(folder / "x.fit").meta
    cells = []
    for p in meta["parameters"]:
        if p["status"] != "fitted":
            continue
        t, error = truth_of(p["name"], truth), p["standard_error"]
        off = p["value"] - t
        period = 360 / int(p["name"][-1]) if p["name"].startswith("phi") else PERIOD.get(p["name"], 0)
        off -= period * round(off / period) if period else 0
        cells.append(f"{p['name']} {p['value']:.4g} ± {error:.1g} ({t:g}: {off / error:+.1f} σ)")
    o = meta["objective"]
    return f"| {name} | {' '.join(options) or 'default'} | {'; '.join(cells)} | {o['explained']:.3f} ± {o['explained_noise']:.3f} |"


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("| acquisition | options | fitted ± standard error (truth: off by) | explained |\n|---|---|---|---|")
    for name, options in FITS:
        print(row(name, options, folder), flush=True)


main(sys.argv[1])
