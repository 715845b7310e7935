"""What the studies share: truths, the tools as a user runs them, the fit against the truth, and the model written once more in numpy.

Units as in the design: lengths A, angles rad inside; nm, deg and mrad where the tools are spoken to.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a case per processor is enough
import numpy as np  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "formats"))
import ssbfile  # noqa: E402

ORDERS = ((1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (3, 2), (3, 4), (4, 1), (4, 3), (4, 5), (5, 0), (5, 2), (5, 4), (5, 6))
KV, SEMIANGLE_MRAD, STEP_A, SCAN, DETECTOR, RADIUS_PX = 200, 20, 0.3, 32, 26, 8
WAVELENGTH_A = 0.025079340
CENTRE_PX = (DETECTOR - 1) / 2
SAMPLING_MRAD = SEMIANGLE_MRAD / RADIUS_PX
NOISE_LIMIT = 8  # deviations of L from that of noise: below it ssb-fit says that nothing was found
LEAST_RAD, LEAST_ROTATION_RAD = 0.1, np.deg2rad(1)  # of error that never counts as a failure


def edge_rad_per_A(n):
    """Phase at the edge of the aperture that 1 A of C_nm makes."""
    alpha = SEMIANGLE_MRAD * 1e-3
    return 2 * np.pi / WAVELENGTH_A * alpha ** (n + 1) / (n + 1)


def cartesian(optics):
    """{"C12a": A, …, "rotation": rad, "tilt_r": rad, …} of a truth or of a fit's optics."""
    p = {}
    for n, m in ORDERS:
        C, phi = 10 * optics.get(f"C{n}{m}_nm", 0), np.deg2rad(optics.get(f"phi{n}{m}_deg", 0))
        if m == 0:
            p[f"C{n}0"] = C
        else:
            p[f"C{n}{m}a"], p[f"C{n}{m}b"] = C * np.cos(m * phi), C * np.sin(m * phi)
    p["tilt_r"], p["tilt_c"] = 1e-3 * np.array(optics.get("tilt_mrad", (0, 0)))
    p["thickness"] = 10 * optics.get("thickness_nm", 0)
    p["rotation"] = np.deg2rad(optics["rotation_deg"])
    return p


def opposite(p):
    """The same data with the scan turned by half a turn: even m and the tilt change sign."""
    even = [name for name in p if name.startswith("tilt") or (name[0] == "C" and int(name[2]) % 2 == 0)]
    return {**p, **{name: -p[name] for name in even}, "rotation": p["rotation"] + np.pi}


def differences(fit, truth):
    """fit - truth by parameter on the branch whose rotation is nearer, and whether that is the truth's own."""
    turn = lambda p: (fit["rotation"] - p["rotation"] + np.pi) % (2 * np.pi) - np.pi
    own = abs(turn(truth)) <= np.pi / 2
    p = truth if own else opposite(truth)
    return {**{name: fit[name] - p[name] for name in p}, "rotation": turn(p)}, own


def tolerance(name, error):
    """Five standard errors, or 0.1 rad at the aperture's edge (1 degree of rotation), whichever is larger."""
    least = LEAST_ROTATION_RAD if name == "rotation" else LEAST_RAD / edge_rad_per_A(int(name[1])) if name[0] == "C" else 0
    return max(5 * error, least)


