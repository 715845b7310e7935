# ssb-decode on the acquisitions of ../shared/data and the real files of ../shared/cases/files.
load helpers

# The counts of a region, little-endian in the type of the acquisition, as a digest.
digest() { "$PYTHON" -c '
import sys, hashlib, numpy as np, ssbfile
r = ssbfile.load(sys.argv[1])
print(hashlib.sha256(r["counts"].astype("<" + r.meta["stored_dtype"]).tobytes()).hexdigest())' "$1"; }

@test "every acquisition: the counts of h5py and hdf5plugin, at 1 and 2 threads, from a file and from a pipe" {
	needs_shared
	while read -r name scan sha; do
		ssb-decode -q "$SHARED/data/$name/${name}_master.h5" --scan "$scan" --roi full --reproducible -t 1 -o $name.region
		[ "$(digest $name.region)" = "$sha" ]
		ssb-decode -q "$SHARED/data/$name/${name}_master.h5" --scan "$scan" --roi full --reproducible -t 2 | cmp - $name.region
		fails 3 "scan shape unknown" ssb-decode "$SHARED/data/$name/${name}_master.h5"
	done <<-'DIGESTS'
		graphene-thin 64x64 39934c5a04ff0cda448535a47d252f4ecf751f7d068cbce1e5896d54f097f177
		mos2-lowdose 64x64 778b3bd0bd4200d4450acf71f4078b95f9473d18bc7b17c80ed5252556112550
		rect-rotated 45x80 78fd3008ff79f1d4a46c2ce51e3633409a895477515b7bbb12a9398be0ffd201
		srtio3-thick-tilt 64x64 e6d2f3b5ff6e7b371914f8cf2050069ffca5c5423e65b332ad05dd921c316b0e
		thick-weak-tilt 64x64 7e702a0fc1a0c4ee30f032a6e3f13057fe06db2614bacb97d4e0c35804c401f7
		u32-highcount 32x32 9f98b9a4dde61cd1041f50e188631085befaf9b3c6ce97ab0c7a24b3da257fe6
		focus-180 56x60 059c36d967345d377bf90c5a31dcff2c464d58e2eec01a612e74bf197ec401e5
	DIGESTS
}

@test "bad pixels of every acquisition are flagged with their reason" {
	needs_shared
	while read -r name scan; do
		ssb-decode -q "$SHARED/data/$name/${name}_master.h5" --scan "$scan" -o $name.region
		"$PYTHON" - "$SHARED/data/$name/truth.json" $name.region <<-'PYTHON'
			import json, sys, numpy as np, ssbfile
			bad, r = json.load(open(sys.argv[1]))["bad_pixels"], ssbfile.load(sys.argv[2])
			assert np.count_nonzero(r["pixel_flags"]) == len(bad) > 0
			assert np.count_nonzero(r["pixel_flags"] == 3) == np.count_nonzero(r["largest_count"] == np.iinfo(r.meta["stored_dtype"]).max)
		PYTHON
	done <<-'SCANS'
		rect-rotated 45x80
		srtio3-thick-tilt 64x64
		u32-highcount 32x32
	SCANS
}

@test "every dataset of the real files, read by the chunk reader, has its digest" {
	needs_shared
	"$PYTHON" - "$SHARED/cases/files" "$BUILD/tests/dataset" <<-'PYTHON'
		import hashlib, json, subprocess, sys
		folder, reader = sys.argv[1:]
		read = refused = 0
		for e in json.load(open(folder + "/expected.json")):
		    if "sha256" not in e:
		        continue
		    run = subprocess.run([reader, f"{folder}/{e['file']}", e["dataset"]], capture_output=True)
		    if e["filters"] and e["filters"][0][0] == 32001:
		        refused += run.returncode == 1 and b"filter 32001 (blosc) is not supported" in run.stderr
		        continue
		    assert run.returncode == 0 and hashlib.sha256(run.stdout).hexdigest() == e["sha256"], (e["file"], e["dataset"], run.stderr)
		    read += 1
		assert read > 160 and refused == 1, (read, refused)
	PYTHON
}

@test "the real files with frames are decoded, the others refused with the reason" {
	needs_shared
	local f=$SHARED/cases/files
	ssb-decode "$f/bobleesj__quantem.gpu/fixture_master.h5" --roi full -o r.region 2>err.txt
	grep -q "scan 1x1 from attribute scan_shape of '/entry/data'" err.txt
	[ "$(digest r.region)" = 5762071eecb2775e95f1123c409b65e538467b05f6f21ce19a1861b3c926132b ]
	"$PYTHON" -c 'import ssbfile, numpy as np; r = ssbfile.load("r.region")
assert np.argwhere(r["pixel_flags"]).tolist() == [[3, 4]] and r.meta["instrument"]["pixel_row_size_m"] == 7.5e-5, r.meta'
	ssb-decode "$f/bobleesj__quantem.gpu/fixture_u8_data_000001.h5" --roi full --scan 1x1 -o r.region 2>err.txt
	grep -q "no pixel mask" err.txt
	[ "$(digest r.region)" = 202d8f4c733d620e8e01ef296eb755c7ff6c03abda890535727bdad2e153a751 ]
	ssb-decode "$f/silx-kit__hdf5plugin/bitshuffle.h5" --roi full --scan 1x1 -o r.region 2>err.txt
	grep -q "251302 pixels that no mask flags read the sentinel 4294967295" err.txt
	[ "$(digest r.region)" = 3cfd4e6d5b558c7121199b23e4b34514f25cff2ea9cdf8de2d4596f17374ea6a ]
	cp "$f/bobleesj__quantem.gpu/fixture_master.h5" .
	fails 3 "link '/entry/data/data_000001' -> 'fixture_data_000001.h5:/entry/data/data': file 'fixture_data_000001.h5' is missing" \
		ssb-decode fixture_master.h5
	while read -r file words; do
		fails 3 "$words" ssb-decode "$f/$file" --scan 1x1 -o r.region
	done <<-'REFUSED'
		bobleesj__quantem.gpu/fixture_velox.emd frame axis last
		jamesmudd__jhdf/test_userblock_latest.hdf5 no frames
		jamesmudd__jhdf/test_file.hdf5 choose with --dataset: '/nD_Datasets/3D_float32' (2x5x100, <f4), '/nD_Datasets/3D_int32' (2x5x100, <i4)
		dectris__DectrisHdf5/be_extlink1.h5 no frames
		dectris__DectrisHdf5/be_extlink2.h5 no frames
		dectris__DectrisHdf5/family_v16_00000.h5 5120 bytes present, 19408 expected
		NCAS-CMS__pyfive/filter_pipeline_v2.hdf5 float data (<f8) are not supported
		HDFGroup__hdf5_plugins/h5ex_d_blosc.h5 filter 32001 (blosc) is not supported
		usnistgov__h5wasm/empty.h5 has no extent
		kiyo-masui__bitshuffle/regression_0.1.3.h5 no frames
		Apollo3zehn__PureHDF/bitshuffle.h5 no frames
		NCAS-CMS__pyfive/latest.hdf5 no frames
	REFUSED
}
