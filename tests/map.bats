# ssb-fit --map, and what ssb-save and ssb-info make of a map.
load helpers
export SOURCE_DATE_EPOCH=1

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	ssb-sim -q one --scan 30x32 --detector 22x24 --radius 8 --dose 40 --phase 0.3 --kv 200 --step 0.35 --rotation 15 --c10 -12nm --c12 2nm,20deg
	ssb-decode -q one_master.h5 --scan 30x32 | ssb-prep -q - --kv 200 --semiangle 30 --step 0.35 --sampling 3.75 -o one.spectrum 2>/dev/null
	ssb-fit -q one.spectrum --range C10=-16nm:-8nm --range C12=4nm --trials 4 -o one.fit
	ssb-fit -q one.spectrum --start one.fit --map C10=-14nm:-10nm:21,C12a=0nm:3nm:7 -o plane.map
	ssb-fit -q one.spectrum --start one.fit --map C12b=-3nm:3nm:13 -o line.map
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	ln -sf "$BATS_FILE_TMPDIR"/*.spectrum "$BATS_FILE_TMPDIR"/*.fit "$BATS_FILE_TMPDIR"/*.map .
}

check() { PYTHONPATH=$PYTHONPATH:$BATS_TEST_DIRNAME/golden/format "$PYTHON" -c "import json, numpy as np, ssbfile
$1"; }

# made NAME VALUES META: a map written without ssb-fit, of numpy array VALUES
made() {
	check "
from make import Chunk, container, entry
from numpy import *
values = $2
values = ascontiguousarray(values, '<f8')
meta = {'objective': 'likelihood'} | $3
meta.setdefault('axes', [{'name': name, 'unit': unit, 'values': list(map(float, range(n)))} for (name, unit), n in zip((('C10', 'nm'), ('C12a', 'nm')), values.shape)])
open('$1', 'wb').write(container('map', [entry('objective', values, values.size)], [Chunk(0, 0, values)], meta)[0])"
}

@test "the best point of a fine map is the optimum of the fit" {
	ssb-fit -q one.spectrum --start one.fit --map C10=-12.2nm:-11.8nm:41 -o c10.map
	ssb-fit -q one.spectrum --start one.fit --map rotation=13deg:17deg:41 -o rotation.map
	check '
fit = ssbfile.load("one.fit").meta
for name, step in ("C10", 0.01), ("rotation", 0.1):
    m = ssbfile.load(name.lower() + ".map")
    best, values = m.meta["best"], np.array(m.meta["axes"][0]["values"])
    value = next(p["value"] for p in fit["parameters"] if p["name"] == name)
    assert abs(best["at"][0] - value) <= step * 0.51, (best, value)
    assert m["objective"].argmax() == abs(values - best["at"][0]).argmin() and m["objective"].max() == best["objective"]
    noise = m.meta["noise"]
    explained = (best["objective"] - noise["sigma2"] * noise["multiplicity"]) / noise["signal_power"]
    assert abs(explained - fit["objective"]["explained"]) < 0.002, (explained, fit["objective"])'
}

@test "the file: axes by array axis, the instrument, what was held" {
	check '
m, fit = ssbfile.load("plane.map"), ssbfile.load("one.fit").meta
assert m.kind == "map" and m["objective"].shape == (21, 7) and m["objective"].dtype == np.float64
a, b = m.meta["axes"]
assert (a["name"], a["unit"], b["name"], b["unit"]) == ("C10", "nm", "C12a", "nm")
assert np.allclose(a["values"], np.linspace(-14, -10, 21), 0, 1e-12) and np.allclose(b["values"], np.linspace(0, 3, 7), 0, 1e-12)
i, j = np.unravel_index(m["objective"].argmax(), (21, 7))
assert m.meta["best"]["at"] == [a["values"][i], b["values"][j]]
for key in "high_tension_kV wavelength_A semiangle_mrad detector_sampling_mrad scan_step_A scan_shape scan_origin I0_counts bf_pixels".split():
    assert m.meta[key] == fit[key], key
optics = m.meta["optics"]
assert optics["C10_nm"] == a["values"][i] and optics["rotation_deg"] == fit["optics"]["rotation_deg"] and m.meta["objective"] == "likelihood"
c12 = optics["C12_nm"] * np.exp(2j * np.deg2rad(optics["phi12_deg"]))
held = fit["optics"]["C12_nm"] * np.exp(2j * np.deg2rad(fit["optics"]["phi12_deg"]))
assert abs(c12.real - b["values"][j]) < 1e-5 and abs(c12.imag - held.imag) < 1e-5
assert [h["tool"] for h in m.history] == ["ssb-decode", "ssb-prep", "ssb-fit"] and [i["kind"] for i in m.history[-1]["inputs"]] == ["spectrum", "fit"]'
}

@test "held without a start: the values of --fix, 0, and a word about the rotation" {
	ssb-fit -q one.spectrum --fix C12=2nm,20deg --fix rotation=15deg --map C10=-13nm:-11nm:3 -o fixed.map 2>err.txt
	[ ! -s err.txt ]
	ssb-fit -q one.spectrum --map C10=-13nm:-11nm:3 -o zero.map 2>err.txt
	grep -q "the rotation is held at 0 deg" err.txt
	ssb-fit -q one.spectrum --fix C12=2nm,20deg --map C10=-13nm:-11nm:3,rotation=13deg:17deg:3 -o both.map 2>err.txt
	[ ! -s err.txt ]
	check '
fixed, zero = ssbfile.load("fixed.map"), ssbfile.load("zero.map")
assert fixed.meta["optics"] == {"C10_nm": -12, "C12_nm": 2, "phi12_deg": 20, "rotation_deg": 15, "transposed": False}, fixed.meta["optics"]
assert "C12_nm" not in zero.meta["optics"] and zero.meta["optics"]["rotation_deg"] == 0
assert fixed["objective"].max() > 2 * zero["objective"].max()'
}

@test "said on stderr: the best point; a point at the edge and a parameter that does nothing are warned of" {
	ssb-fit one.spectrum --start one.fit --map C10=-14nm:-10nm:5 -o a.map 2>err.txt
	grep -q "^ssb-fit: largest likelihood of 5 points, 0\.9[0-9]* of the signal explained: C10 -12 nm$" err.txt
	ssb-fit -q one.spectrum --start one.fit --map C10=-11nm:-10nm:3 -o a.map 2>err.txt
	grep -q "at the edge of the map: C10 -11 nm" err.txt
	ssb-fit -q one.spectrum --start one.fit --map C10=-13nm:-11nm:3,tilt_r=-3mrad:3mrad:3 -o a.map 2>err.txt
	grep -q "does not depend on tilt_r here" err.txt
	[ "$(wc -l <err.txt)" = 1 ]
	ssb-info a.map | grep -q "^WARNING (ssb-fit): the objective does not depend on tilt_r here"
}

@test "the published variance, whose smallest value is the best" {
	ssb-fit one.spectrum --start one.fit --objective variance --map C10=-14nm:-10nm:5 -o v.map 2>err.txt
	grep -q "smallest variance of 5 points, .* rad2: C10 -1" err.txt
	check '
m = ssbfile.load("v.map")
assert m.meta["objective"] == "variance" and m.arrays.info["objective"].unit == "rad2" and "noise" not in m.meta
assert m["objective"].min() == m.meta["best"]["objective"] > 0 and m.meta["best"]["at"] == [m.meta["axes"][0]["values"][m["objective"].argmin()]]'
	ssb-save v.map v.png v.csv
	head -1 v.csv | grep -q "^C10_nm,variance_rad2$"
	ssb-info v.map | grep -q "best at C10 -1[0-9]* nm$"
}

@test "the same bytes from a file and a pipe, with 1 thread and 2" {
	ssb-fit -q -t 1 one.spectrum --start one.fit --map C10=-14nm:-10nm:3,C12a=0nm:3nm:2 -o a.map
	ssb-fit -q -t 2 - --start one.fit --map C10=-14nm:-10nm:3,C12a=0nm:3nm:2 <one.spectrum >b.map
	cmp a.map b.map
	ssb-save a.map a.png a.zip
	ssb-save -t 2 - b.png b.zip <b.map
	cmp a.png b.png
	cmp a.zip b.zip
}

@test "interrupted, it leaves nothing" {
	run timeout -s INT 1 ssb-fit -q one.spectrum --start one.fit --map C10=-14nm:-10nm:1000,C12a=0nm:3nm:1000 -o a.map
	[ "$status" -eq 124 ]
	[ -z "$(ls -A | grep a.map)" ]
}

@test "what --map does not take" {
	fit() { ssb-fit one.spectrum -o no.map "$@"; }
	fails 2 "map its Cartesian parts C12a and C12b" fit --map C12=1nm:2nm:3
	fails 2 "no parameter is called 'defocus'" fit --map defocus=1nm:2nm:3
	fails 2 "'1' needs a unit: pm, A, nm" fit --map C10=1:2nm:3
	fails 2 "'1' is no number of values" fit --map C10=1nm:2nm:1
	fails 2 "an empty range" fit --map C10=2nm:1nm:3
	fails 2 "a map has one or two parameters: 'rotation=1deg:2deg:3' is one more" fit --map C10=1nm:2nm:3,C30=1um:2um:3,rotation=1deg:2deg:3
	fails 2 "both axes are C10" fit --map C10=1nm:2nm:3,C10=1nm:2nm:3
	fails 2 "more than --memory" fit --memory 100M --map C10=1nm:2nm:100000,C30=1um:2um:100000
	fails 2 "says how to fit, and --map fits nothing" fit --map C10=1nm:2nm:3 --range C10=-1nm:1nm
	fails 3 "'one.fit' is a fit, not a spectrum" ssb-fit one.fit -o no.map --map C10=1nm:2nm:3
	fails 3 "'line.map' is a map, not a fit" fit --start line.map --map C10=1nm:2nm:3
	fails 3 "'line.map' is a map, not a spectrum" ssb-recon line.map -o no.phase --c10 0nm
	[ ! -e no.map ]
}

@test "npy, npz, tif, h5, csv and json hold the values" {
	ssb-save plane.map a.npy a.npz a.tif a.h5 a.csv a.json a.zip
	ssb-save line.map b.npy b.npz b.tif b.h5 b.csv b.json
	check '
import csv, h5py, tifffile
for file, name in ("plane.map", "a"), ("line.map", "b"):
    m = ssbfile.load(file)
    values, axes = m["objective"], m.meta["axes"]
    array, z = np.load(name + ".npy"), np.load(name + ".npz")
    assert array.dtype == np.float64 and array.shape == values.shape and (array == values).all() and (z["objective"] == values).all()
    assert all(z["axis_" + a["name"] + "_nm"].tolist() == a["values"] for a in axes)
    assert z["C10_nm"] == m.meta["optics"]["C10_nm"]
    image = tifffile.imread(name + ".tif")
    assert image.dtype == np.float64 and (image.reshape(values.shape) == values).all()
    data = h5py.File(name + ".h5")["entry/data"]
    assert data.attrs["signal"] in ("objective", b"objective") and list(data.attrs["axes"]) == [a["name"] for a in axes]
    assert (data["objective"][()] == values).all() and all(data[a["name"]][()].tolist() == a["values"] for a in axes)
    assert all(data[a["name"]].attrs["units"] in ("nm", b"nm") for a in axes)
    rows = list(csv.DictReader(open(name + ".csv")))
    noise = m.meta["noise"]
    assert [float(r["likelihood"]) for r in rows] == values.ravel().tolist()
    grid = np.meshgrid(*[a["values"] for a in axes], indexing="ij")
    assert all(np.allclose([float(r[a["name"] + "_nm"]) for r in rows], g.ravel(), 1e-11) for a, g in zip(axes, grid))
    assert np.allclose([float(r["explained"]) for r in rows], (values.ravel() - noise["sigma2"] * noise["multiplicity"]) / noise["signal_power"], 1e-6)
    record = json.load(open(name + ".json"))
    assert record["shape"] == list(values.shape) and record["statistics"]["maximum"] == values.max() and record["meta"] == m.meta'
	[ "$(unzip -Z1 a.zip | sort | tr '\n' ' ')" = "map.csv map.h5 map.json map.npy map.npz map.png map.tif " ]
}

@test "png: the first parameter to the right, the second upwards, the best point ringed" {
	made right.map 'arange(4)[:, None] * ones(3)' '{}'
	made up.map 'ones(4)[:, None] * arange(3)' '{}'
	made peak.map 'array([[0, 0, 0], [0, 0, 0], [0, 0, 9], [0, 0, 0]])' '{}'
	made low.map 'array([[5, 5, 5], [1, 5, 5], [5, 5, 5], [5, 5, 5]])' '{"objective": "variance"}'
	for f in right up peak low; do ssb-save $f.map $f.png; done
	ssb-save peak.map large.png --zoom 2 --colormap gray --bits 16
	check '
from PIL import Image
LOW, HIGH = (68, 1, 84), (253, 231, 37)
def cell(name, i, j):  # off its centre, where the ring is
    image = Image.open(name)
    return image.getpixel((int(104 + 640 * (i + 0.2) / 4), int(556 - 472 * (j + 0.2) / 3)))
def ring(name):
    image = np.array(Image.open(name).convert("RGB")).astype(int)[86:554, 106:742]
    y, x = np.nonzero((image == 255).all(-1))
    return ((x.min() + x.max()) / 2 + 106 - 104) / 160 - 0.5, (556 - (y.min() + y.max()) / 2 - 86) / (472 / 3) - 0.5
assert Image.open("right.png").size == (880, 640)
assert all(cell("right.png", 0, j) == LOW and cell("right.png", 3, j) == HIGH for j in range(3))
assert all(cell("up.png", i, 0) == LOW and cell("up.png", i, 2) == HIGH for i in range(4))
assert cell("peak.png", 2, 2) == HIGH and cell("peak.png", 2, 1) == LOW and np.allclose(ring("peak.png"), (2, 2), 0, 0.02), ring("peak.png")
assert cell("low.png", 1, 0) == LOW and cell("low.png", 1, 1) == HIGH and np.allclose(ring("low.png"), (1, 0), 0, 0.02), ring("low.png")
large = Image.open("large.png")
assert large.size == (1760, 1280) and large.mode.startswith("I")
assert Image.open("peak.png").text["Scaling"].startswith("likelihood from 0 to 9;")
assert Image.open("low.png").text["Scaling"].startswith("variance from 1 to 5 rad2;")
assert Image.open("peak.png").text["Sampling"] == "C10 of 4 values across, up: C12a"'
}

@test "png of one parameter: a line from value to value" {
	made line9.map 'array([0, 0, 0, 0, 8, 0, 0, 0, 0])' '{}'
	made flat.map 'ones(5)' '{}'
	made empty.map 'array([nan, 1, nan, 3])' '{}'
	for f in line9 flat empty; do ssb-save $f.map $f.png; done 2>warning.txt
	[ "$(cat warning.txt)" = "ssb-save: warning: 2 of 4 pixels hold no number: a picture shows them as the lowest value" ]
	check '
from PIL import Image
image = np.array(Image.open("line9.png").convert("RGB")).astype(int)[90:554, 108:836]
blue = image[..., 2] - image[..., 0] > 60
assert blue.any(0).mean() > 0.97  # all along the axis, but under the ring
height = [464 - np.nonzero(column)[0].min() if column.any() else -1 for column in blue.T]
assert max(height[330:398]) > 400 and max(height[:270]) < 60 and max(height[460:]) < 60'
}

@test "a map that contradicts itself is refused" {
	made a.map 'ones((2, 2, 2))' '{"axes": [{"name": "C10", "unit": "nm", "values": [0, 1]}] * 3}'
	fails 3 "no list of one or two 'axes'" ssb-save a.map a.png
	made b.map 'ones((2, 3))' '{"axes": [{"name": "C10", "unit": "nm", "values": [0, 1]}] * 2}'
	fails 3 "axis C10 has 2 values for 3 of the array" ssb-save b.map a.png
	made c.map 'ones(3)' '{"axes": [{"name": "C10", "unit": "nm", "values": [0, 1, 1]}]}'
	fails 3 "the values of axis C10 do not rise" ssb-save c.map a.png
	made d.map 'ones(3)' '{"axes": [{"unit": "nm", "values": [0, 1, 2]}]}'
	fails 3 "name" ssb-save d.map a.png
	made e.map 'ones(3)' '{"noise": {"sigma2": 1}}'
	fails 3 "noise: " ssb-save e.map a.png
	made f.map 'ones((3, 3))' '{"axes": [{"name": "C10", "unit": "nm", "values": [0, 1, 2]}]}'
	fails 3 "objective" ssb-save f.map a.png
	fails 2 "a map cannot be saved as 'a.txt'" ssb-save plane.map a.txt
	fails 1 "too large" ssb-save plane.map a.png --zoom 100 --memory 10M
	[ ! -e a.png ]
	ssb-info a.map >/dev/null
}

@test "ssb-info: the axes and the best point" {
	ssb-info plane.map >out.txt
	grep -q "^  map over C10 -14 nm … -10 nm, 21 values$" out.txt
	grep -q "^  map over C12a 0 nm … 3 nm, 7 values$" out.txt
	grep -q "^  best at C10 -12 nm, C12a 1.5 nm, 0.9[0-9]* of the signal explained$" out.txt
	[ "$(ssb-info --get meta.best.at plane.map)" = "[-12.0,1.5]" ]
	ssb-info --verify line.map | grep -q "^map, digest"
	ssb-info --array objective line.map >x.npy
	check 'assert (np.load("x.npy") == ssbfile.load("line.map")["objective"]).all()'
}
