#include "tools/ssb-fit/report.h"

#include <stdio.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/meta.h"
#include "tools/transfer/optics_io.h"

static const double DEG = 180 / M_PI;

static int position(const fit_result *r, int parameter)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->parameter[i] == parameter)
			return (int)i;
	return -1;
}

/* Standard error of weights . (parameters first, second); NAN where there is none. */
static double combined_error(const fit_result *r, int first, int second, double weight_first, double weight_second)
{
	const int a = position(r, first), b = position(r, second);
	if (!r->worth.has_covariance || a < 0 || b < 0)
		return NAN;
	const double *c = r->worth.covariance;
	const size_t n = r->n, i = (size_t)a, j = (size_t)b;
	const double variance = weight_first * weight_first * c[i * n + i] + 2 * weight_first * weight_second * c[i * n + j] +
	                        weight_second * weight_second * c[j * n + j];
	return sqrt(variance);
}

static void add_parameter(json_t *list, const fit_result *r, const char *name, double value, const char *unit, double error, bool fitted)
{
	json_t *p = json_object();
	json_object_set_new(p, "name", json_string(name));
	if (r->worth.found || !fitted)
		json_object_set_new(p, "value", json_real(round(value * 1e6) / 1e6 + 0.0));
	json_object_set_new(p, "unit", json_string(unit));
	if (r->worth.found && fitted && isfinite(error))
		json_object_set_new(p, "standard_error", json_real(error));
	json_object_set_new(p, "status", json_string(!fitted ? "fixed" : r->worth.found ? "fitted" : "undetermined"));
	json_array_append_new(list, p);
}

static void add_order(json_t *list, const fit_result *r, int order)
{
	const optics_parameters *p = &r->best.p;
	const optics_order *o = &optics_orders[order];
	double C_nm, phi_deg;
	char angle[8];
	int first = 0;
	while (strncmp(aberration_terms[first].name, o->name, 3) != 0)
		first++;
	const bool fitted = position(r, first) >= 0;
	optics_get(p, order, &C_nm, &phi_deg);
	if (!fitted && C_nm == 0 && order > 1)
		return;
	if (o->m == 0) {
		add_parameter(list, r, o->name, C_nm, "nm", combined_error(r, first, first, 0.05, 0.05), fitted);
		return;
	}
	const double a = p->C_A[first], b = p->C_A[first + 1], size = fmax(hypot(a, b), 1e-300), m = o->m;
	snprintf(angle, sizeof angle, "phi%.2s", o->name + 1);
	add_parameter(list, r, o->name, C_nm, "nm", combined_error(r, first, first + 1, 0.1 * a / size, 0.1 * b / size), fitted);
	add_parameter(list, r, angle, phi_deg, "deg",
	              combined_error(r, first, first + 1, -DEG * b / (m * size * size), DEG * a / (m * size * size)), fitted);
}

static double rotation_deg(const fit_result *r)
{
	const double angle = fmod(round(r->best.p.rotation_rad * DEG * 1e6) / 1e6, 360);
	return angle < 0 ? angle + 360 : angle;
}

static json_t *parameters(const fit_result *r)
{
	json_t *list = json_array();
	for (int order = 0; order < OPTICS_ORDERS; order++)
		add_order(list, r, order);
	add_parameter(list, r, "rotation", rotation_deg(r), "deg", combined_error(r, ROTATION, ROTATION, DEG / 2, DEG / 2),
	              position(r, ROTATION) >= 0);
	return list;
}

static void put_finite(json_t *object, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(object, key, json_real(value));
}

static json_t *objective_json(const fit_result *r)
{
	json_t *o = json_object();
	put_finite(o, "likelihood", r->best.L);
	put_finite(o, "explained", r->worth.explained);
	put_finite(o, "explained_noise", r->worth.explained_noise);
	put_finite(o, "significance", r->worth.significance);
	if (r->worth.found)
		put_finite(o, "variance_rad2", r->variance_rad2);
	json_object_set_new(o, "evaluations", json_integer((json_int_t)r->evaluations));
	return o;
}

static json_t *polarity_json(const fit_result *r)
{
	json_t *p = json_object();
	put_finite(p, "value", r->polarity_taken);
	put_finite(p, "value_as_fitted", r->polarity);
	json_object_set_new(p, "branch", json_string(r->branch));
	return p;
}

