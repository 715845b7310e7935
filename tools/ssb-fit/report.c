#include "tools/ssb-fit/report.h"

#include <stdio.h>
#include <string.h>
#include "tools/common/message.h"
#include "tools/common/meta.h"
#include "tools/transfer/optics_io.h"

static const double DEG = 180 / M_PI;

/* Standard error of weights . (parameters first, second); NAN where there is none. */
static double combined_error(const fit_result *r, int first, int second, double weight_first, double weight_second)
{
	const int a = parameter_set_find(&r->set, first), b = parameter_set_find(&r->set, second);
	if (!r->worth.has_covariance || a < 0 || b < 0)
		return NAN;
	const double *c = r->worth.covariance;
	const size_t n = r->set.n, i = (size_t)a, j = (size_t)b;
	const double variance = weight_first * weight_first * c[i * n + i] + 2 * weight_first * weight_second * c[i * n + j] +
	                        weight_second * weight_second * c[j * n + j];
	return sqrt(variance);
}

static const char *status_of(const fit_result *r, const fit_problem *problem, int parameter)
{
	if (r->undetermined[parameter] || (problem->fits[parameter] && !r->worth.found))
		return "undetermined";
	return parameter_set_find(&r->set, parameter) >= 0 ? "fitted" : "fixed";
}

/* A row of the list; an undetermined parameter has no value. */
static void add_parameter(json_t *list, const char *status, const char *name, double value, const char *unit, double error)
{
	json_t *p = json_object();
	json_object_set_new(p, "name", json_string(name));
	if (strcmp(status, "undetermined") != 0)
		json_object_set_new(p, "value", json_real(round(value * 1e6) / 1e6 + 0.0));
	json_object_set_new(p, "unit", json_string(unit));
	if (!strcmp(status, "fitted") && isfinite(error))
		json_object_set_new(p, "standard_error", json_real(error));
	json_object_set_new(p, "status", json_string(status));
	json_array_append_new(list, p);
}

static void add_order(json_t *list, const fit_problem *problem, const fit_result *r, const optics_parameters *optics, int order)
{
	const optics_order *o = &optics_orders[order];
	const int first = optics_first(order);
	const char *status = status_of(r, problem, first);
	double C_nm, phi_deg;
	char angle[8];
	optics_get(optics, order, &C_nm, &phi_deg);
	if (!strcmp(status, "fixed") && C_nm == 0 && order > 1)
		return;
	if (o->m == 0) {
		add_parameter(list, status, o->name, C_nm, "nm", combined_error(r, first, first, 0.05, 0.05));
		return;
	}
	const double a = optics->C_A[first], b = optics->C_A[first + 1], size = fmax(hypot(a, b), 1e-300), m = o->m;
	snprintf(angle, sizeof angle, "phi%.2s", o->name + 1);
	add_parameter(list, status, o->name, C_nm, "nm", combined_error(r, first, first + 1, 0.1 * a / size, 0.1 * b / size));
	add_parameter(list, status, angle, phi_deg, "deg",
	              combined_error(r, first, first + 1, -DEG * b / (m * size * size), DEG * a / (m * size * size)));
}

/* A parameter of its own, where it is asked for or not 0: its error is `scale` times that of the fit. */
static void add_single(json_t *list, const fit_problem *problem, const fit_result *r, int parameter, double value, const char *unit, double scale)
{
	const char *status = status_of(r, problem, parameter);
	if (!strcmp(status, "fixed") && value == 0)
		return;
	add_parameter(list, status, fit_parameter_name(parameter), value, unit, combined_error(r, parameter, parameter, scale / 2, scale / 2));
}

static double rotation_deg(const optics_parameters *p)
{
	const double angle = fmod(round(p->rotation_rad * DEG * 1e6) / 1e6, 360);
	return angle < 0 ? angle + 360 : angle;
}

static json_t *parameters(const fit_problem *problem, const fit_result *r, const optics_parameters *p)
{
	json_t *list = json_array();
	for (int order = 0; order < OPTICS_ORDERS; order++)
		add_order(list, problem, r, p, order);
	add_parameter(list, status_of(r, problem, ROTATION), "rotation", rotation_deg(p), "deg", combined_error(r, ROTATION, ROTATION, DEG / 2, DEG / 2));
	add_single(list, problem, r, TILT_R, p->tilt_rad[0] * 1e3, "mrad", 1e3);
	add_single(list, problem, r, TILT_C, p->tilt_rad[1] * 1e3, "mrad", 1e3);
	add_single(list, problem, r, THICKNESS, p->thickness_A / 10, "nm", 0.1);
	const double sampling_mrad = problem->e->geometry.sampling_rad[0] * exp(p->log_sampling) * 1e3;
	if (problem->fits[SAMPLING])
		add_single(list, problem, r, SAMPLING, sampling_mrad, "mrad", sampling_mrad);
	return list;
}

