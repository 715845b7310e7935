# ssb-sim: the files it writes, read by others, against the truth beside them.
load helpers

small=(--scan 24x20 --detector 40x36 --radius 8 --step 0.3,0.28)

# Python with `master`, `frames`, `truth`, `phase`, `mask` and the pixels' distance from the disk's edge in pixels, of acquisition $1.
python_on() {
	local name=$1; shift
	{ cat <<'END'; cat; } | "$PYTHON" - "$name"
import sys, json, numpy as np, h5py, hdf5plugin
name = sys.argv[1]
master = h5py.File(name + "_master.h5")
links = master["entry/data"]
frames = np.concatenate([links[k][()] for k in sorted(links)])
truth = json.load(open(name + "_truth.json"))
phase = np.load(name + "_truth_phase.npy")
mask = master["entry/instrument/detector/detectorSpecific/pixel_mask"][()]
rows, columns = np.indices(mask.shape)
centre, radius = truth["bf_centre_px"], truth["bf_radius_px"]
beyond = (np.hypot((rows - centre[0]) / radius[0], (columns - centre[1]) / radius[1]) - 1) * min(radius)
lit, dark = beyond < -0.8, beyond > 0.8
END
}

@test "h5py and hdf5plugin read what the camera would have written" {
	ssb-sim -q a "${small[@]}" --frames-per-file 200 --kv 200 --dtype u1
	python_on a <<'END'
assert frames.shape == (480, 40, 36) and frames.dtype == np.uint8, (frames.shape, frames.dtype)
assert truth["data_files"] == ["a_data_%06d.h5" % i for i in (1, 2, 3)]
link = links.get("data_000002", getlink=True)
assert (link.filename, link.path) == ("a_data_000002.h5", "/entry/data/data")
data = links["data_000003"]
assert data.shape == (80, 40, 36) and data.chunks == (1, 40, 36) and data.maxshape == (None, 40, 36)
assert (data.attrs["image_nr_low"], data.attrs["image_nr_high"]) == (401, 480)
assert data.id.get_create_plist().get_filter(0)[:3] == (32008, 1, (0, 4, 1, 0, 2))
detector = master["entry/instrument/detector"]
specific = detector["detectorSpecific"]
assert specific["photon_energy"][()] == 2e5 and specific["photon_energy"].attrs["units"] == b"eV"
assert (specific["nimages"][()], specific["ntrigger"][()]) == (1, 480)
assert (specific["x_pixels_in_detector"][()], specific["y_pixels_in_detector"][()]) == (36, 40)
assert detector["bit_depth_image"][()] == 8 and detector["saturation_value"][()] == 254
END
}

@test "the same seed gives the same bytes, on any number of threads and in any memory" {
	mkdir two again scratch other
	ssb-sim -q a "${small[@]}" --bad-pixels 5 -t 1
	ssb-sim -q two/a "${small[@]}" --bad-pixels 5 -t 2
	sleep 1 # a file that states when it was made would differ
	ssb-sim -q again/a "${small[@]}" --bad-pixels 5 -t 2
	ssb-sim -q scratch/a "${small[@]}" --bad-pixels 5 --memory 300K
	ssb-sim -q other/a "${small[@]}" --bad-pixels 5 --seed 2
	for file in a_*; do
		cmp "$file" "two/$file"
		cmp "$file" "again/$file"
		cmp "$file" "scratch/$file"
	done
	for file in a_data_000001.h5 a_truth_phase.npy; do
		if cmp -s $file other/$file; then false; fi
	done
	[ "$(ls -A | wc -l)" -eq 8 ]
}

@test "vacuum: the dose in the disk, Poisson, nothing outside" {
	ssb-sim -q a "${small[@]}" --phase 0 --dose 7
	python_on a <<'END'
inside = frames[:, lit].astype(float)
assert abs(inside.mean() - 7) < 5 * np.sqrt(7 / inside.size), inside.mean()
assert abs(inside.var() / 7 - 1) < 5 * np.sqrt(2 / inside.size + 1 / 7 / inside.size), inside.var()
assert not frames[:, dark].any() and not phase.any()
END
	ssb-sim -q b "${small[@]}" --phase 0 --dose 1000 --noise none
	python_on b <<'END'
assert (frames[:, lit] == 1000).all() and not frames[:, dark].any()
END
}

