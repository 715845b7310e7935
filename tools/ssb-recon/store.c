#include <stdio.h>
#include <stdlib.h>
#include "tools/common/message.h"
#include "tools/common/meta.h"
#include "tools/common/profile.h"
#include "tools/ssb-recon/frc.h"
#include "tools/ssb-recon/phase.h"

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

/* optics, and what the fit knew of them where they are its own. Those of a stack have no C10: `stack` has every image's. */
static void describe_optics(json_t *meta, const phase_images *images, const recon_options *o, const json_t *fit)
{
	static const char *const fitted[] = {"objective", "polarity", "branch"};
	json_t *optics = optics_to_json(images->parameters);
	if (fit && !o->stack && json_equal(optics, json_object_get(fit, "optics"))) {
		json_t *of_fit = json_object();
		copy_keys(of_fit, fit, fitted, sizeof fitted / sizeof *fitted);
		json_object_set(meta, "parameters", json_object_get(fit, "parameters"));
		json_object_set_new(meta, "fit", of_fit);
	}
	if (o->stack)
		json_object_del(optics, "C10_nm");
	json_object_set_new(meta, "optics", optics);
}

static void describe_stack(json_t *meta, const phase_images *images, const recon_options *o)
{
	json_t *values = json_array(), *polarities = json_array();
	const size_t size = images->rows * images->columns;
	for (size_t i = 0; i < images->count; i++) {
		json_array_append_new(values, json_real(recon_stack_nm(o, i)));
		json_array_append_new(polarities, json_real(phase_polarity(images->phase + i * size, size)));
	}
	json_object_set_new(meta, "stack", json_pack("{s:s, s:s, s:o, s:o}", "parameter", "C10", "unit", "nm", "values", values, "polarity",
	                                             polarities));
}

static bool describe_halves(json_t *meta, const phase_images *images, const double sampling_A[2], ssb_error *err)
{
	ring_correlation frc;
	const double nyquist = 1 / (2 * fmax(sampling_A[0], sampling_A[1])), limit = fmin(nyquist, images->limit_per_A);
	json_t *json = NULL;
	if (frc_make(&frc, images->halves, images->rows, images->columns, sampling_A, limit, err))
		json = frc_to_json(&frc, limit, nyquist < images->limit_per_A ? "Nyquist" : "2 alpha / lambda", err);
	frc_free(&frc);
	if (json)
		json_object_set_new(meta, "fourier_ring_correlation", json);
	return json;
}

static void describe_calculation(json_t *meta, const phase_images *images, const recon_options *o, const evidence *e)
{
	static const char *const estimators[] = {"ls", "ssb", "mean-phase", "joint"};
	const double f = (double)images->factor;
	json_object_set_new(meta, "estimator", json_string(estimators[o->estimator]));
	json_object_set_new(meta, "upsample", json_integer((json_int_t)images->factor));
	json_object_set_new(meta, "sampling_A", json_pack("[f, f]", e->step_A[0] / f, e->step_A[1] / f));
	json_object_set_new(meta, "I0_counts", json_real(e->I0_counts));
	if (o->estimator == ESTIMATOR_LS || o->estimator == ESTIMATOR_JOINT)
		json_object_set_new(meta, "epsilon", json_real(o->epsilon));
}

/* What telling the aliases apart costs. */
static void describe_joint(json_t *meta, json_t *warnings, const phase_images *images, const recon_options *o, const evidence *e)
{
	const size_t needed = reconstruct_auto_factor(e);
	json_t *noise = json_array();
	double most = 0;
	for (size_t i = 0; i < images->count; i++) {
		json_array_append_new(noise, json_real(images->noise_amplification[i]));
		most = fmax(most, images->noise_amplification[i]);
	}
	message_note("noise amplification %.4f: the variance of shot noise in the phase over that of ls%s", most, o->stack ? ", at most" : "");
	json_object_set(meta, "noise_amplification", o->stack ? noise : json_array_get(noise, 0));
	json_decref(noise);
	if (images->factor < needed)
		message_warn(warnings, "upsampled %zu times, not %zu: aliases from beyond the image's frequencies are not told apart",
		             images->factor, needed);
}

static void warn_of_half_turn(json_t *warnings, const phase_images *images)
{
	const double rotation_deg = images->parameters->rotation_rad * 180 / M_PI;
	message_warn(warnings, "the rotation is the centre of mass's, which leaves a half turn open (%.2f or %.2f deg) and is good near focus "
	             "only: the wrong one is C10 and C12 of the wrong sign; atoms are bright where it is right (polarity %.2f)",
	             rotation_deg, rotation_deg + 180, phase_polarity(images->phase, images->rows * images->columns));
}

