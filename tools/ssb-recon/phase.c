#include "tools/ssb-recon/phase.h"

#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/profile.h"
#include "tools/ssb-recon/halves.h"
#include "tools/transfer/joint.h"

/* In double precision, as the bytes: the product of what options ask for may overflow. */
static double image_count(const phase_images *images, const recon_options *o)
{
	return (double)images->count * (o->thin ? 2 : 1) + (o->halves ? 2 : 0);
}

/* Bytes a pixel: once the half plane, its frequencies and what the polarity sorts; for each image itself, also in single precision, and
 * its sums. */
static double image_bytes(const phase_images *images, const recon_options *o, const evidence *e)
{
	const double pixels = pow((double)images->factor, 2) * (double)e->scan[0] * (double)e->scan[1];
	return pixels * (48 + 32 * image_count(images, o)) + (o->halves ? half_bytes(e) : 0);
}

static bool fits(const phase_images *images, const recon_options *o, const evidence *e, ssb_error *err)
{
	const double bytes = image_bytes(images, o, e);
	if (bytes <= (double)o->common.memory)
		return true;
	return ssb_fail(err, SSB_RUNTIME, "%.0f image%s of %zu x %zu positions, %zu times upsampled, take %.0f MB, which do not fit in --memory",
	                image_count(images, o), image_count(images, o) > 1 ? "s" : "", e->scan[0], e->scan[1], images->factor, bytes / 1e6);
}

/* Every image's parameters: the stack's, then the same without tilt and thickness. */
static bool make_sets(phase_images *images, const optics_parameters *p, const recon_options *o)
{
	images->parameters = calloc(2 * images->count, sizeof *images->parameters);
	for (size_t i = 0; images->parameters && i < images->count; i++) {
		optics_parameters *set = &images->parameters[i], *thin = set + images->count;
		*set = *p;
		if (o->stack)
			optics_set(set, STACK_ORDER, recon_stack_nm(o, i), 0);
		*thin = *set;
		thin->tilt_rad[0] = thin->tilt_rad[1] = thin->thickness_A = 0;
	}
	images->noise_amplification = o->estimator == ESTIMATOR_JOINT ? calloc(2 * images->count, sizeof(double)) : NULL;
	return images->parameters && (images->noise_amplification || o->estimator != ESTIMATOR_JOINT);
}

/* Images of e for the first `sets` parameters; noise_amplification[sets] is for the estimator joint. */
static bool compute_images(const phase_images *images, const backend *b, const evidence *e, size_t sets, const recon_options *o,
                           double *image, double *noise_amplification, ssb_error *err)
{
	const size_t size = images->rows * images->columns, memory = o->common.memory - (size_t)image_bytes(images, o, e);
	if (o->estimator != ESTIMATOR_JOINT)
		return reconstruct_sets(b, e, images->parameters, sets, o->estimator, images->factor, o->epsilon, image, err);
	bool ok = true;
	for (size_t i = 0; ok && i < sets; i++)
		ok = reconstruct_joint(e, &images->parameters[i], images->factor, o->epsilon, memory, image + i * size, &noise_amplification[i], err);
	return ok;
}

static bool compute_halves(phase_images *images, const backend *b, const evidence *e, const recon_options *o, ssb_error *err)
{
	const size_t size = images->rows * images->columns;
	double unused;
	images->halves = malloc(2 * size * sizeof *images->halves);
	bool ok = images->halves || ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (int i = 0; ok && i < 2; i++) {
		evidence *half = half_make(e, i, err);
		ok = half && backend_attach(b, half, err) &&
		     compute_images(images, b, half, 1, o, images->halves + (size_t)i * size, &unused, err);
		backend_detach(b, half);
		half_free(half);
	}
	return ok;
}

bool phase_compute(phase_images *images, const backend *b, const evidence *e, const optics_parameters *p, const recon_options *o,
                   ssb_error *err)
{
	*images = (phase_images){.factor = o->upsample ? o->upsample : reconstruct_auto_factor(e), .count = o->stack ? o->stack : 1};
	images->limit_per_A = 2 * e->geometry.semiangle_rad * exp(p->log_sampling) / e->geometry.wavelength_A;
	message_detail("%zu x %zu positions, %zu bright-field pixels, upsampled %zu times, on %s", e->scan[0], e->scan[1], e->pixels,
	               images->factor, b->name);
	if (!fits(images, o, e, err))
		return false;
	images->rows = images->factor * e->scan[0];
	images->columns = images->factor * e->scan[1];
	const size_t size = images->rows * images->columns, sets = images->count * (o->thin ? 2 : 1);
	images->phase = malloc(sets * size * sizeof *images->phase);
	images->thin = o->thin && images->phase ? images->phase + images->count * size : NULL;
	if (!images->phase || !make_sets(images, p, o))
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	if (o->thin && p->thickness_A == 0)
		message_note("--thin: the parameters have no thickness: 'thin' is the phase itself");
	profile_phase("reconstruct");
	return compute_images(images, b, e, sets, o, images->phase, images->noise_amplification, err) &&
	       (!o->halves || compute_halves(images, b, e, o, err));
}

void phase_free(phase_images *images)
{
	free(images->phase);
	free(images->halves);
	free(images->parameters);
	free(images->noise_amplification);
	*images = (phase_images){0};
}
