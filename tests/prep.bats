# ssb-prep on counts made here: the transform against numpy's, the disk, what it warns of, what it refuses.
load helpers
export SOURCE_DATE_EPOCH=1
given="--kv 300 --semiangle 30 --step 0.3"

# region NAME EXPRESSION [OPTIONS…]: NAME.region from counts x[R, C, rows, columns]. The expression is python after `y, x` (indices of a
# 32x32 detector), `disk(row, column, radius)` and rng are there; it sets `counts`, and `mask` if any.
region() {
	local name=$1 expression=$2; shift 2
	"$PYTHON" - "$name" <<PYTHON
import sys
import numpy as np
rng = np.random.RandomState(7)
def disk(row, column, radius, shape=(32, 32)):
    r, c = np.indices(shape)
    return np.clip(radius - np.hypot(r - row, c - column) + 0.5, 0, 1)
def scan(mean, rows=8, columns=9):
    return rng.poisson(np.broadcast_to(mean, (rows, columns) + mean.shape)).astype("u4")
mask = None
$expression
np.save(sys.argv[1] + ".npy", counts.astype(counts.dtype if counts.max() > 65535 else "u2"))
if mask is not None:
    np.save("mask.npy", mask)
PYTHON
	ssb-decode -q "$name.npy" --roi full -o "$name.region" "$@"
}

# check PYTHON: with s = the spectrum x.spectrum, meta, counts as read
check() {
	"$PYTHON" - <<PYTHON
import numpy as np, ssbfile
s = ssbfile.load("x.spectrum")
meta, warnings = s.meta, " | ".join(w["text"] for w in s.meta["warnings"])
counts = np.load("x.npy")
def close(a, b, tolerance):
    assert np.abs(np.asarray(a) - np.asarray(b)).max() <= tolerance, (a, b)
$1
PYTHON
}