/* NULL: out of memory. */
static json_t *describe(const phase_images *images, const recon_options *o, const evidence *e, const json_t *spectrum, const json_t *fit,
                        ssb_error *err)
{
	static const char *const instrument[] = {"scan_shape", "scan_step_A", "scan_origin", "high_tension_kV", "wavelength_A",
	                                         "semiangle_mrad", "detector_sampling_mrad", "bf_pixels"};
	json_t *meta = json_object(), *warnings = meta_warnings(spectrum);
	const double f = (double)images->factor, sampling_A[2] = {e->step_A[0] / f, e->step_A[1] / f};
	describe_calculation(meta, images, o, e);
	copy_keys(meta, spectrum, instrument, sizeof instrument / sizeof *instrument);
	describe_optics(meta, images, o, fit);
	if (o->stack)
		describe_stack(meta, images, o);
	else
		json_object_set_new(meta, "polarity", json_real(phase_polarity(images->phase, images->rows * images->columns)));
	json_object_set_new(meta, "object_wave", json_string("exp(i phase)"));
	append_new_warnings(warnings, json_object_get(fit, "warnings"));
	if (o->estimator == ESTIMATOR_JOINT)
		describe_joint(meta, warnings, images, o, e);
	if (!fit && isnan(o->rotation_deg) && !json_object_get(spectrum, "rotation_deg"))
		warn_of_half_turn(warnings, images);
	json_object_set_new(meta, "warnings", warnings);
	if (!images->halves || describe_halves(meta, images, sampling_A, err))
		return meta;
	json_decref(meta);
	return NULL;
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

/* `count` images in single precision, a chunk each; `buffer` holds one. */
static bool write_images(ssb_writer *writer, const double *image, size_t count, size_t size, float *buffer, ssb_error *err)
{
	for (size_t n = 0; n < count; n++) {
		for (size_t i = 0; i < size; i++)
			buffer[i] = (float)image[n * size + i];
		if (!ssb_write_chunk(writer, buffer, SSB_F4, err))
			return false;
	}
	return true;
}

/* An array of the container: `count` images, one [rows, columns] where it is not stacked. */
typedef struct stored { const char *name; const double *image; size_t count; bool stacked; } stored;

static ssb_array array_of(const stored *s, const phase_images *images)
{
	ssb_array array = {.dtype = SSB_F4, .chunk_elements = images->rows * images->columns, .unit = "rad"};
	snprintf(array.name, sizeof array.name, "%s", s->name);
	if (s->stacked)
		array.shape[array.rank++] = s->count;
	array.shape[array.rank++] = images->rows;
	array.shape[array.rank++] = images->columns;
	return array;
}

static bool write_container(const phase_images *images, const recon_options *o, const json_t *meta, const json_t *past, ssb_error *err)
{
	const stored wanted[] = {{"phase", images->phase, images->count, o->stack}, {"thin", images->thin, images->count, o->stack},
	                         {"halves", images->halves, 2, true}};
	enum { MOST = sizeof wanted / sizeof *wanted };
	ssb_array arrays[MOST];
	size_t count = 0;
	for (int i = 0; i < MOST; i++)
		if (wanted[i].image)
			arrays[count++] = array_of(&wanted[i], images);
	const size_t size = images->rows * images->columns;
	float *buffer = malloc(size * sizeof *buffer);
	ssb_writer *writer = buffer ? ssb_writer_open(o->output, SSB_PHASE, meta, past, arrays, count, err) : NULL;
	bool ok = writer || (!buffer && ssb_fail(err, SSB_RUNTIME, "out of memory"));
	for (int i = 0; ok && i < MOST; i++)
		ok = !wanted[i].image || write_images(writer, wanted[i].image, wanted[i].count, size, buffer, err);
	if (ok)
		ok = ssb_writer_finish(writer, err);
	else
		ssb_writer_discard(writer);
	free(buffer);
	return ok;
}

bool phase_store(const phase_images *images, const recon_options *o, const evidence *e, ssb_reader *spectrum, ssb_reader *fit,
                 const json_t *fit_meta, ssb_error *err)
{
	profile_phase("write");
	json_t *past = history(o, spectrum, fit, err);
	json_t *meta = past ? describe(images, o, e, ssb_reader_meta(spectrum), fit_meta, err) : NULL;
	const bool ok = meta && write_container(images, o, meta, past, err);
	json_decref(meta);
	json_decref(past);
	return ok;
}