@test "bad pixels are what they are said to be, and all are flagged" {
	ssb-sim -q a "${small[@]}" --bad-pixels 7
	python_on a <<'END'
value = {"dead": lambda x: (x == 0).all(), "sentinel": lambda x: (x == 65535).all(), "hot": lambda x: x.min() > 200 and x.max() < 65535}
listed = np.zeros_like(mask)
for bad in truth["bad_pixels"]:
    at = bad["row_px"], bad["column_px"]
    assert value[bad["kind"]](frames[(slice(None), *at)]), bad
    listed[at] = bad["pixel_mask"]
assert len(truth["bad_pixels"]) == 7 and (listed == mask).all() and (mask > 0).sum() == 7
assert (mask[lit] > 0).any() and frames[:, mask == 0].max() < 100
END
}

@test "counts too large for the type are clipped below the sentinel, and said to be" {
	ssb-sim a "${small[@]}" --dtype u1 --dose 250 2>err.txt
	grep -q 'warning: [0-9]* counts are too large for u1' err.txt
	python_on a <<'END'
assert frames.max() == 254 and truth["counts_clipped"] > 0
END
}

# Least squares of physics.md section 6 with the true parameters, written here once more.
@test "reconstructed with the truth, the counts give the truth's phase" {
	ssb-sim -q a --scan 30x27 --step 0.31,0.33 --detector 40x44 --radius 12 --centre 18.2,23.7 --specimen atoms --phase 0.05 \
		--noise none --dose 100000 --dtype u4 --transpose yes --rotation -70 --c21 300nm,40deg --c23 200nm,-15deg --c30 0.02mm
	python_on a <<'END'
wavelength, alpha, sampling = truth["wavelength_A"], truth["semiangle_mrad"] * 1e-3, np.array(truth["detector_sampling_mrad"]) * 1e-3
turn = np.deg2rad(truth["rotation_deg"])
def chi(r, c):
    v, azimuth, total = np.hypot(r, c) * wavelength, np.arctan2(c, r), 0
    for n, m in ((1, 0), (1, 2), (2, 1), (2, 3), (3, 0)):
        total = total + truth[f"C{n}{m}_nm"] * 10 * v ** (n + 1) / (n + 1) * np.cos(m * (azimuth - np.deg2rad(truth.get(f"phi{n}{m}_deg", 0))))
    return 2 * np.pi / wavelength * total
probe = lambda r, c: np.clip((alpha - np.hypot(r, c) * wavelength) / sampling[0] + 0.5, 0, 1) * np.exp(-1j * chi(r, c))
y, x = (rows[lit] - centre[0]) * sampling[0] / wavelength, (columns[lit] - centre[1]) * sampling[1] / wavelength
if truth["transposed"]:
    y, x = x, y
k_r, k_c = y * np.cos(turn) - x * np.sin(turn), y * np.sin(turn) + x * np.cos(turn)
shape, step = truth["scan_shape"], truth["scan_step_A"]
G = np.fft.fft2(frames[:, lit].reshape(*shape, -1), axes=(0, 1))
q_r, q_c = (np.fft.fftfreq(n, d)[..., None] for n, d in zip(shape, step))
q_r, q_c = q_r[:, None], q_c[None]
gamma = probe(k_r - q_r, k_c - q_c) * probe(k_r, k_c).conj() - probe(k_r + q_r, k_c + q_c).conj() * probe(k_r, k_c)
S, W = (G * gamma.conj()).sum(-1), (np.abs(gamma) ** 2).sum(-1)
S[0, 0] = 0
found = np.fft.ifft2(S / (1j * truth["dose_counts_per_bf_pixel"] * (W + 1e-3 * W.max()))).real
correlation, slope = np.corrcoef(found.ravel(), phase.ravel())[0, 1], (found * phase).sum() / (phase ** 2).sum()
assert correlation > 0.985 and abs(slope - 1) < 0.03, (correlation, slope)
END
}