class Model:
    """physics.md sections 3 and 5 for one spectrum: the likelihood at given parameters, and the Cramer-Rao bound."""

    def __init__(self, spectrum):
        meta = spectrum.meta
        self.wavelength, self.alpha = meta["wavelength_A"], meta["semiangle_mrad"] * 1e-3
        self.sampling = np.array(meta["detector_sampling_mrad"]) * 1e-3
        self.scan, step = meta["scan_shape"], meta["scan_step_A"]
        self.index, self.G = np.array(spectrum["q_index"]), np.array(spectrum["G"])
        rows, columns = self.scan
        r, c = self.index.T
        self.q = np.stack([np.where(r < (rows + 1) // 2, r, r - rows) / (rows * step[0]), c / (columns * step[1])], -1)
        self.m = np.where(c == 0, 1.0, 2.0)
        self.m[((r == 0) & (c == 0)) | (2 * r == rows) | (2 * c == columns)] = 0
        self.k = (np.array(spectrum["pixel_index"]) - meta["bf_centre_px"]) * self.sampling / self.wavelength
        self.I0 = meta["I0_counts"]
        self.sigma2 = rows * columns * self.I0

    def _terms(self, p, transposed):
        """T_- and T_+ of gamma = T_- - T_+, [q, k], and the frequencies k-q, k, k+q of their phases."""
        turn = np.array([[np.cos(p["rotation"]), -np.sin(p["rotation"])], [np.sin(p["rotation"]), np.cos(p["rotation"])]])
        k = (self.k[:, ::-1] if transposed else self.k) @ turn.T
        at = [k - self.q[:, None], k[None], k + self.q[:, None]]

        def aperture(v):
            d = v @ turn
            d = d[..., ::-1] if transposed else d
            size = np.hypot(*np.moveaxis(v, -1, 0))
            edge = np.hypot(d[..., 0] * self.sampling[0], d[..., 1] * self.sampling[1]) / np.where(size > 0, size, 1)
            return np.clip((self.alpha - self.wavelength * size) / np.where(size > 0, edge, self.sampling[0]) + 0.5, 0, 1)

        A, chi = [aperture(v) for v in at], [self._chi(v, p) for v in at]
        v2 = [(v * v).sum(-1) for v in at]
        lean = 2 * np.pi * (self.q @ [p["tilt_r"], p["tilt_c"]])[:, None]
        weight = [np.sinc((s * np.pi * self.wavelength * (v2[1 + s] - v2[1]) - lean) * p["thickness"] / 2 / np.pi) for s in (-1, 1)]
        minus = A[0] * A[1] * np.exp(1j * (chi[1] - chi[0])) * weight[0]
        plus = A[2] * A[1] * np.exp(1j * (chi[2] - chi[1])) * weight[1]
        return minus, plus, at

    def _basis(self, v, name):
        n, m = int(name[1]), int(name[2])
        z, size2 = v[..., 0] + 1j * v[..., 1], (v * v).sum(-1)
        power = size2 ** ((n + 1 - m) // 2) * z ** m
        return 2 * np.pi / self.wavelength * self.wavelength ** (n + 1) / (n + 1) * (power.imag if name.endswith("b") else power.real)

    def _chi(self, v, p):
        used = [name for name in p if name[0] == "C" and p[name] != 0]
        return sum((p[name] * self._basis(v, name) for name in used), np.zeros(v.shape[:-1]))

    def _derivative(self, p, transposed, name, terms):
        minus, plus, at = terms
        if name[0] == "C":
            b = [self._basis(v, name) for v in at]
            return 1j * ((b[1] - b[0]) * minus - (b[2] - b[1]) * plus)
        step = {"thickness": 0.1}.get(name, 1e-5)
        ahead, behind = (self._terms({**p, name: p[name] + s * step}, transposed) for s in (1, -1))
        return (ahead[0] - ahead[1] - behind[0] + behind[1]) / (2 * step)

    def likelihood(self, p, transposed):
        """L, and its deviations from that of pure noise."""
        minus, plus, _ = self._terms(p, transposed)
        gamma = minus - plus
        S, W = (self.G * gamma.conj()).sum(1), (abs(gamma) ** 2).sum(1)
        m = np.where(W > 1e-6 * W.max(), self.m, 0)
        L = (m * abs(S) ** 2 / np.where(m > 0, W, 1)).sum()
        return L, (L / self.sigma2 - m.sum()) / np.sqrt((m ** 2).sum())

    def bound(self, p, transposed, names, phase):
        """Smallest standard errors (A, rad) by `names` that any unbiased estimate can have, given the true phase (rad, on the scan)."""
        terms = self._terms(p, transposed)
        gamma = terms[0] - terms[1]
        W = (abs(gamma) ** 2).sum(1)
        use = (self.m > 0) & (W > 1e-6 * W.max())
        power = self.I0 ** 2 * abs(np.fft.fft2(phase)[self.index[:, 0], self.index[:, 1]]) ** 2
        d = [self._derivative(p, transposed, name, terms)[use] for name in names]
        gamma, W, weight = gamma[use], W[use], (self.m * power)[use] * W[use]
        along = [(gamma.conj() * x).sum(1) for x in d]
        J = np.array([[2 * (weight * ((x.conj() * y).sum(1) / W - a.conj() * b / W ** 2).real).sum() for y, b in zip(d, along)]
                      for x, a in zip(d, along)])
        scale = 1 / np.sqrt(np.diag(J))
        return np.sqrt(2 * self.sigma2 * np.diag(np.linalg.pinv(J * np.outer(scale, scale), rcond=1e-12))) * scale


class Tools:
    """The suite's programs, each on one thread, in a folder of its own that is removed afterwards."""

    def __init__(self, folder):
        self.folder, self.commands = pathlib.Path(folder), []
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def run(self, tool, *arguments):
        """Seconds taken. The command line is kept; a failure raises RuntimeError with what the tool said."""
        command = [tool, "-q", *map(str, arguments)]
        self.commands.append(" ".join(command))
        start = time.monotonic()
        environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1", "SOURCE_DATE_EPOCH": "1"}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{self.commands[-1]}: {done.stderr.strip() or done.returncode}")
        return time.monotonic() - start

    def simulate(self, name, truth, *more):
        """ssb-sim NAME; returns its truth (JSON)."""
        turns = [f"--{key.lower()}={C:.6f}nm" + ("" if key[2] == "0" else f",{phi:.4f}deg") for key, (C, phi) in truth["aberrations"].items()]
        for key, default in (("C10", "0nm"), ("C12", "0nm,0deg")):
            if key not in truth["aberrations"]:
                turns.append(f"--{key.lower()}={default}")
        self.run("ssb-sim", name, "--scan", f"{SCAN}x{SCAN}", "--step", STEP_A, "--detector", f"{DETECTOR}x{DETECTOR}", "--kv", KV,
                 "--semiangle", SEMIANGLE_MRAD, "--radius", RADIUS_PX, "--specimen", truth["specimen"], "--seed", truth["seed"],
                 f"--rotation={truth['rotation_deg']:.4f}deg", "--transpose", "yes" if truth["transposed"] else "no", *turns,
                 *truth.get("thick", ()), *more)
        return json.loads((self.folder / f"{name}_truth.json").read_text())

    def phase(self, name):
        return np.load(self.folder / f"{name}_truth_phase.npy").astype(float)

    def prepare(self, acquisition, spectrum, *more):
        self.run("ssb-decode", acquisition, "--scan", f"{SCAN}x{SCAN}", "-o", "region")
        self.run("ssb-prep", "region", "--kv", KV, "--semiangle", SEMIANGLE_MRAD, "--step", STEP_A, "--sampling", SAMPLING_MRAD, *more, "-o", spectrum)

    def load(self, name):
        return ssbfile.load(str(self.folder / name))


def peak_for_rms(folder, truth, rms_rad):
    """--phase that gives the specimen this rms: the specimen does not depend on detector, dose and aberrations."""
    with Tools(folder) as tools:
        tools.run("ssb-sim", "x", "--scan", f"{SCAN}x{SCAN}", "--step", STEP_A, "--detector", "2x2", "--kv", KV, "--semiangle", SEMIANGLE_MRAD,
                  "--sampling", SAMPLING_MRAD, "--specimen", truth["specimen"], "--seed", truth["seed"], "--phase", 1)
        return rms_rad / tools.phase("x").std()


def standard_errors(fit):
    names = fit.meta["covariance_names"]
    if "covariance" not in fit.arrays:
        return dict.fromkeys(names, float("nan"))
    return dict(zip(names, np.sqrt(np.maximum(np.diag(np.atleast_2d(fit["covariance"])), 0))))


def random_truth(rng, specimen, seed, C10_nm, C12_nm, edge_rad):
    """Aberrations drawn evenly: C10, C12 up to a length, orders n >= 2 up to edge_rad[n] at the edge; any rotation, either transposition."""
    aberrations = {"C10": (rng.uniform(-C10_nm, C10_nm), 0), "C12": (rng.uniform(0, C12_nm), rng.uniform(-90, 90))}
    for n, m in ORDERS:
        if n in edge_rad:
            most = 0.1 * edge_rad[n] / edge_rad_per_A(n)
            aberrations[f"C{n}{m}"] = (rng.uniform(0 if m else -most, most), rng.uniform(-180, 180) / m if m else 0)
    return {"seed": seed, "specimen": specimen, "aberrations": aberrations, "rotation_deg": rng.uniform(0, 360), "transposed": bool(rng.random() < 0.5)}


def attempt(task):
    """What task() gives, or {"failed": what the tool said}: a failure is a result, too."""
    try:
        return task()
    except RuntimeError as error:
        return {"failed": str(error)}


class Results:
    """One line of JSON per case, appended as soon as it is there: an interrupted study goes on where it stood."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lines = [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def complete(self, work, jobs):
        """Run work[key]() for the keys not there yet, `jobs` at a time. Returns the lines; what failed is said and left out."""
        there = {line["key"] for line in self.lines}
        left = {key: task for key, task in work.items() if key not in there}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool, self.path.open("a") as file:
            running = {pool.submit(attempt, task): key for key, task in left.items()}
            for done in concurrent.futures.as_completed(running):
                line = {"key": running[done], **done.result()}
                self.lines.append(line)
                file.write(json.dumps(line) + "\n")
                file.flush()
                print(f"{len(self.lines)} of {len(work)}: {line['key']}", file=sys.stderr)
        lines = [line for line in self.lines if line["key"] in work]
        for line in lines:
            if "failed" in line:
                print(f"failed: {line['key']}: {line['failed']}")
        return [line for line in lines if "failed" not in line]


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, ["---"] * len(head), *rows])


BIN = pathlib.Path(os.environ.get("BUILD", TOP / "build")).resolve() / "bin"