json_t *report_instrument(const json_t *spectrum)
{
	static const char *const instrument[] = {"high_tension_kV", "wavelength_A", "semiangle_mrad", "detector_sampling_mrad", "scan_step_A",
	                                         "scan_shape", "scan_origin", "I0_counts", "bf_pixels"};
	json_t *meta = json_object();
	for (size_t i = 0; i < sizeof instrument / sizeof *instrument; i++)
		if (json_object_get(spectrum, instrument[i]))
			json_object_set(meta, instrument[i], json_object_get(spectrum, instrument[i]));
	return meta;
}

static json_t *describe(const fit_problem *problem, const fit_result *r, const json_t *spectrum)
{
	json_t *meta = report_instrument(spectrum), *names = json_array();
	json_object_set_new(meta, "found", json_boolean(r->worth.found));
	json_object_set_new(meta, "parameters", parameters(r));
	if (r->worth.found) {
		optics_parameters p = r->best.p;
		p.rotation_rad = rotation_deg(r) / DEG;
		json_object_set_new(meta, "optics", optics_to_json(&p));
		json_object_set_new(meta, "polarity", polarity_json(r));
	}
	for (size_t i = 0; i < r->n; i++)
		json_array_append_new(names, json_string(fit_parameter_name(r->parameter[i])));
	json_object_set_new(meta, "covariance_names", names);
	json_object_set_new(meta, "objective", objective_json(r));
	json_object_set_new(meta, "search_range_nm", json_pack("{s: [f, f], s: f}", "C10", problem->C10_range_A[0] / 10,
	                                                       problem->C10_range_A[1] / 10, "C12", problem->C12_most_A / 10));
	json_object_set(meta, "searches", r->searches);
	json_object_set(meta, "starts", r->starts);
	json_object_set(meta, "steps", r->steps);
	json_object_set_new(meta, "stopped", json_string(r->best.stopped));
	json_object_set(meta, "warnings", r->warnings);
	return meta;
}

json_t *report_history(const fit_options *o, ssb_reader *spectrum, ssb_reader *start, ssb_error *err)
{
	json_t *inputs = json_array();
	ssb_reader *const readers[2] = {spectrum, start};
	for (int i = 0; i < 2 && readers[i]; i++) {
		char digest[17];
		if (!ssb_reader_finish(readers[i], digest, err)) {
			json_decref(inputs);
			return NULL;
		}
		json_array_append_new(inputs, meta_input(readers[i], digest));
	}
	return cli_history(&fit_program, &o->common, ssb_reader_history(spectrum), inputs);
}

void report_say(const fit_problem *problem, const fit_result *r)
{
	json_t *list = parameters(r), *p;
	size_t i;
	message_note("explained %.3f +- %.3f of the signal, %zu evaluations, %s", r->worth.explained, r->worth.explained_noise,
	             r->evaluations, r->best.stopped);
	json_array_foreach(list, i, p) {
		const json_t *error = json_object_get(p, "standard_error"), *value = json_object_get(p, "value");
		const char *name = json_string_value(json_object_get(p, "name")), *unit = json_string_value(json_object_get(p, "unit"));
		if (value && error)
			message_note("%-8s %9.3f +- %.3f %s", name, json_number_value(value), json_number_value(error), unit);
		else if (value)
			message_note("%-8s %9.3f %s (%s)", name, json_number_value(value), unit, json_string_value(json_object_get(p, "status")));
	}
	if (r->worth.found)
		message_note("detector %stransposed%s; polarity %.2f, branch %s", r->best.p.transposed ? "" : "not ",
		             problem->transposed_given ? " (given)" : "", r->polarity_taken, r->branch);
	json_decref(list);
}

bool report_store(const fit_problem *problem, const fit_result *r, const fit_options *o, ssb_reader *spectrum, ssb_reader *start,
                  ssb_error *err)
{
	json_t *past = report_history(o, spectrum, start, err);
	if (!past)
		return false;
	json_t *meta = describe(problem, r, ssb_reader_meta(spectrum));
	const bool covariance = r->worth.found && r->worth.has_covariance;
	const ssb_array array = {.name = "covariance", .dtype = SSB_F8, .rank = 2, .shape = {r->n, r->n}, .chunk_elements = r->n * r->n,
	                         .unit = "A, rad"};
	ssb_writer *writer = ssb_writer_open(o->output, SSB_FIT, meta, past, &array, covariance ? 1 : 0, err);
	bool ok = writer && (!covariance || ssb_write_array(writer, r->worth.covariance, err));
	if (ok)
		ok = ssb_writer_finish(writer, err);
	else
		ssb_writer_discard(writer);
	json_decref(meta);
	json_decref(past);
	return ok;
}
