# ssb-prep against the oracle's golden vectors and the acquisitions of ../shared.
load helpers

@test "golden vectors: pixels, centre, radius, sampling, I0 and G" {
	needs_shared
	for name in even odd; do
		v=$SHARED/oracle/vectors/$name
		"$PYTHON" - "$v" <<-'PYTHON'
			import json, sys, numpy as np
			np.save("mask.npy", (np.load(sys.argv[1] + "/valid.npy") == 0).astype("u1"))
			a = json.load(open(sys.argv[1] + "/acquisition.json"))
			pair = lambda x: ",".join(map(repr, x))
			print("--kv", a["voltage_kV"], "--semiangle", 1e3 * a["semiangle_rad"], "--step", pair(a["scan_step_A"]),
			      "--sampling", pair([1e3 * s for s in a["sampling_rad"]]), file=open("options.txt", "w"))
			print("--centre", pair(a["bf_centre_px"]), file=open("centre.txt", "w"))
		PYTHON
		ssb-decode -q "$v/counts.npy" --roi full --mask mask.npy -o $name.region
		ssb-prep -q $name.region $(cat options.txt) -o measured.spectrum
		ssb-prep -q $name.region $(cat options.txt) $(cat centre.txt) -o $name.spectrum # k is 0 where the vectors have it
		"$PYTHON" - "$v" $name <<-'PYTHON'
			import json, sys, numpy as np, ssbfile
			v, s = sys.argv[1], ssbfile.load(sys.argv[2] + ".spectrum")
			a, q = json.load(open(v + "/acquisition.json")), s["q_index"]
			close = lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-12)
			close(s.meta["wavelength_A"], a["wavelength_A"])
			measured = ssbfile.load("measured.spectrum")
			close(measured.meta["bf_circle_px"], a["bf_centre_px"])
			close(measured.meta["bf_radius_px"], a["bf_radius_px"])
			assert (measured["pixel_index"] == s["pixel_index"]).all() and np.hypot(*np.subtract(measured.meta["bf_centre_px"], a["bf_centre_px"])) < 0.1
			close(s.meta["detector_sampling_rule_mrad"], 1e3 * a["sampling_from_semiangle_rad"])
			close(s.meta["I0_counts"], a["I0"])
			assert (s["pixel_index"] == np.load(v + "/pixels.npy")).all()
			exact = np.load(v + "/G.npy")[q[:, 0], q[:, 1]]
			assert len(q) == np.prod(np.load(v + "/m.npy").shape)
			error = np.linalg.norm((s["G"] - exact)[1:], axis=0) / np.linalg.norm(exact[1:], axis=0)
			N = np.prod(a["scan_shape"])
			assert error.max() < 2.0 ** -24 * (1 + 7 * np.log2(N)), error.max()   # derived in tools/ssb-prep/transform.h
			assert (s["G"][0] == exact[0]).all()
		PYTHON
	done
}

# Over the truth: sampling by the rule and dose of a fully lit pixel, and the centre of mass's error in degrees, as the table of
# ../shared/data/README.md has them (the dose of rect-rotated, whose edge is hard and not soft, by physics.md's definition: pixels
# with A = 1; the table weights all pixels by A squared).
@test "acquisitions: sampling, dose, rotation by the centre of mass, transposition" {
	needs_shared
	while read -r name sampling dose rotation; do
		folder=$SHARED/data/$name
		"$PYTHON" - "$folder/truth.json" >options.txt <<-'PYTHON'
			import json, sys
			t = json.load(open(sys.argv[1]))
			print("--scan", "%dx%d" % tuple(t["scan_shape"]))
			print("--kv", t["voltage_kV"], "--semiangle", t["semiangle_mrad"], "--step", t["scan_step_A"])
		PYTHON
		ssb-decode -q "$folder/${name}_master.h5" $(head -1 options.txt) | ssb-prep -q - $(tail -1 options.txt) -o $name.spectrum
		"$PYTHON" - "$folder/truth.json" $name.spectrum "$sampling" "$dose" "$rotation" <<-'PYTHON'
			import json, sys, numpy as np, ssbfile
			t, m = json.load(open(sys.argv[1])), ssbfile.load(sys.argv[2]).meta
			sampling, dose, rotation = map(float, sys.argv[3:])
			com = m["centre_of_mass"]
			error = com["transposed" if t["transposed"] else "plain"]["rotation_deg"] - t["rotation_deg"]
			got = [m["detector_sampling_mrad"][0] / t["detector_sampling_mrad"], m["I0_counts"] / t["dose_counts_per_bf_pixel_vacuum"],
			       (error + 90) % 180 - 90]
			print(t["name"], got, com["transposed_decided"])
			assert abs(got[0] - sampling) < 1e-4 and abs(got[1] - dose) < 2e-3 and abs(got[2] - rotation) < 0.02
			assert com["transposed_decided"] == t["transposed"]
			assert np.hypot(*np.subtract(m["bf_centre_px"], t["detector_centre_px"])) < 0.1
			assert not any("contradict" in w["text"] for w in m["warnings"])
			if t["name"] != "u32-highcount":
			    assert not any("saturated" in w["text"] or "too low" in w["text"] for w in m["warnings"])
		PYTHON
	done <<-'TABLE'
		graphene-thin 1.0103 0.9997 2.62
		mos2-lowdose 1.0095 0.9844 -3.55
		rect-rotated 1.0018 0.9994 1.42
		srtio3-thick-tilt 1.0066 0.8612 0.73
		thick-weak-tilt 1.0139 0.9998 -0.70
		u32-highcount 1.0117 0.9956 0.03
		focus-180 1.0109 0.9978 0.43
	TABLE
}