@test "a thick specimen leans as the truth says; its bytes do not depend on the threads; no thickness is a thin one" {
	thick=(--thickness 6nm --tilt "5mrad,-0.2deg" --step 0.4)
	mkdir two flat thin
	ssb-sim -q a "${small[@]}" "${thick[@]}" -t 1
	ssb-sim -q two/a "${small[@]}" "${thick[@]}" -t 2
	ssb-sim -q flat/a "${small[@]}" --step 0.4
	ssb-sim -q thin/a "${small[@]}" --step 0.4 --thickness 0nm
	for file in a_*; do
		cmp "$file" "two/$file"
		cmp "flat/$file" "thin/$file"
	done
	cmp a_truth_phase.npy thin/a_truth_phase.npy
	if cmp -s a_data_000001.h5 thin/a_data_000001.h5; then false; fi
	python_on a <<'END'
assert truth["thickness_nm"] == 6 and np.allclose(truth["tilt_mrad"], [5, np.deg2rad(-200)]), truth["tilt_mrad"]
assert abs(frames[:, lit].mean() / 10 - 1) < 0.1 # elastic: what leaves the disk is little
END
}

@test "the truth phase: mean 0, the peak asked for, finer by the factor asked for" {
	ssb-sim -q a "${small[@]}" --phase 0.2
	ssb-sim -q b "${small[@]}" --phase 0.2 --truth-upsample 4
	python_on b <<'END'
coarse = np.load("a_truth_phase.npy")
assert coarse.shape == (24, 20) and phase.shape == (96, 80) and truth["truth_phase"]["sampling_A"] == [0.075, 0.07]
assert np.abs(phase[::4, ::4] - coarse).max() < 1e-6
assert abs(phase.mean()) < 1e-6 and abs(np.abs(phase).max() - 0.2) < 0.004
END
}

@test "what makes no acquisition is refused, and nothing is written" {
	fails 2 "'0x0' is an empty shape" ssb-sim a --scan 0x0
	fails 2 "--scan: 99999999x99999999" ssb-sim a --scan 99999999x99999999
	fails 2 "no number" ssb-sim a --dose nan
	fails 2 "not positive" ssb-sim a --dose 0
	fails 2 "no number" ssb-sim a --step nan
	fails 2 "needs a unit" ssb-sim a --c10 -12
	fails 2 "needs a unit" ssb-sim a --c12 2nm,20
	fails 2 "has none" ssb-sim a --c30 1mm,20deg
	fails 2 "not within" ssb-sim a --phase -1
	fails 2 "is negative" ssb-sim a --thickness -1nm
	fails 2 "needs a unit" ssb-sim a --thickness 10
	fails 2 "no pair" ssb-sim a --thickness 1nm --tilt 3
	fails 2 "no small angle" ssb-sim a --thickness 1nm --tilt 500,0
	fails 2 "--tilt needs --thickness" ssb-sim a --tilt 1,0
	fails 2 "more than 10000 slices" ssb-sim a --thickness 1mm
	fails 2 "exclude each other" ssb-sim a --radius 5 --sampling 2
	fails 2 "--bad-pixels: 10 of 9" ssb-sim a --detector 3x3 --bad-pixels 10
	fails 2 "more than 60 data files" ssb-sim a --frames-per-file 1
	fails 2 "none of" ssb-sim a --specimen gold
	fails 2 "--seed: more than 9223372036854775807" ssb-sim a --seed 9223372036854775808
	fails 2 "too large to fill with atoms" ssb-sim a --scan 2x2 --step 1e13 --semiangle 1e-11
	fails 2 "holds no specimen frequency" ssb-sim a --scan 1x1
	fails 2 "one NAME" ssb-sim
	fails 2 "names no acquisition" ssb-sim -- -
	fails 1 "cannot write in 'nowhere/'" ssb-sim nowhere/a
	fails 1 "--memory" ssb-sim a --scan 600x600 --memory 2M
	[ "$(ls -A)" = "$(printf 'err.txt\nout.txt')" ]
}

@test "a disk that fills leaves nothing behind" {
	trap '' XFSZ
	ulimit -f 40
	fails 1 "cannot write 'a_data_000001.h5'" ssb-sim a "${small[@]}"
	fails 1 "scratch file" ssb-sim a "${small[@]}" --memory 300K
	[ "$(ls -A)" = "$(printf 'err.txt\nout.txt')" ]
}
