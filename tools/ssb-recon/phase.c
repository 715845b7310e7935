#include "tools/ssb-recon/phase.h"

#include <stdlib.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/meta.h"

bool phase_compute(phase_image *image, const backend *b, const evidence *e, const optics_parameters *p, enum estimator estimator,
                   double epsilon, size_t memory, ssb_error *err)
{
	/* Bytes a pixel at most: image, half planes, frequencies and their sums; the division keeps the product from overflowing. */
	const size_t native = e->scan[0] * e->scan[1], most = memory / 80 / native;
	if (image->factor > most / image->factor)
		return ssb_fail(err, SSB_RUNTIME, "%zu times upsampled, %zu x %zu positions do not fit in --memory", image->factor, e->scan[0],
		                e->scan[1]);
	image->count = image->factor * image->factor * native;
	image->value = malloc(image->count * sizeof *image->value);
	if (!image->value)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	if (!reconstruct(b, e, p, estimator, image->factor, epsilon, image->value, err))
		return false;
	image->polarity = phase_polarity(image->value, image->count);
	return true;
}

static void copy_keys(json_t *to, const json_t *from, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (json_object_get(from, keys[i]))
			json_object_set(to, keys[i], json_object_get(from, keys[i]));
}

static void append_new_warnings(json_t *to, const json_t *from)
{
	for (size_t i = 0; i < json_array_size(from); i++) {
		bool there = false;
		for (size_t j = 0; j < json_array_size(to); j++)
			there |= json_equal(json_array_get(to, j), json_array_get(from, i));
		if (!there)
			json_array_append(to, json_array_get(from, i));
	}
}

static json_t *describe(const phase_image *image, const recon_options *o, const evidence *e, const optics_parameters *p,
                        const json_t *spectrum, const json_t *fit)
{
	static const char *const instrument[] = {"scan_shape", "scan_step_A", "scan_origin", "high_tension_kV", "wavelength_A",
	                                         "semiangle_mrad", "detector_sampling_mrad", "bf_pixels"};
	static const char *const fitted[] = {"parameters", "objective", "polarity"};
	static const char *const estimators[] = {"ls", "ssb", "mean-phase"};
	const double f = (double)image->factor;
	json_t *meta = json_object(), *warnings = meta_warnings(spectrum), *optics = optics_to_json(p);
	json_object_set_new(meta, "estimator", json_string(estimators[o->estimator]));
	json_object_set_new(meta, "upsample", json_integer((json_int_t)image->factor));
	json_object_set_new(meta, "sampling_A", json_pack("[f, f]", e->step_A[0] / f, e->step_A[1] / f));
	copy_keys(meta, spectrum, instrument, sizeof instrument / sizeof *instrument);
	json_object_set_new(meta, "I0_counts", json_real(e->I0_counts));
	if (o->estimator == ESTIMATOR_LS)
		json_object_set_new(meta, "epsilon", json_real(o->epsilon));
	if (fit && json_equal(optics, json_object_get(fit, "optics"))) {
		json_t *of_fit = json_object();
		copy_keys(of_fit, fit, fitted, sizeof fitted / sizeof *fitted);
		json_object_set(meta, "parameters", json_object_get(fit, "parameters"));
		json_object_set_new(meta, "fit", of_fit);
		json_object_del(of_fit, "parameters");
	}
	json_object_set_new(meta, "optics", optics);
	json_object_set_new(meta, "polarity", json_real(image->polarity));
	json_object_set_new(meta, "object_wave", json_string("exp(i phase)"));
	append_new_warnings(warnings, json_object_get(fit, "warnings"));
	if (!fit && isnan(o->rotation_deg) && !json_object_get(spectrum, "rotation_deg"))
		message_warn(warnings, "the rotation is the centre of mass's, which leaves a half turn open (%.2f or %.2f deg) and is good near focus "
		             "only: the wrong one is C10 and C12 of the wrong sign; atoms are bright where it is right (polarity %.2f)",
		             p->rotation_rad * 180 / M_PI, p->rotation_rad * 180 / M_PI + 180, image->polarity);
	json_object_set_new(meta, "warnings", warnings);
	return meta;
}

/* history: the fit's where there is one (it begins with the spectrum's), then this stage. */
static json_t *history(const recon_options *o, ssb_reader *spectrum, ssb_reader *fit, ssb_error *err)
{
	char digest[17];
	json_t *inputs = json_array();
	if (!ssb_reader_finish(spectrum, digest, err)) {
		json_decref(inputs);
		return NULL;
	}
	json_array_append_new(inputs, meta_input(spectrum, digest));
	if (fit) {
		if (!ssb_reader_finish(fit, digest, err)) {
			json_decref(inputs);
			return NULL;
		}
		json_array_append_new(inputs, meta_input(fit, digest));
	}
	return cli_history(&recon_program, &o->common, ssb_reader_history(fit ? fit : spectrum), inputs);
}

static bool write_phase(const phase_image *image, const char *path, const evidence *e, const json_t *meta, const json_t *past,
                        ssb_error *err)
{
	const size_t columns = image->factor * e->scan[1], rows = image->factor * e->scan[0];
	const ssb_array array = {.name = "phase", .dtype = SSB_F4, .rank = 2, .shape = {rows, columns}, .chunk_elements = image->count,
	                         .unit = "rad"};
	float *values = malloc(image->count * sizeof *values);
	if (!values)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; i < image->count; i++)
		values[i] = (float)image->value[i];
	ssb_writer *writer = ssb_writer_open(path, SSB_PHASE, meta, past, &array, 1, err);
	bool ok = writer && ssb_write_array(writer, values, err);
	if (ok)
		ok = ssb_writer_finish(writer, err);
	else
		ssb_writer_discard(writer);
	free(values);
	return ok;
}

bool phase_store(const phase_image *image, const recon_options *o, const evidence *e, const optics_parameters *p, ssb_reader *spectrum,
                 ssb_reader *fit, ssb_error *err)
{
	json_t *past = history(o, spectrum, fit, err);
	if (!past)
		return false;
	json_t *meta = describe(image, o, e, p, ssb_reader_meta(spectrum), fit ? ssb_reader_meta(fit) : NULL);
	const bool ok = write_phase(image, o->output, e, meta, past, err);
	json_decref(meta);
	json_decref(past);
	return ok;
}

void phase_free(phase_image *image)
{
	free(image->value);
	image->value = NULL;
}
