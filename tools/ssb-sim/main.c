/* ssb-sim: a 4D-STEM acquisition with known truth, in the files a Dectris Arina writes. */
#include <stdlib.h>
#include <inttypes.h>

#include "tools/common/cli.h"
#include "tools/common/message.h"
#include "tools/common/profile.h"
#include "tools/ssb-sim/counts.h"
#include "tools/ssb-sim/acquisition_files.h"
#include "tools/ssb-sim/acquisition_options.h"
#include "tools/ssb-sim/multislice.h"
#include "tools/ssb-sim/specimen.h"

static void report(const acquisition *a, const char *name, uint64_t clipped)
{
	if (clipped)
		message_warn(NULL, "%" PRIu64 " counts are too large for u%zu and were clipped", clipped, a->element_size);
	message_note("wrote %s_master.h5: %zux%zu positions, %zux%zu pixels; to process it: --scan %zux%zu --kv %.10g --semiangle %.10g --step %.10g,%.10g",
	             name, a->scan[0], a->scan[1], a->detector[0], a->detector[1], a->scan[0], a->scan[1], a->high_tension_kV,
	             1e3 * a->geometry.semiangle_rad, a->step_A[0], a->step_A[1]);
}

static bool simulate(const acquisition *a, const char *name, ssb_error *err)
{
	phase_spectrum phase = {.at = NULL};
	transmission t = {.at = NULL};
	char *folder = acquisition_folder(name, err);
	bad_pixel *bad = folder ? camera_bad_pixels(a, err) : NULL;
	float *truth = NULL;
	counts *c = NULL;
	profile_phase("specimen");
	bool ok = bad && phase_spectrum_make(a, &phase, err) && (truth = phase_image(a, &phase, a->truth_upsample, err)) &&
	          transmission_make(a, &phase, multislice_slices(a), &t, err);
	profile_phase("counts");
	ok = ok && (c = counts_simulate(a, &t, bad, folder, err));
	profile_phase("write");
	ok = ok && acquisition_write(a, name, c, bad, truth, err);
	if (ok)
		report(a, name, counts_clipped(c));
	counts_free(c);
	transmission_free(&t);
	phase_spectrum_free(&phase);
	free(truth);
	free(folder);
	free(bad);
	return ok;
}

int main(int argc, char **argv)
{
	acquisition a;
	cli_common common;
	const char *name;
	ssb_error err = {SSB_OK, ""};
	const bool ok = acquisition_parse(argc, argv, &common, &a, &name, &err) && simulate(&a, name, &err);
	cli_release(&common);
	return cli_end(ok, &err);
}
