/* ssb-recon: the phase image from a spectrum and a fit. */
#include "tools/common/profile.h"
#include "tools/ssb-recon/options.h"
#include "tools/ssb-recon/phase.h"
#include "tools/transfer/calibration.h"

typedef struct inputs {
	ssb_reader *spectrum, *fit;
	json_t *fit_meta; /* of the branch asked for; owned */
	evidence *e;
	optics_parameters parameters;
} inputs;

static bool load(const recon_options *o, const backend *b, inputs *in, ssb_error *err)
{
	if (o->fit && !((in->fit = ssb_reader_open_kind(o->fit, SSB_FIT, o->common.memory, err)) &&
	                (in->fit_meta = recon_fit_meta(o, ssb_reader_meta(in->fit), err))))
		return false;
	if (!(in->spectrum = ssb_reader_open_kind(o->spectrum, SSB_SPECTRUM, o->common.memory, err)))
		return false;
	const json_t *spectrum = ssb_reader_meta(in->spectrum);
	if (in->fit && !calibration_same(in->fit_meta, o->fit, spectrum, o->spectrum, err))
		return false;
	if (in->fit && !json_object_get(in->fit_meta, "optics")) {
		ssb_fail(err, SSB_BAD_INPUT, "cannot use '%s': it found nothing; give aberrations instead (--c10 …)", o->fit);
		return false;
	}
	return recon_parameters(o, json_object_get(in->fit_meta, "optics"), spectrum, &in->parameters, err) &&
	       (in->e = evidence_load(in->spectrum, err)) && backend_attach(b, in->e, err);
}

static void release(inputs *in, const backend *b, recon_options *o)
{
	backend_detach(b, in->e);
	evidence_free(in->e);
	json_decref(in->fit_meta);
	ssb_reader_close(in->spectrum);
	ssb_reader_close(in->fit);
	cli_release(&o->common);
}

int main(int argc, char **argv)
{
	recon_options o;
	inputs in = {0};
	ssb_error err;
	phase_images images = {0};
	recon_parse(&o, argc, argv);
	profile_phase("read");
	const backend *b = recon_backend(&o, &err);
	const bool ok = b && load(&o, b, &in, &err) && phase_compute(&images, b, in.e, &in.parameters, &o, &err) && evidence_verify(in.e, &err) &&
	                phase_store(&images, &o, in.e, in.spectrum, in.fit, in.fit_meta, &err);
	phase_free(&images);
	release(&in, b, &o);
	return cli_end(ok, &err);
}
