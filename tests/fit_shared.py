"""Fit and phase of one shared acquisition against the oracle's table and the truth: fit_shared.py FOLDER (given|rule) FIT PHASE [PHASE_X2].

Bounds: with the sampling given, within 0.6 of the oracle's standard errors or 0.002 nm and 0.05 degrees, and within 2 % of the truth; with
the sampling left to the rule (which reads 0.2 to 1.4 % high) within 4 %. Correlation and slope within 0.01 of those at the truth."""
import json
import pathlib
import sys

import numpy as np
import ssbfile

#         C10 nm, C12 nm, phi12 deg, rotation deg, their standard errors; correlation and slope, at 2x against the truth at 4x
EXPECTED = {
    "graphene-thin": ((-9.998, 1.995, 20.0, 0.00), (0.002, 0.002, 0.02, 0.01), (0.9964, 1.007), (0.9563, 1.003)),
    "mos2-lowdose": ((-11.899, 2.946, -35.0, 30.02), (0.019, 0.014, 0.13, 0.05), (0.8937, 0.937), None),
    "rect-rotated": ((-7.975, 2.488, 60.0, 285.01), (0.006, 0.005, 0.06, 0.02), (0.9625, 0.981), None),
    "u32-highcount": ((-14.959, 3.950, 5.1, 12.50), (0.0003, 0.0003, 0.002, 0.001), (0.9987, 0.979), None),
    "focus-180": ((-13.971, 3.491, -14.9, 190.02), (0.005, 0.004, 0.03, 0.01), (0.9875, 0.993), (0.9873, 0.992)),
}
ROUNDING = (0.0005, 0.0005, 0.05, 0.005)  # of the table


def finer(x, shape):
    """The same Fourier series on a finer grid."""
    f, out = np.fft.fft2(x), np.zeros(shape, complex)
    rows, columns = (np.rint(np.fft.fftfreq(n, 1 / n)).astype(int) for n in x.shape)
    r, c = np.abs(rows) < x.shape[0] / 2, np.abs(columns) < x.shape[1] / 2
    out[np.ix_(rows[r] % shape[0], columns[c] % shape[1])] = f[np.ix_(r, c)]
    return np.fft.ifft2(out).real * (np.prod(shape) / x.size)


def compare(a, b):
    a, b = a - a.mean(), b - b.mean()
    return (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()), (a * b).sum() / (b * b).sum()


def phase(path):
    return np.array(ssbfile.load(path)["phase"], float)


def main(folder, mode, fit, native, twice=None):
    folder = pathlib.Path(folder)
    truth = json.loads((folder / "truth.json").read_text())
    values, errors, expected, expected_twice = EXPECTED[folder.name]
    meta = ssbfile.load(fit).meta
    found = {p["name"]: p["value"] for p in meta["parameters"]}
    assert meta["optics"]["transposed"] == truth["transposed"]
    truths = (truth["C10_nm"], truth["C12_nm"], truth["phi12_deg"], truth["rotation_deg"])
    floors, periods = (0.002, 0.002, 0.05, 0.05), (0, 0, 180, 360)
    for name, value, error, rounding, t, floor, period in zip(("C10", "C12", "phi12", "rotation"), values, errors, ROUNDING, truths, floors, periods):
        def off(x):
            d = found[name] - x
            return abs(d - period * round(d / period) if period else d)
        if mode == "given":
            assert off(value) <= max(0.6 * error, floor) + rounding, (name, found[name], value)
        scale = abs(t) if not period else 57.3  # angles: against a radian
        assert off(t) <= (0.02 if mode == "given" else 0.04) * scale, (name, found[name], t)
    corr, slope = compare(phase(native), np.load(folder / "truth_phase.npy").astype(float))
    if mode == "given":
        assert abs(corr - expected[0]) <= 0.01 and abs(slope - expected[1]) <= 0.01, (corr, slope)
    if twice:
        fine = np.load(folder / "truth_phase_4x.npy").astype(float)
        corr, slope = compare(finer(phase(twice), fine.shape), fine)
        assert abs(corr - expected_twice[0]) <= 0.01 and abs(slope - expected_twice[1]) <= 0.01, (corr, slope)


main(*sys.argv[1:])