/* What ssb-recon applies: the rotation as it is printed. */
static json_t *optics_json(const optics_parameters *p)
{
	optics_parameters printed = *p;
	printed.rotation_rad = rotation_deg(p) / DEG;
	return optics_to_json(&printed);
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
	json_object_set_new(o, "evaluations", json_integer((json_int_t)r->budget.spent));
	json_object_set_new(o, "passes", json_real(round(r->budget.passes * 100) / 100));
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

static json_t *branches(const fit_problem *problem, const fit_result *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->branches; i++)
		json_array_append_new(list, json_pack("{s: s, s: o, s: o, s: f}", "branch", i == 0 ? "0" : "180", "optics", optics_json(&r->both[i].p), "parameters",
		                                      parameters(problem, r, &r->both[i].p), "polarity", r->both[i].polarity));
	return list;
}

/* The ranges of the search, nm. */
static json_t *ranges(const fit_problem *problem)
{
	json_t *list = json_object();
	for (int order = 0; order < OPTICS_ORDERS; order++) {
		const double *range = problem->range_A[order];
		if (problem->fits[optics_first(order)] && !isnan(range[1]))
			json_object_set_new(list, optics_orders[order].name, json_pack("[f, f]", range[0] / 10, range[1] / 10));
	}
	return list;
}

static void put(json_t *meta, const char *key, json_t *borrowed)
{
	if (borrowed)
		json_object_set(meta, key, borrowed);
}

static json_t *describe(const fit_problem *problem, const fit_result *r, const json_t *spectrum)
{
	json_t *meta = report_instrument(spectrum), *names = json_array();
	json_object_set_new(meta, "found", json_boolean(r->worth.found));
	json_object_set_new(meta, "parameters", parameters(problem, r, &r->best.p));
	if (r->worth.found) {
		json_object_set_new(meta, "optics", optics_json(&r->best.p));
		json_object_set_new(meta, "polarity", polarity_json(r));
	}
	if (r->branches)
		json_object_set_new(meta, "branches", branches(problem, r));
	for (size_t i = 0; i < r->set.n; i++)
		json_array_append_new(names, json_string(fit_parameter_name(r->set.parameter[i])));
	json_object_set_new(meta, "covariance_names", names);
	json_object_set_new(meta, "fitted_objective", json_string(problem->objective == OBJECTIVE_VARIANCE ? "variance" : "likelihood"));
	json_object_set_new(meta, "objective", objective_json(r));
	json_object_set_new(meta, "search_range_nm", ranges(problem));
	put(meta, "searches", r->searches);
	put(meta, "starts", r->starts);
	put(meta, "optima", r->optima);
	put(meta, "orders", r->orders);
	put(meta, "undetermined_directions", r->directions);
	put(meta, "thickness_test", r->thickness);
	put(meta, "variance_fit", r->variance);
	put(meta, "steps", r->steps);
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
	json_t *list = parameters(problem, r, &r->best.p), *p;
	size_t i;
	message_note("explained %.3f +- %.3f of the signal, %.0f passes, %s", r->worth.explained, r->worth.explained_noise,
	             r->budget.passes, r->best.stopped);
	json_array_foreach(list, i, p) {
		const json_t *error = json_object_get(p, "standard_error"), *value = json_object_get(p, "value");
		const char *name = json_string_value(json_object_get(p, "name")), *unit = json_string_value(json_object_get(p, "unit"));
		if (value && error)
			message_note("%-8s %9.3f +- %.3f %s", name, json_number_value(value), json_number_value(error), unit);
		else if (value)
			message_note("%-8s %9.3f %s (%s)", name, json_number_value(value), unit, json_string_value(json_object_get(p, "status")));
		else
			message_note("%-8s undetermined", name);
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
	const ssb_array array = {.name = "covariance", .dtype = SSB_F8, .rank = 2, .shape = {r->set.n, r->set.n}, .chunk_elements = r->set.n * r->set.n,
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
