# ssb-save: every format opened by the program that people use for it. tests/unit/save writes the containers.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	"$BUILD/tests/save" .
}

# Python with what every check needs: the phase of the sample, phase[r, c] = (r + 100 c) / 1000.
check() {
	"$PYTHON" - <<PYTHON
import json
import numpy as np
r, c = np.mgrid[:33, :47]
phase = ((r.astype(np.float32) + np.float32(100) * c.astype(np.float32)) / np.float32(1000)).astype(np.float32)
counts = (r + 100 * c).astype(np.uint64)
$1
PYTHON
}

@test "npy: float32 phase, uint64 counts, rows first" {
	ssb-save a.phase a.npy
	ssb-save bright.region b.npy
	check '
a, b = np.load("a.npy"), np.load("b.npy")
assert a.dtype == np.float32 and a.shape == (33, 47) and (a == phase).all()
assert b.dtype == np.uint64 and (b == counts + 2**30).all()
assert not np.load("a.npy", mmap_mode="r").flags.f_contiguous'
}

@test "npz: phase, sampling, parameters and the record" {
	ssb-save oblong.phase a.npz
	check '
z = np.load("a.npz")
assert (z["phase"] == phase).all() and z["phase"].dtype == np.float32
assert z["sampling_A"].tolist() == [0.3, 0.2] and z["high_tension_kV"] == 300 and z["high_tension_kV"].shape == ()
assert z["C10_nm"] == -12.5 and z["rotation_deg"] == 29.5 and z["transposed"].dtype == bool and not z["transposed"]
record = json.loads(str(z["record"]))
assert record["kind"] == "phase" and record["meta"]["parameters"][0]["standard_error"] == 0.03
assert [h["tool"] for h in record["history"]] == ["ssb-recon", "ssb-save"]'
	unzip -tq a.npz
	[ "$(unzip -Z1 a.npz | grep -vc '^[A-Za-z0-9_]*\.npy$')" = 0 ]
}

@test "tif: float32 and the size of a pixel in angstrom for tifffile and ImageJ" {
	ssb-save oblong.phase a.tif
	check '
import tifffile
with tifffile.TiffFile("a.tif") as t:
	page = t.pages[0]
	assert len(t.pages) == 1 and page.dtype == np.float32 and (page.asarray() == phase).all()
	assert t.is_imagej and t.imagej_metadata["unit"] in ("\\u00C5", "\u00c5"), t.imagej_metadata
	assert b"unit=\\u00C5\n" in open("a.tif", "rb").read()
	num, den = page.tags["XResolution"].value
	assert abs(den / num - 0.2) < 1e-7
	num, den = page.tags["YResolution"].value
	assert abs(den / num - 0.3) < 1e-7
	assert page.tags["ResolutionUnit"].value == 1
	assert t.imagej_metadata["row_spacing_A"] == 0.3 and t.imagej_metadata["column_spacing_A"] == 0.2'
}

@test "tif of counts: floating point that holds every one, or a refusal" {
	ssb-save a.region a.tif
	ssb-save bright.region b.tif
	check '
import tifffile
a, b = tifffile.imread("a.tif"), tifffile.imread("b.tif")
assert a.dtype == np.float32 and (a == counts).all()
assert b.dtype == np.float64 and (b == counts + 2**30).all()'
	fails 1 "more than a TIFF holds exactly" ssb-save huge.region c.tif
	[ ! -e c.tif ]
}

@test "png: the picture is the image, top left is position (0,0), its scaling is stated" {
	ssb-save a.phase --zoom 1 --contrast 0,100 --no-scale-bar a.png
	ssb-save a.phase --zoom 1 --contrast 10,90 --no-scale-bar --bits 16 b.png
	check '
import re
from PIL import Image
a = Image.open("a.png")
assert a.mode == "L" and a.size == (47, 33)
assert (np.array(a) == np.rint(phase / phase.max() * 255)).all()
b = Image.open("b.png")
low, top, high, below, above = (float(x) for x in re.match(
	r"0 = (\S+) rad, (\d+) = (\S+) rad, linear; percentiles 10 and 90; (\d+) pixels below, (\d+) above", b.text["Scaling"]).groups())
want = np.percentile(phase.astype(float), [10, 90])
assert np.allclose([low, high], want, rtol=1e-8) and top == 65535
assert below == (phase < want[0]).sum() and above == (phase > want[1]).sum()
back = low + np.array(b, float) / top * (high - low)
assert abs(back - np.clip(phase, low, high)).max() <= 0.51 * (high - low) / top
record = json.loads(b.text["Record"])
assert record["meta"]["sampling_A"] == [0.25, 0.25] and record["history"][-1]["options"]["bits"] == "16"
assert "scale bar" in [k.lower() for k in b.text] and b.text["Scale bar"] == "none"
assert b"sCAL\x012.5e-11\x002.5e-11" in open("b.png", "rb").read()'
}