@test "G is the unnormalised DFT over the scan, for even, odd and oblong scans" {
	for shape in 8,9 15,8 5,21; do
		rm -f x.*
		region x "counts = scan(disk(15, 17, 8) * 50 + 0.5, $shape); counts[0, 0] += np.arange(32, dtype='u4')"
		ssb-prep -q x.region $given -o x.spectrum
		check '
p, q, G = s["pixel_index"], s["q_index"], s["G"]
I = counts[:, :, p[:, 0], p[:, 1]].astype(float)
exact = np.fft.rfft2(I, axes=(0, 1))[q[:, 0], q[:, 1]]
N = I.shape[0] * I.shape[1]
u = 2.0 ** -24
excess = (abs(G.astype("c16")) ** 2 - s["counts_sum"]).sum(1)
assert s["excess"].shape == (len(G),) and abs(s["excess"] - excess).max() <= 1e-9 * abs(excess).max()
assert (s["counts_sum"] == counts.sum((0, 1), dtype="u8")[p[:, 0], p[:, 1]]).all() and (G[0] == s["counts_sum"].astype("f4")).all()
error = np.linalg.norm(G[1:] - exact[1:], axis=0) / np.linalg.norm(exact[1:], axis=0)
assert error.max() < u * (1 + 7 * np.log2(N)), error.max() / u
assert (s["sum_pattern"] == counts.sum((0, 1), dtype="u8")).all()
# all bins within the limit and no others, row-major
step, limit = meta["scan_step_A"], 1.05 * 2 * (0.030 + max(meta["detector_sampling_mrad"]) / 2e3) / meta["wavelength_A"]
close(meta["q_limit_per_A"], limit, 1e-12)
r, c = np.meshgrid(np.fft.fftfreq(I.shape[0], step[0]), np.arange(I.shape[1] // 2 + 1) / (I.shape[1] * step[1]), indexing="ij")
assert (np.argwhere(np.hypot(r, c) <= limit) == q).all()'
	done
}

@test "frequencies without double overlap are not stored" {
	region x "counts = scan(disk(15, 17, 8) * 50 + 0.5, 16, 12)"
	ssb-prep -q x.region --kv 300 --semiangle 30 --step 0.1 -o x.spectrum
	check 'assert 1 < len(s["q_index"]) < 16 * 7 / 2 and s["G"].shape == (len(s["q_index"]), len(s["pixel_index"]))'
}

@test "the disk: centre, radius, pixels, sampling and dose" {
	region x "counts = scan(disk(14.7, 17.2, 8) * 50 + 0.5); mask = np.zeros((32, 32), 'u1'); mask[14, 17] = 1; counts[:, :, 14, 17] = 900" --mask mask.npy
	ssb-prep -q x.region $given -o x.spectrum
	check '
M = counts.mean((0, 1)); valid = np.ones(M.shape, bool); valid[14, 17] = False
D = valid & (M > M[valid].mean() + M[valid].std())
centre, radius = np.argwhere(D).mean(0), np.sqrt(D.sum() / np.pi)
close(meta["bf_circle_px"], centre, 1e-12); close(meta["bf_radius_px"], radius, 1e-12)
r, c = np.indices(M.shape)
pixels = np.argwhere(valid & ((r - centre[0]) ** 2 + (c - centre[1]) ** 2 <= radius ** 2))
assert (s["pixel_index"] == pixels).all() and meta["bf_pixels"] == len(pixels)
edge = np.sqrt((valid & (M > np.median(M[D]) / 2)).sum() / np.pi)
close(meta["detector_sampling_rule_mrad"], 30 / edge, 1e-12); close(meta["detector_sampling_mrad"], [30 / edge] * 2, 1e-12)
assert meta["detector_sampling_source"] == "rule" and meta["bf_centre_source"] == "pattern"
origin, about = centre, radius                                      # refined: the edge counts by its brightness
for _ in range(10):
    off = np.hypot(r - origin[0], c - origin[1]) - about
    w = np.where(off > 1.5, 0, np.where(off < -1.5, 1, np.minimum(1, M / np.median(M[D]))))
    origin, about = np.array([(w * r).sum(), (w * c).sum()]) / w.sum(), np.sqrt(w.sum() / np.pi)
close(meta["bf_centre_px"], origin, 1e-9); close(origin, [14.7, 17.2], 0.02)
k = np.hypot(*(pixels - origin).T) / edge * 30                      # mrad
lit = (30 - k) / (30 / edge) + 0.5 >= 1 + 1e-9
close(meta["I0_counts"], M[pixels[lit, 0], pixels[lit, 1]].mean(), 1e-9)
close(meta["wavelength_A"], 0.019687489, 1e-9)'
}

@test "a spot or a hot cluster elsewhere moves nothing and is said" {
	region x "counts = scan(disk(5, 11, 3, (16, 16)) * 50 + 0.5); counts[:, :, 12:14, 2:4] += 80"
	ssb-prep -q x.region $given -o x.spectrum 2>err.txt
	grep -q "4 pixels apart from it are left out; with them its centre would be 5.9" err.txt
	check 'close(meta["bf_centre_px"], [5, 11], 0.2); assert "apart from it" in warnings'
	region x "counts = scan(disk(14.7, 17.2, 8) * 50 + 0.5); counts[:, :, 30:, 30:] = 60000"
	ssb-prep -q x.region $given -o x.spectrum
	check 'close(meta["bf_centre_px"], [14.7, 17.2], 0.2); close(meta["bf_radius_px"], 8, 0.3); assert "4 very bright pixels" in warnings'
}

@test "a disk that is cut, absent or too large asks for centre and radius, which then work" {
	region cut "counts = scan(disk(4, 17, 8) * 50 + 0.5)"
	fails 3 "give --centre and --radius" ssb-prep cut.region $given -o x.spectrum
	fails 3 "give --centre and --radius" ssb-prep cut.region $given --centre 4,17 -o x.spectrum
	fails 3 "give --sampling" ssb-prep cut.region $given --centre 4,17 --radius 8 -o x.spectrum
	cp cut.npy x.npy
	ssb-prep -q cut.region $given --centre 4,17 --radius 8 --sampling 3.75 -o x.spectrum
	check 'assert meta["bf_centre_px"] == [4, 17] and meta["bf_radius_px"] == 8 and "cuts the given disk" in warnings
assert "detector_sampling_rule_mrad" not in meta and meta["bf_centre_source"] == "option"'
	region large "counts = scan(disk(15.5, 15.5, 15) * 50 + 0.5)"
	fails 3 "give --centre and --radius" ssb-prep large.region $given -o x.spectrum
	cp large.npy x.npy
	ssb-prep -q large.region $given --centre 15.5,15.5 --radius 14.5 -o x.spectrum
	check 'close(meta["detector_sampling_rule_mrad"], 2, 0.03)'
	region flat "counts = scan(disk(16, 16, 8)) * 0 + 3"
	fails 3 "no bright-field disk" ssb-prep flat.region $given -o x.spectrum
	region dark "counts = scan(disk(16, 16, 8)) * 0"
	fails 3 "no bright-field disk" ssb-prep dark.region $given -o x.spectrum
	fails 3 "no counts" ssb-prep dark.region $given --centre 16,16 --radius 8 --sampling 3 -o x.spectrum
	[ ! -e y.spectrum ]
}

@test "an ellipse and a ragged edge are reported" {
	region x "
r, c = np.indices((48, 48)); t = np.arctan2(r - 22, c - 25)
counts = scan((((r - 22) / 11.5) ** 2 + ((c - 25) / 10.5) ** 2 + 0.1 * np.sin(9 * t) < 1) * 40.)"
	ssb-prep -q x.region $given -o x.spectrum
	check 'close(meta["bf_axes_ratio"], 11.5 / 10.5, 0.05); assert "ellipse with axes ratio 1.1" in warnings and "a circle of radius" in warnings'
}

@test "a region that lacks part of the disk is refused with the --roi to decode" {
	region x "counts = scan(disk(14.7, 17.2, 8) * 50 + 0.5)"
	ssb-decode -q x.npy --roi 0:20,0:32 -o part.region
	fails 3 "decode again with --roi 7:23,10:26" ssb-prep part.region $given -o y.spectrum
	ssb-decode -q x.npy --roi 7:23,10:26 -o part.region
	ssb-prep -q x.region $given -o x.spectrum
	ssb-prep -q part.region $given -o y.spectrum
	"$PYTHON" -c '
import ssbfile
a, b = ssbfile.load("x.spectrum"), ssbfile.load("y.spectrum")
assert a.meta == b.meta and all((a[n] == b[n]).all() for n in a.arrays)'
}

@test "frames of zeros are counted and named, nothing is NaN" {
	region x "counts = scan(disk(14.7, 17.2, 8) * 50 + 0.5, 6, 10); counts[0, 3] = counts[2, 2] = counts[5, 9] = 0"
	ssb-prep -q x.region $given -o x.spectrum
	check 'assert "3 frames have no counts" in warnings and "0,3; 2,2; 5,9" in warnings
assert np.isfinite(s["G"].view("f4")).all() and np.isfinite(meta["centre_of_mass"]["plain"]["rotation_deg"])'
}

@test "positions without a frame are filled with the mean, and that is said; too many are refused" {
	"$PYTHON" -c '
import numpy as np
r, c = np.indices((24, 24))
m = np.clip(7 - np.hypot(r - 11, c - 12) + 0.5, 0, 1) * 40
np.save("short.npy", np.random.RandomState(3).poisson(m, (62, 24, 24)).astype("u2"))'
	ssb-decode -q short.npy --scan 8x8 --partial --roi full -o x.region
	ssb-prep -q x.region $given -o x.spectrum
	cp short.npy x.npy
	check '
p, q = s["pixel_index"], s["q_index"]
I = counts[:, p[:, 0], p[:, 1]].astype(float)
filled = np.concatenate([I, np.repeat(I.mean(0)[None], 2, 0)]).reshape(8, 8, -1)
exact = np.fft.rfft2(filled, axes=(0, 1))[q[:, 0], q[:, 1]]
close(s["G"][1:], exact[1:], 1e-5 * np.abs(exact[1:]).max())
assert (s["counts_sum"] == I.sum(0)).all() and (s["G"][0] == I.sum(0)).all()
assert meta["filled_positions"] == 2 and "2 of 64 positions have no frame (row,column 7,6; 7,7)" in warnings
close(meta["I0_counts"], 40, 1)'
	ssb-decode -q short.npy --scan 8x10 --partial --roi full -o y.region
	fails 3 "18 of 80 positions have no frame" ssb-prep y.region $given -o y.spectrum
}

@test "what contradicts the data is warned of, with the numbers" {
	region x "counts = scan(disk(14.7, 17.2, 8) * 50 + 0.5)"
	ssb-prep -q x.region $given --sampling 3.4 -o x.spectrum
	check 'assert "contradicts semiangle and sampling" in warnings and "from the given 3.4" in warnings
assert meta["detector_sampling_mrad"] == [3.4, 3.4] and meta["detector_sampling_source"] == "option"'
	ssb-prep -q x.region $given --sampling 3.75,3.8 -o x.spectrum
	check 'assert "contradicts" not in warnings and meta["detector_sampling_mrad"] == [3.75, 3.8]
assert "undersamples 2 alpha/lambda" in warnings and "--upsample auto takes 2" in warnings'
	ssb-prep -q x.region --kv 300 --semiangle 30 --step 0.16 -o x.spectrum
	check 'assert "undersamples" not in warnings'
	ssb-prep -q x.region --kv 300 --semiangle 30 --step 0.16,0.17 -o x.spectrum
	check 'assert "undersamples" in warnings and meta["scan_step_A"] == [0.16, 0.17]'
	fails 3 "no pixel of the bright-field disk" ssb-prep x.region --kv 300 --semiangle 1 --step 0.3 --sampling 3.75 -o y.spectrum
	fails 3 "smaller than the probe" ssb-prep x.region --kv 300 --semiangle 30 --step 0.03 -o y.spectrum
}

@test "saturation, a disk at the detector's edge and a dose too low are warned of" {
	region x "counts = np.minimum(scan(disk(15.5, 15.5, 8) * 230), 255).astype('u1')"
	"$PYTHON" -c 'import numpy as np; np.save("x.npy", np.load("x.npy").astype("u1"))'
	ssb-decode -q x.npy --roi full --bad-pixels keep -o x.region
	ssb-prep -q x.region $given -o x.spectrum
	check 'assert "bright-field pixels are saturated: they reach 255 counts" in warnings'
	region x "counts = scan(disk(7.5, 15, 8) * 50)"
	ssb-prep -q x.region $given --centre 7.5,15 --radius 8.2 --sampling 3.75 -o x.spectrum
	check 'assert "touch the edge of the detector" in warnings'
	region x "counts = scan(disk(15, 15, 8) * 0.1, 32, 32)"
	ssb-prep -q x.region $given -o x.spectrum
	check 'assert "too low to fit" in warnings and "neighbours" not in meta'
}

@test "rotation and transposition: given ones are stored, the wrong sign is told" {
	# deflections along the gradient of a potential, seen by a detector turned by 30 degrees
	region x "
r, c = np.indices((16, 18))
wave = [(1, 2, 0.0), (2, -1, 1.0), (0, 2, 2.0)]
phase = [2 * np.pi * (a * r / 16 + b * c / 18) + p for a, b, p in wave]
down = sum(-a / 16 * np.sin(t) for (a, b, p), t in zip(wave, phase)); right = sum(-b / 18 * np.sin(t) for (a, b, p), t in zip(wave, phase))
cs, sn = np.cos(np.pi / 6), np.sin(np.pi / 6)
dr, dc = down * cs + right * sn, -down * sn + right * cs
counts = np.array([[rng.poisson(disk(15, 15, 8) * 400 * (1 + 0.02 * (dr[i, j] * (np.arange(32)[:, None] - 15) + dc[i, j] * (np.arange(32) - 15)))) for j in range(18)] for i in range(16)])"
	ssb-prep -q x.region $given -o x.spectrum
	check 'c = meta["centre_of_mass"]; close(c["plain"]["rotation_deg"], 30, 2); assert not c["transposed_decided"] and "rotation_deg" not in meta and "transposed" not in meta
assert c["plain"]["residual"] < 0.1 < c["transposed"]["residual"]'
	ssb-prep -q x.region $given --rotation 30 --transpose no -o x.spectrum
	check 'assert meta["rotation_deg"] == 30 and meta["transposed"] is False and "--rotation" not in warnings'
	ssb-prep -q x.region $given --rotation=-150deg -o x.spectrum
	check 'assert meta["rotation_deg"] == -150 and "--rotation" not in warnings'
	ssb-prep -q x.region $given --rotation -30 -o x.spectrum
	check 'assert "--rotation says a rotation of -30 degrees" in warnings and "the sign may be wrong" in warnings'
	ssb-prep -q x.region $given --rotation auto --transpose yes -o x.spectrum
	check 'assert "--transpose yes contradicts the centre of mass" in warnings and meta["transposed"] is True and "rotation_deg" not in meta'
	# what the camera's companion file states is compared, and never used
	for rotation in -30 30; do
		"$PYTHON" - $rotation <<-'PYTHON'
			import sys, h5py, numpy as np
			counts = np.load("x.npy")
			with h5py.File("scan_master.h5", "w") as master, h5py.File("scan.h5", "w") as companion:
			    master["entry/data/data"] = counts.reshape(-1, 32, 32)
			    companion.create_group("STEM Metadata").attrs.update({
			        "NumPixelsX": 18, "NumPixelsY": 16, "Rotation": float(sys.argv[1]), "High Tension": [200e3], "Pixel Size": 0.04})
		PYTHON
		ssb-decode -q scan_master.h5 --roi full -o scan.region
		ssb-prep -q scan.region $given -o x.spectrum
		check 'assert "--kv says 300 kV, the region 200 kV" in warnings and "--step says 0.3,0.3 A, the region 0.4 A" in warnings
assert ("the region says a rotation of -30 degrees" in warnings) == ('$rotation' < 0) and "rotation_deg" not in meta'
	done
}

@test "the same bytes with 1 and 2 threads, from a pipe and a file, in one pass and in several" {
	region x "
r, c = np.indices((32, 32))
counts = rng.poisson(disk(15, 16, 10) * 20 * (1 + 0.1 * rng.normal(size=(72, 97, 1, 1)) * (r - 15) / 10))"
	ssb-prep -q -t 1 x.region $given -o one.spectrum
	ssb-prep -q -t 2 x.region $given -o two.spectrum
	cat x.region | ssb-prep -q - $given >pipe.spectrum
	ssb-prep -v x.region $given --memory 9M -o passes.spectrum 2>err.txt
	grep -q "in [2-9] passes" err.txt
	cmp one.spectrum two.spectrum
	cmp one.spectrum pipe.spectrum
	cmp one.spectrum passes.spectrum
	fails 1 "give --memory" ssb-prep x.region $given --memory 1M -o y.spectrum
	least=$(sed -n 's/.*: \([0-9]*\) MB of memory are needed.*/\1/p' err.txt)
	ssb-prep -q x.region $given --memory "${least}M" -o least.spectrum
	cmp one.spectrum least.spectrum
	cat x.region | { fails 1 "a file" ssb-prep - $given --memory 12M -o y.spectrum; }
	[ ! -e y.spectrum ]
}

@test "half precision: G within half a unit in the last place, the same bytes however made" {
	region x "
r, c = np.indices((32, 32))
counts = rng.poisson(disk(15, 16, 10) * 20 * (1 + 0.1 * rng.normal(size=(72, 97, 1, 1)) * (r - 15) / 10)); counts[5, :, 15, 16] = 3000"
	ssb-prep -q x.region $given -o single.spectrum
	ssb-prep -q -t 1 x.region $given --precision half -o x.spectrum
	ssb-prep -q -t 2 x.region $given --precision half --memory 45M -o passes.spectrum
	ssb-prep -q - $given --precision half <x.region >pipe.spectrum
	cmp x.spectrum pipe.spectrum
	cmp x.spectrum passes.spectrum
	check '
single = ssbfile.load("single.spectrum")
unit, G, H = meta.pop("G_scale"), single["G"], s["G"]
of_single, of_halves = single.meta.pop("neighbours"), meta.pop("neighbours")
assert abs(of_single["C10_nm"] - of_halves["C10_nm"]) < 0.01 and abs(of_single["rotation_deg"] - of_halves["rotation_deg"]) < 0.01
assert single.meta == meta and s.arrays.info["G"].dtype == "c4" and all((s[n] == single[n]).all() for n in s.arrays if n != "G")
sigma, most = np.sqrt(72 * 97 * meta["I0_counts"]), s["counts_sum"].max()
assert np.log2(unit) % 1 == 0 and max(sigma, most / 30000) <= unit < 2 * max(sigma, most / 30000)
assert np.array_equal(H.view("f4"), (G.view("f4") / np.float32(unit)).astype("f2").astype("f4")) and np.isfinite(H).all()'
	[ "$(stat -c %s x.spectrum)" -lt "$(($(stat -c %s single.spectrum) * 6 / 10))" ]
	fails 2 "single|half" ssb-prep -q x.region $given --precision double -o y.spectrum
}

@test "counts in several widths, and a compressed region" {
	region x "counts = scan(disk(15, 17, 8) * 50 + 0.5); counts[4:] *= 40; counts[7] *= 100"
	ssb-prep -q x.region $given -o x.spectrum
	check '
p, q = s["pixel_index"], s["q_index"]
exact = np.fft.rfft2(counts[:, :, p[:, 0], p[:, 1]].astype(float), axes=(0, 1))[q[:, 0], q[:, 1]]
close(s["G"], exact, 1e-6 * np.abs(exact).max())'
	ssb-decode -q x.npy --roi full --codec zstd -o z.region
	ssb-prep -q z.region $given -o z.spectrum
	"$PYTHON" -c '
import ssbfile
a, b = ssbfile.load("x.spectrum"), ssbfile.load("z.spectrum")
assert a.meta == b.meta and (a["G"] == b["G"]).all()'
}

@test "missing and wrong options are misuse" {
	region x "counts = scan(disk(15, 17, 8) * 50 + 0.5)"
	fails 2 "which region" ssb-prep $given
	fails 2 "one region" ssb-prep x.region x.region $given
	fails 2 "--kv is needed" ssb-prep x.region --semiangle 30 --step 0.3 -o y.spectrum
	fails 2 "--semiangle is needed" ssb-prep x.region --kv 300 --step 0.3
	fails 2 "--step is needed" ssb-prep x.region --kv 300 --semiangle 30
	for wrong in "--step 0" "--step nan" "--semiangle inf" "--semiangle 30mm" "--kv -300" "--sampling 0,1" "--centre 3" "--radius 0" "--radius nan" "--rotation east" "--transpose maybe" "-t abc"; do
		fails 2 "${wrong%% *}" ssb-prep x.region $given $wrong -o y.spectrum
	done
	fails 2 "is the input" ssb-prep x.region $given -o x.region
	[ ! -e y.spectrum ]
}

@test "bad input is refused and nothing is left behind" {
	region x "counts = scan(disk(15, 17, 8) * 50 + 0.5)"
	ssb-prep -q x.region $given -o x.spectrum
	fails 3 "is a spectrum, not a region" ssb-prep x.spectrum $given -o y.spectrum
	fails 3 "cannot read 'none.region'" ssb-prep none.region $given -o y.spectrum
	head -c 40000 x.region >short.region
	fails 3 "truncated" ssb-prep short.region $given -o y.spectrum
	cat short.region | { fails 3 "truncated" ssb-prep - $given -o y.spectrum; }
	"$PYTHON" -c '
b = bytearray(open("x.region", "rb").read()); b[len(b) // 2] ^= 1; open("flipped.region", "wb").write(b)'
	fails 3 "fails its checksum" ssb-prep flipped.region $given -o y.spectrum
	fails 1 "No space left" ssb-prep -q x.region $given -o /dev/full
	fails 1 "No such file" ssb-prep -q x.region $given -o none/y.spectrum
	(ulimit -f 20; fails 1 "cannot write 'y.spectrum': File too large" ssb-prep -q x.region $given -o y.spectrum)
	region row "counts = scan(disk(15, 17, 8) * 50, 1, 64)"
	fails 3 "1x64 positions is too small" ssb-prep row.region $given -o y.spectrum
	[ ! -e y.spectrum ] && [ -z "$(ls -A | grep -v 'region$\|npy$\|txt$\|^x.spectrum$')" ]
}

@test "a reader that goes away ends it quietly" {
	region x "counts = scan(disk(15, 17, 8) * 50 + 0.5, 64, 64)"
	{ ssb-prep -q x.region $given 2>err.txt || echo $? >status.txt; } | head -c 10 >/dev/null
	[ "$(cat status.txt)" -eq 141 ]
	! grep -q "cannot write" err.txt
}
