/* ssb-recon: the phase image from a spectrum and a fit. */
#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/meta.h"
#include "tools/ssb-recon/options.h"
#include "tools/ssb-recon/phase.h"
#include "tools/transfer/calibration.h"

typedef struct inputs {
	ssb_reader *spectrum, *fit;
	evidence *e;
	optics_parameters parameters;
} inputs;

static bool load(const recon_options *o, const backend *b, inputs *in, ssb_error *err)
{
	if (o->fit && !(in->fit = ssb_reader_open_kind(o->fit, SSB_FIT, o->common.memory, err)))
		return false;
	if (!(in->spectrum = ssb_reader_open_kind(o->spectrum, SSB_SPECTRUM, o->common.memory, err)))
		return false;
	const json_t *fit = in->fit ? ssb_reader_meta(in->fit) : NULL, *spectrum = ssb_reader_meta(in->spectrum);
	if (fit && !calibration_same(fit, o->fit, spectrum, o->spectrum, err))
		return false;
	if (fit && !json_object_get(fit, "optics")) {
		ssb_fail(err, SSB_BAD_INPUT, "cannot use '%s': it found nothing; give aberrations instead (--c10 …)", o->fit);
		return false;
	}
	return recon_parameters(o, json_object_get(fit, "optics"), spectrum, &in->parameters, err) &&
	       (in->e = evidence_load(in->spectrum, err)) && backend_attach(b, in->e, err);
}

static void release(inputs *in, const backend *b, recon_options *o)
{
	backend_detach(b, in->e);
	evidence_free(in->e);
	ssb_reader_close(in->spectrum);
	ssb_reader_close(in->fit);
	cli_release(&o->common);
}

int main(int argc, char **argv)
{
	recon_options o;
	inputs in = {0};
	ssb_error err;
	phase_image image = {0};
	recon_parse(&o, argc, argv);
	const backend *b = backend_open(o.device, &err);
	bool ok = b && load(&o, b, &in, &err);
	if (ok) {
		image.factor = o.upsample ? o.upsample : reconstruct_auto_factor(in.e);
		message_detail("%zu x %zu positions, %zu bright-field pixels, upsampled %zu times, on %s", in.e->scan[0], in.e->scan[1],
		               in.e->pixels, image.factor, b->name);
		ok = phase_compute(&image, b, in.e, &in.parameters, o.estimator, o.epsilon, o.common.memory, &err) &&
		     phase_store(&image, &o, in.e, &in.parameters, in.spectrum, in.fit, &err);
	}
	phase_free(&image);
	release(&in, b, &o);
	return cli_end(ok, &err);
}