@test "png: a small image is magnified whole, pixels become square, the scale bar has the length it says" {
	ssb-save a.phase a.png
	ssb-save oblong.phase b.png
	ssb-save wide.phase c.png
	ssb-save oblong.phase d.png --zoom 2 --no-scale-bar
	check '
from PIL import Image
a, b, c, d = (Image.open(n + ".png") for n in "abcd")
assert a.size == (47 * 11, 33 * 11) and c.size == (1100, 40)
assert b.size[0] == 47 * 11 and abs(b.size[1] - 33 * 11 * 1.5) <= 1
assert d.size == (94, 99)
D = np.array(d)
for y in range(99):
	for x in range(94):
		assert D[y, x] == D[3 * (y // 3), 2 * (x // 2)]
for image, sampling in ((a, 0.25 / 11), (b, 0.2 / 11)):
	length, pixels = image.text["Scale bar"].replace(" A = ", " ").split()[:2]
	assert float(length) == 2 and abs(int(pixels) * sampling - 2) <= sampling
	runs = ["".join("#" if v == 255 else "." for v in row).split(".") for row in np.array(image)[-30:, :300]]
	assert max(len(run) for row in runs for run in row) == int(pixels), (pixels, runs)'
}

@test "png: colours" {
	for map in viridis magma coolwarm; do ssb-save a.phase --colormap $map --bits 16 $map.png; done
	ssb-save a.phase --colormap viridis --no-scale-bar --contrast 0,100 --zoom 1 a.png
	check '
from PIL import Image
a = np.array(Image.open("a.png"))
assert a.shape == (33, 47, 3)
assert a[0, 0].tolist() == [68, 1, 84] and a[32, 46].tolist() == [253, 231, 37]
for name in "viridis", "magma", "coolwarm":
	assert b"IHDR" + (517).to_bytes(4, "big") + (363).to_bytes(4, "big") + bytes([16, 2]) in open(name + ".png", "rb").read()
	Image.open(name + ".png").load()'
}

@test "png of a sum pattern; of one row; of an image with pixels that hold no number" {
	ssb-save a.region a.png
	ssb-save tiny.phase b.png
	ssb-save hole.phase c.png --zoom 1 --no-scale-bar 2>err.txt
	grep -q "ssb-save: warning: 1 of 1551 pixels hold no number" err.txt
	check '
from PIL import Image
a, b, c = (Image.open(n + ".png") for n in "abc")
assert a.size == (517, 363) and " counts, " in a.text["Scaling"] and a.text["Scale bar"] == "none"
assert b.size == (512, 256)
assert np.array(c)[1, 2] == 0 and "1 without a number drawn as 0" in c.text["Scaling"]'
}

@test "h5: NeXus, the default plot with axes in angstrom, parameters, record" {
	ssb-save oblong.phase a.h5
	ssb-save bright.region b.h5
	check '
import h5py
f = h5py.File("a.h5")
text = lambda v: v.decode() if isinstance(v, bytes) else v
assert text(f.attrs["NX_class"]) == "NXroot"
entry = f[text(f.attrs["default"])]
data = entry[text(entry.attrs["default"])]
assert text(entry.attrs["NX_class"]) == "NXentry" and text(data.attrs["NX_class"]) == "NXdata"
signal = data[text(data.attrs["signal"])]
assert signal.dtype == np.float32 and (signal[()] == phase).all() and text(signal.attrs["units"]) == "rad"
axes = [text(a) for a in data.attrs["axes"]]
assert axes == ["y", "x"] and [data.attrs[a + "_indices"] for a in axes] == [0, 1]
assert np.allclose(data["y"][()], 0.3 * np.arange(33), rtol=1e-15) and np.allclose(data["x"][()], 0.2 * np.arange(47), rtol=1e-15)
assert text(data["x"].attrs["units"]) == "angstrom"
p = entry["parameters"]
assert p["C10"][()] == -12.5 and text(p["C10"].attrs["units"]) == "nm" and p["C10_errors"][()] == 0.03 and "C12_errors" not in p
assert json.loads(entry["record"][()])["meta"]["estimator"] == "ls"
b = h5py.File("b.h5")["entry/data"]
assert b["sum_pattern"].dtype == np.uint64 and (b["sum_pattern"][()] == counts + 2**30).all() and text(b["row"].attrs["units"]) == "pixel"'
}

@test "npz and h5 of a phase without a fit: the optics that were applied" {
	ssb-save options.phase a.npz a.h5
	check '
import h5py
z, p = np.load("a.npz"), h5py.File("a.h5")["entry/parameters"]
assert len(set(z.files)) == len(z.files)
assert z["C10_nm"] == -3.5 and z["rotation_deg"] == 10 and z["transposed"] and z["tilt_mrad"].tolist() == [1, 2]
assert p["C10"][()] == -3.5 and p["rotation"].attrs["units"] == b"deg" and p["transposed"][()] == 1
assert p["tilt"][()].tolist() == [1, 2] and p["tilt"].attrs["units"] == b"mrad"'
}

# stacks: stack.phase, 5 images at C10 = -4, -1.5 … 6 nm with their thin, and halves.phase, 1 image with two halves and 3 rings;
# image n is (n + 1) (r + 100 c) / 1000, thin the same + 0.5, the halves + 1 and + 2
stacks() {
	PYTHONPATH=$PYTHONPATH:$BATS_TEST_DIRNAME/golden/format "$PYTHON" - <<-'PY'
		import numpy as np
		from make import Chunk, container, entry
		r, c = np.mgrid[:12, :17]
		image = ((r + 100 * c) / 1000).astype("<f4")
		stack = np.stack([(n + 1) * image for n in range(5)])
		values = [-4, -1.5, 1, 3.5, 6]
		meta = {"sampling_A": [0.3, 0.2], "optics": {"C12_nm": 2.0, "phi12_deg": 10.0, "rotation_deg": 0.0, "transposed": False},
		        "stack": {"parameter": "C10", "unit": "nm", "values": values, "polarity": [1.0, 2.0, 3.0, 4.0, 5.0]}}
		def file(name, arrays, meta):
		    made = container("phase", [entry(n, a, a.size, unit="rad") for n, a in arrays.items()],
		                     [Chunk(i, 0, a) for i, a in enumerate(arrays.values())], meta)
		    open(name, "wb").write(made[0])
		file("stack.phase", {"phase": stack, "thin": stack + np.float32(0.5)}, meta)
		file("other.phase", {"phase": stack}, {**meta, "stack": {**meta["stack"], "values": values[:4]}})
		file("uneven.phase", {"phase": image, "thin": stack}, meta)
		crossing = {"result": "crosses", "above_from_per_A": 0.25, "frequency_per_A": 0.6, "resolution_A": 1 / 0.6}
		rings = {"ring_per_A": 0.25, "limit_per_A": 1.0, "limit_is": "Nyquist", "half_bit": crossing,
		         "fixed_0143": {"result": "does not cross below Nyquist", "above_from_per_A": 0.25}, "frequency_per_A": [0.25, 0.5, 0.75],
		         "correlation": [0.9, 0.5, None], "half_bit_threshold": [0.6, 0.5, 0.4], "pixels": [8, 12, 16]}
		file("halves.phase", {"phase": image, "halves": np.stack([image + np.float32(1), image + np.float32(2)])},
		     {"sampling_A": [0.3, 0.2], "fourier_ring_correlation": rings})
	PY
}

check_stack() {
	stacks
	check "
r, c = np.mgrid[:12, :17]
image = ((r + 100 * c) / 1000).astype(np.float32)
stack = np.stack([(n + 1) * image for n in range(5)])
values = [-4, -1.5, 1, 3.5, 6]
$1"
}

@test "a stack: one array, one TIFF of pages with ImageJ's spacing, one NeXus plot with C10 as an axis" {
	stacks
	ssb-save stack.phase a.npy a.npz a.tif a.h5 a.json 2>err.txt
	grep -q "'a.npy' holds the phase alone, without its thin" err.txt
	grep -q "'a.tif'" err.txt && ! grep -q "'a.npz'" err.txt && ! grep -q "'a.h5'" err.txt
	check_stack '
import h5py, tifffile
z, f = np.load("a.npz"), h5py.File("a.h5")
assert (np.load("a.npy") == stack).all() and (z["phase"] == stack).all() and (z["thin"] == stack + np.float32(0.5)).all()
assert z["C10_nm"].tolist() == values and z["C12_nm"] == 2
with tifffile.TiffFile("a.tif") as t:
	assert len(t.pages) == 5 and t.is_imagej and (t.asarray() == stack).all() and t.pages[0].dtype == np.float32
	assert t.imagej_metadata["images"] == 5 == t.imagej_metadata["slices"] and t.imagej_metadata["spacing"] == 25
	assert [p.tags["PageName"].value for p in t.pages] == [f"C10 = {v:g} nm" for v in values]
	for n, page in enumerate(t.pages):
		num, den = page.tags["YResolution"].value
		assert abs(den / num - 0.3) < 1e-7
		assert page.dataoffsets == (t.pages[0].dataoffsets[0] + n * stack[0].nbytes,) # ImageJ takes them to follow each other
for name, offset in ("phase", 0), ("thin", 0.5):
	data = f["entry/data" if name == "phase" else "entry/thin"]
	axes = [a.decode() if isinstance(a, bytes) else a for a in data.attrs["axes"]]
	assert axes == ["C10", "y", "x"] and data["C10"][()].tolist() == values and data["C10"].attrs["units"] == b"nm"
	assert data.attrs["signal"].decode() == name and (data[name][()] == stack + np.float32(offset)).all()
	assert [data.attrs[a + "_indices"] for a in axes] == [0, 1, 2] and np.allclose(data["y"][()], 0.3 * np.arange(12))
a = json.load(open("a.json"))
assert a["shape"] == [5, 12, 17] and np.isclose(a["statistics"]["maximum"], stack.max()) and np.isclose(a["statistics"]["mean"], stack.mean())'
}

@test "png of a stack: a contact sheet at one contrast, every image in its place" {
	stacks
	ssb-save -q stack.phase a.png --zoom 4 --contrast 0,100 --bits 16 --no-scale-bar
	check_stack '
from PIL import Image
a = Image.open("a.png")
assert a.size == (3 * 17 * 4 + 2 * 4, 2 * 12 * 6 + 4), a.size # 3 side by side: pixels of 0.3 x 0.2 A are made square
assert a.text["Sheet"] == "5 images, 3 side by side, row by row, C10 from -4 to 6 nm"
A = np.array(a, int)
for n in range(5):
	top, left = n // 3 * (72 + 4), n % 3 * (68 + 4)
	tile = A[top:top + 72, left:left + 68]
	expected = np.repeat(np.repeat(stack[n], 6, 0), 4, 1).astype(float) / stack.max() * 65535
	assert (abs(tile - expected)[20:] <= 1).all(), n # the label is above
	assert (abs(tile - expected)[:20] > 1).any() or n == 4, n
assert (A[:, 68:72] == 65535).all() and (A[72:76] == 65535).all() and (A[76:, 144:] == 65535).all()'
}

@test "one page of a stack is the image that was made at its value; thin by name" {
	stacks
	ssb-save stack.phase --page 2 a.npy a.json a.tif a.png
	ssb-save stack.phase --page 5 --array thin b.npz
	check_stack '
import tifffile
a, z = json.load(open("a.json")), np.load("b.npz")
assert (np.load("a.npy") == stack[1]).all() and tifffile.imread("a.tif").shape == (12, 17) and a["shape"] == [12, 17]
assert a["meta"]["optics"]["C10_nm"] == -1.5 and a["meta"]["polarity"] == 2 and "stack" not in a["meta"]
assert a["history"][-1]["options"]["page"] == "2"
assert (z["thin"] == stack[4] + np.float32(0.5)).all() and z["C10_nm"] == 6 and "phase" not in z.files and "polarity" not in z.files'
	fails 2 "--page 6: its phase has 5 images" ssb-save stack.phase --page 6 x.npy
	fails 2 "--page 2: its phase has 1 image" ssb-save a.phase --page 2 x.npy
	fails 2 "--array halves: it has none (ssb-recon --halves makes it)" ssb-save stack.phase --array halves x.npy
	fails 2 "it is a region" ssb-save a.region --page 1 x.npy
	fails 2 "it is a fit" ssb-save a.fit --array thin x.csv
	fails 3 "'stack' does not fit its phase of 5 images" ssb-save other.phase x.npy
	fails 3 "its thin has 5 images, not 1" ssb-save uneven.phase x.npz
	fails 1 "too large" ssb-save -q stack.phase --zoom 1000 --memory 1G x.png
	[ ! -e x.npy ] && [ ! -e x.npz ] && [ ! -e x.png ]
}

@test "halves: both in npz and h5, their Fourier ring correlation as csv and txt" {
	stacks
	ssb-save -q halves.phase a.npz a.h5 a.csv a.txt a.zip
	ssb-save halves.phase --array halves b.tif b.npy b.png
	printf '%s\n' frequency_per_A,correlation,half_bit_threshold,pixels 0.25,0.9,0.6,8 0.5,0.5,0.5,12 0.75,,0.4,16 | diff - a.csv
	grep -q "^half-bit *1.667 A: above it from 0.25 to 0.6 1/A$" a.txt
	grep -q "^0.143 *does not cross below Nyquist$" a.txt
	check_stack '
import h5py, tifffile
z, halves = np.load("a.npz"), np.stack([image + np.float32(1), image + np.float32(2)])
assert (z["phase"] == image).all() and (z["halves"] == halves).all() and (np.load("b.npy") == halves).all()
assert np.array_equal(z["ring_correlation"], [0.9, 0.5, np.nan], equal_nan=True) and z["ring_frequency_per_A"].tolist() == [0.25, 0.5, 0.75]
f = h5py.File("a.h5")["entry"]
assert (f["halves/halves"][()] == halves).all() and (f["data/phase"][()] == image).all() and f["halves/half"][()].tolist() == [0, 1]
with tifffile.TiffFile("b.tif") as t:
	assert (t.asarray() == halves).all() and len(t.pages) == 2 and "spacing" not in t.imagej_metadata'
	unzip -Z1 a.zip | grep -q "^phase.csv$"
	fails 2 "a phase cannot be saved as 'x.csv'" ssb-save stack.phase x.csv
}

@test "json: metadata, history and statistics" {
	ssb-save hole.phase a.json 2>err.txt
	ssb-save a.region b.json
	check '
a, b = json.load(open("a.json")), json.load(open("b.json"))
good = phase.astype(float).ravel()
good = np.delete(good, 47 + 2)
s = a["statistics"]
assert a["shape"] == [33, 47] and a["array"] == "phase" and s["not_finite"] == 1 and s["unit"] == "rad"
assert np.allclose([s["minimum"], s["maximum"], s["mean"], s["standard_deviation"]], [good.min(), good.max(), good.mean(), good.std()], rtol=1e-12)
assert a["history"][-1]["inputs"] == [{"kind": "phase", "digest": a["digest"]}]
assert b["kind"] == "region" and b["statistics"]["maximum"] == 32 + 4600'
}

@test "a fit: csv, txt, json with its covariance" {
	ssb-save a.fit a.csv a.txt a.json
	grep -q "C10 .* -12.5 ± 0.03 .*nm .*fitted" a.txt
	grep -q "warning (ssb-fit): an optimum on the edge" a.txt
	check '
import csv
rows = list(csv.DictReader(open("a.csv")))
assert [r["name"] for r in rows] == ["C10", "C12", "rotation"] and float(rows[0]["value"]) == -12.5
assert rows[1]["standard_error"] == "" and rows[2]["unit"] == "deg" and rows[2]["status"] == "fitted"
assert json.load(open("a.json"))["covariance"] == [[1, 0.5], [0.5, 2]]'
}

@test "a fit that found nothing: no value where none is known; one that did: its transposition, too" {
	PYTHONPATH=$PYTHONPATH:$BATS_TEST_DIRNAME/golden/format "$PYTHON" - <<-'PY'
		from make import container
		nothing = {"found": False, "parameters": [{"name": "C10", "unit": "nm", "status": "undetermined"}]}
		some = {"found": True, "parameters": [{"name": "C10", "value": 0.0, "unit": "nm", "status": "fixed"}], "optics": {"transposed": True}}
		for name, meta in ("nothing", nothing), ("some", some):
		    open(name + ".fit", "wb").write(container("fit", [], [], meta)[0])
	PY
	ssb-save nothing.fit a.csv a.txt
	ssb-save some.fit b.csv b.txt
	[ "$(tail -1 a.csv)" = "C10,,nm,,undetermined" ]
	[ "$(tail -1 b.csv)" = "C10,0,nm,,fixed" ]
	grep -q "^C10  *-  *nm  *undetermined$" a.txt
	grep -q "^found: no$" a.txt
	grep -q "^C10  *0  *nm  *fixed$" b.txt
	grep -q "^transposed  *yes$" b.txt
	ssb-info nothing.fit | grep -q "^ C10  *-  *nm  *undetermined$"
}

@test "zip: all of it, the same bytes as apart" {
	ssb-save a.phase a.zip
	ssb-save a.phase phase.npy phase.npz phase.tif phase.png phase.h5 phase.json
	mkdir out && unzip -q a.zip -d out
	[ "$(ls out | tr '\n' ' ')" = "phase.h5 phase.json phase.npy phase.npz phase.png phase.tif " ]
	for f in out/*; do cmp "$f" "$(basename "$f")"; done
	ssb-save a.fit fit.zip
	[ "$(unzip -Z1 fit.zip | tr '\n' ' ')" = "fit.json fit.csv fit.txt " ]
}

@test "the same bytes again: later, elsewhere, from a pipe, with other threads" {
	ssb-save -t 1 a.phase a.zip a.h5 a.png
	sleep 1.1
	mkdir other
	(cd other && TZ=Asia/Tokyo MALLOC_PERTURB_=85 ssb-save -t 2 - a.zip a.h5 a.png <../a.phase)
	for f in zip h5 png; do cmp a.$f other/a.$f; done
}

@test "a region on a pipe: its counts are passed over, not kept" {
	PYTHONPATH=$PYTHONPATH:$BATS_TEST_DIRNAME/golden/format "$PYTHON" - <<-'PY'
		import numpy as np
		from make import Chunk, container, entry
		counts, sums = np.zeros(100000, "<u1"), np.arange(6, dtype="<u8").reshape(2, 3)
		made = container("region", [entry("counts", counts, counts.size), entry("sum_pattern", sums, 6)], [Chunk(0, 0, counts), Chunk(1, 0, sums)])
		open("long.region", "wb").write(made[0])
	PY
	cat long.region | ssb-save --memory 10K - a.npy
	ssb-save long.region b.npy
	cmp a.npy b.npy
}

@test "all outputs or none" {
	echo before >a.png
	mkdir b.npy
	fails 1 "b.npy" ssb-save a.phase a.png c.tif b.npy d.json
	[ "$(cat a.png)" = before ] && [ ! -e c.tif ] && [ ! -e d.json ]
	fails 1 "no/where.png" ssb-save a.phase c.tif no/where.png
	ln -s /dev/full full.png
	fails 1 "full.png': No space left on device" ssb-save a.phase c.tif full.png d.json
	[ ! -e c.tif ] && [ ! -e d.json ]
	fails 1 "too large" ssb-save a.phase c.tif d.png --zoom 30000
	fails 1 "too large" ssb-save a.phase c.tif d.png --zoom 100 --memory 1M
	run ls -A
	[[ $output != *.part* ]] && [ ! -e c.tif ]
}

@test "what it does not take" {
	fails 2 "'a.jpg' has no known extension: .npy .npz .tif .tiff .png .h5 .json .csv .txt .zip" ssb-save a.phase a.npy a.jpg
	fails 2 "'-' has no known extension" ssb-save a.phase -
	fails 2 "'a.png' is given twice" ssb-save a.phase a.png a.png
	fails 2 "a fit cannot be saved as 'a.png': .json .csv .txt .zip" ssb-save a.fit a.json a.png
	fails 2 "a phase cannot be saved as 'a.csv'" ssb-save a.phase a.csv
	fails 2 "at least one output" ssb-save a.phase
	fails 3 "it is a spectrum, which is no image" ssb-save a.spectrum a.png
	fails 2 "'99,1' are no two percentiles" ssb-save --contrast 99,1 a.phase a.png
	fails 2 "nan" ssb-save --contrast nan,1 a.phase a.png
	fails 2 "'pink' is none of gray" ssb-save --colormap pink a.phase a.png
	fails 2 "none of 8|16" ssb-save --bits 12 a.phase a.png
	fails 2 "'15x' is no whole number" ssb-save --zoom 15x a.phase a.png
	cp a.phase a.npy
	fails 2 "the output 'a.npy' is the input 'a.npy'" ssb-save a.npy a.npy
	fails 3 "absent.phase" ssb-save absent.phase b.npy
	head -c 3000 a.phase >short.phase
	fails 3 "short.phase" ssb-save short.phase b.npy
	[ ! -e a.json ] && [ ! -e a.png ] && [ ! -e b.npy ]
}

@test "help and version" {
	ssb-save -h >h.txt
	head -1 h.txt | grep -qF "usage: ssb-save [options] INPUT OUTPUT…"
	ssb-save --version | grep -q "HDF5 1\..*libpng.*libtiff.*libarchive"
}
