#include "tools/ssb-fit/pose.h"

#include <string.h>
#include <strings.h>
#include "tools/common/meta.h"
#include "tools/common/quantity.h"
#include "tools/transfer/calibration.h"

static const double RAD = M_PI / 180;
static const char NAMES[] = "C10, C12, C21, C23, C30, C32, C34, C41, C43, C45, C50, C52, C54, C56, rotation, tilt, thickness, sampling";

/* What a name on the command line stands for: parameters `first` to `last`, and the order or -1. */
typedef struct named { int first, last, order; } named;

static bool find_name(const char *name, size_t length, named *out, ssb_error *err)
{
	static const struct { const char *name; named is; } others[] = {
		{"rotation", {ROTATION, ROTATION, -1}}, {"tilt", {TILT_R, TILT_C, -1}}, {"thickness", {THICKNESS, THICKNESS, -1}},
		{"sampling", {SAMPLING, SAMPLING, -1}},
	};
	char text[16] = "";
	if (length < sizeof text)
		memcpy(text, name, length);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcasecmp(text, others[i].name)) {
			*out = others[i].is;
			return true;
		}
	const int order = optics_find_order(text);
	if (order < 0)
		return ssb_fail(err, SSB_USAGE, "no parameter is called '%.*s' (%s)", (int)(length < 40 ? length : 40), name, NAMES);
	*out = (named){optics_first(order), optics_first(order) + (optics_orders[order].m ? 1 : 0), order};
	return true;
}

/* Split NAME=VALUE. */
static bool split(const char *text, size_t *length, const char **value, ssb_error *err)
{
	const char *equals = strchr(text, '=');
	if (!equals)
		return ssb_fail(err, SSB_USAGE, "'%s' is not NAME=VALUE", text);
	*length = (size_t)(equals - text);
	*value = equals + 1;
	return true;
}

static void mark(fit_problem *problem, const named *n, bool fitted)
{
	for (int i = n->first; i <= n->last; i++)
		problem->fits[i] = fitted;
}

/* ---- --fit, --order ---- */

static bool take_list(fit_problem *problem, const char *list, ssb_error *err)
{
	memset(problem->fits, 0, sizeof problem->fits);
	for (const char *at = list;; at++) {
		const size_t length = strcspn(at, ",");
		named n;
		if (!find_name(at, length, &n, err))
			return false;
		if (problem->fits[n.first])
			return ssb_fail(err, SSB_USAGE, "'%.*s' is there twice", (int)length, at);
		mark(problem, &n, true);
		at += length;
		if (!*at)
			return true;
	}
}

static bool take_parameters(fit_problem *problem, const fit_options *o, ssb_error *err)
{
	const bool rotation_free = problem->fits[ROTATION];
	const int most = o->order == ORDER_AUTO ? 5 : o->order ? o->order : 1;
	for (int i = 0; i < ABERRATIONS; i++)
		problem->fits[i] = aberration_terms[i].n <= most;
	problem->order_auto = o->order == ORDER_AUTO;
	if (!o->fit)
		return true;
	if (!take_list(problem, o->fit, err))
		return ssb_fail_prefix(err, "--fit: ");
	if (problem->fits[ROTATION] && !rotation_free) { /* ssb-prep was given it: the fit starts there */
		problem->rotation_ranged = true;
		problem->rotation_range_rad[0] = problem->held.rotation_rad - 10 * RAD;
		problem->rotation_range_rad[1] = problem->held.rotation_rad + 10 * RAD;
	}
	return true;
}

/* ---- --fix ---- */

static bool fix_transposed(fit_problem *problem, const char *value, ssb_error *err)
{
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return ssb_fail(err, SSB_USAGE, "'%s' is neither yes nor no", value);
	problem->held.transposed = !strcmp(value, "yes");
	problem->transposed_given = true;
	return true;
}

static bool fix_tilt(fit_problem *problem, const char *value, ssb_error *err)
{
	const char *comma = strchr(value, ',');
	if (!comma)
		return ssb_fail(err, SSB_USAGE, "'%s': the tilt has two components, as in 3mrad,-2mrad", value);
	return quantity_parse_n(value, (size_t)(comma - value), QUANTITY_ANGLE, NULL, &problem->held.tilt_rad[0], err) &&
	       quantity_parse(comma + 1, QUANTITY_ANGLE, NULL, &problem->held.tilt_rad[1], err);
}

static bool fix_thickness(fit_problem *problem, const char *value, ssb_error *err)
{
	return quantity_parse(value, QUANTITY_LENGTH, NULL, &problem->held.thickness_A, err) &&
	       (problem->held.thickness_A >= 0 || ssb_fail(err, SSB_USAGE, "'%s' is below 0", value));
}

static bool fix_order(fit_problem *problem, int order, const char *value, ssb_error *err)
{
	double C_nm, phi_deg;
	if (!optics_parse_order(value, order, &C_nm, &phi_deg, err))
		return false;
	optics_set(&problem->held, order, C_nm, phi_deg);
	return true;
}

static bool fix_one(fit_problem *problem, bool listed, const char *text, ssb_error *err)
{
	size_t length = 0;
	const char *value = "";
	named n = {0};
	if (!split(text, &length, &value, err))
		return false;
	if (length == 10 && !strncasecmp(text, "transposed", 10))
		return fix_transposed(problem, value, err);
	if (!find_name(text, length, &n, err))
		return false;
	if (listed && problem->fits[n.first])
		return ssb_fail(err, SSB_USAGE, "'%.*s' is to be fitted, too (--fit)", (int)length, text);
	if (n.first == SAMPLING)
		return ssb_fail(err, SSB_USAGE, "the detector sampling is given to ssb-prep (--sampling)");
	mark(problem, &n, false);
	switch (n.first) {
	case ROTATION: return quantity_parse(value, QUANTITY_ANGLE, NULL, &problem->held.rotation_rad, err);
	case TILT_R: return fix_tilt(problem, value, err);
	case THICKNESS: return fix_thickness(problem, value, err);
	default: return fix_order(problem, n.order, value, err);
	}
}

/* ---- --range ---- */

/* A of one rad of phase at the aperture's edge, for ranges in rad. */
static bool edge_A(const json_t *meta, int order, double *A, ssb_error *err)
{
	double wavelength_A, semiangle_mrad;
	if (!meta_number(meta, "wavelength_A", &wavelength_A, err) || !meta_number(meta, "semiangle_mrad", &semiangle_mrad, err))
		return false;
	const int n = optics_orders[order].n;
	*A = (n + 1) * wavelength_A / (2 * M_PI) / pow(semiangle_mrad * 1e-3, n + 1);
	return true;
}

static bool range_order(fit_problem *problem, int order, const char *value, const json_t *meta, ssb_error *err)
{
	const bool in_rad = strstr(value, "rad") != NULL, round = optics_orders[order].m == 0;
	const enum quantity quantity = in_rad ? QUANTITY_ANGLE : QUANTITY_LENGTH;
	double *range = problem->range_A[order], A = 1;
	if (round ? !quantity_range(value, quantity, NULL, range, err) : !quantity_parse(value, quantity, NULL, &range[1], err))
		return false;
	if (!round && !(range[1] > 0))
		return ssb_fail(err, SSB_USAGE, "'%s': the largest modulus of %s must be above 0", value, optics_orders[order].name);
	if (in_rad && !edge_A(meta, order, &A, err))
		return false;
	range[0] = round ? range[0] * A : 0;
	range[1] *= A;
	return true;
}

static bool range_rotation(fit_problem *problem, const char *value, ssb_error *err)
{
	problem->rotation_ranged = true;
	return quantity_range(value, QUANTITY_ANGLE, NULL, problem->rotation_range_rad, err) &&
	       (problem->rotation_range_rad[1] - problem->rotation_range_rad[0] <= 2 * M_PI ||
	        ssb_fail(err, SSB_USAGE, "'%s' is more than a turn", value));
}

static bool largest(const char *value, enum quantity quantity, double *most, ssb_error *err)
{
	return quantity_parse(value, quantity, NULL, most, err) && (*most > 0 || ssb_fail(err, SSB_USAGE, "'%s' is not above 0", value));
}

static bool range_one(fit_problem *problem, const char *text, const json_t *meta, ssb_error *err)
{
	size_t length = 0;
	const char *value = "";
	named n = {0};
	if (!split(text, &length, &value, err) || !find_name(text, length, &n, err))
		return false;
	if (!problem->fits[n.first])
		return ssb_fail(err, SSB_USAGE, "'%.*s' is not fitted", (int)length, text);
	switch (n.first) {
	case SAMPLING: return ssb_fail(err, SSB_USAGE, "the detector sampling is not searched");
	case ROTATION: return range_rotation(problem, value, err);
	case TILT_R: return largest(value, QUANTITY_ANGLE, &problem->tilt_most_rad, err);
	case THICKNESS: return largest(value, QUANTITY_LENGTH, &problem->thickness_most_A, err);
	default: return range_order(problem, n.order, value, meta, err);
	}
}

/* A start must lie in the ranges that were given. */
static bool start_in_range(const fit_problem *problem, ssb_error *err)
{
	for (int order = 0; order < OPTICS_ORDERS; order++) {
		const double *range = problem->range_A[order];
		double C_nm, phi_deg;
		optics_get(&problem->held, order, &C_nm, &phi_deg);
		if (!isnan(range[1]) && (C_nm * 10 < range[0] || C_nm * 10 > range[1]))
			return ssb_fail(err, SSB_USAGE, "the start's %s, %.3f nm, is outside its range, %.3f to %.3f nm", optics_orders[order].name, C_nm,
			                range[0] / 10, range[1] / 10);
	}
	if (!fit_rotation_in_range(problem, problem->held.rotation_rad))
		return ssb_fail(err, SSB_USAGE, "the start's rotation, %.3f deg, is outside its range", problem->held.rotation_rad / RAD);
	return true;
}

/* ---- headers ---- */

/* What the spectrum says of the orientation: held if ssb-prep was given it (a start fit does not free it), else the centre of mass to
 * start from; 0 where nothing moves. */
static bool take_orientation(fit_problem *problem, const json_t *meta, ssb_error *err)
{
	const json_t *com = json_object_get(meta, "centre_of_mass");
	static const char *const keys[2] = {"plain", "transposed"};
	double rotation_deg;
	for (int i = 0; com && i < 2; i++) {
		if (!meta_number(json_object_get(com, keys[i]), "rotation_deg", &rotation_deg, err))
			return ssb_fail_prefix(err, "centre_of_mass, %s: ", keys[i]);
		problem->com_rotation_rad[i] = rotation_deg * RAD;
	}
	if (json_object_get(meta, "transposed")) {
		if (!meta_boolean(meta, "transposed", &problem->held.transposed, err))
			return false;
		problem->transposed_given = true;
	}
	problem->fits[ROTATION] = !json_object_get(meta, "rotation_deg");
	if (problem->fits[ROTATION])
		return true;
	if (!meta_number(meta, "rotation_deg", &rotation_deg, err))
		return false;
	problem->held.rotation_rad = rotation_deg * RAD;
	return true;
}

static bool take_spectrum(fit_problem *problem, const fit_options *o, const json_t *meta, ssb_error *err)
{
	double rule_mrad = NAN;
	if (!take_orientation(problem, meta, err) || (json_object_get(meta, "detector_sampling_rule_mrad") &&
	                                              !meta_number(meta, "detector_sampling_rule_mrad", &rule_mrad, err)))
		return ssb_fail_prefix(err, "cannot read '%s': ", o->spectrum);
	problem->sampling_rule_rad = rule_mrad * 1e-3;
	return true;
}

static bool take_start(fit_problem *problem, const fit_options *o, const json_t *spectrum_meta, const json_t *start_meta, ssb_error *err)
{
	const json_t *optics = json_object_get(start_meta, "optics");
	problem->has_start = true;
	if (!calibration_same(start_meta, o->start, spectrum_meta, o->spectrum, err))
		return false;
	if (!optics)
		return ssb_fail(err, SSB_BAD_INPUT, "cannot start from '%s': it found nothing", o->start);
	return optics_from_json(&problem->held, optics, err) || ssb_fail_prefix(err, "cannot read '%s': ", o->start);
}

/* ---- what cannot be asked ---- */

static bool check(const fit_problem *problem, const fit_options *o, const json_t *meta, ssb_error *err)
{
	bool rotation_known = problem->fits[ROTATION] || problem->has_start || json_object_get(meta, "rotation_deg"), higher = false;
	for (size_t i = 0; i < o->fix.count; i++)
		rotation_known |= !strncasecmp(o->fix.item[i], "rotation=", 9);
	for (int i = C21a; i < ABERRATIONS; i++)
		higher |= problem->fits[i];
	if (!rotation_known && !o->map.axes)
		return ssb_fail(err, SSB_USAGE, "--fit leaves the rotation out: fit it or give it (--fix rotation=…)");
	if (problem->fits[TILT_R] && !problem->fits[THICKNESS] && problem->held.thickness_A == 0)
		return ssb_fail(err, SSB_USAGE, "a tilt shows in a thick specimen alone: fit the thickness, too, or give it (--fix thickness=…)");
	if (json_object_get(o->common.options, "broad") && !higher)
		return ssb_fail(err, SSB_USAGE, "--broad searches the orders above C12, and none is fitted");
	if (o->branch >= 0 && !problem->fits[ROTATION])
		return ssb_fail(err, SSB_USAGE, "--branch chooses between two rotations, and the rotation is given");
	return !problem->has_start || start_in_range(problem, err);
}

bool fit_pose(fit_problem *problem, const fit_options *o, const json_t *spectrum_meta, const json_t *start_meta, ssb_error *err)
{
	*problem = (fit_problem){.range_A = {{-600, 600}, {0, 150}}, .rotation_range_rad = {0, 2 * M_PI}, .thickness_most_A = 400,
	                         .tilt_most_rad = 0.02, .broad = o->broad, .trials = o->trials, .most_evaluations = o->most_evaluations,
	                         .branch = (enum branch_wanted)(o->branch + 1), .objective = (enum objective_kind)o->objective,
	                         .memory = o->common.memory};
	for (int order = 2; order < OPTICS_ORDERS; order++)
		problem->range_A[order][0] = problem->range_A[order][1] = NAN;
	if (start_meta && !take_start(problem, o, spectrum_meta, start_meta, err))
		return false;
	if (start_meta) /* no search: ranges are those given alone */
		problem->range_A[0][0] = problem->range_A[0][1] = problem->range_A[1][0] = problem->range_A[1][1] = NAN;
	if (!take_spectrum(problem, o, spectrum_meta, err) || !take_parameters(problem, o, err))
		return false;
	for (size_t i = 0; i < o->fix.count; i++)
		if (!fix_one(problem, o->fit != NULL, o->fix.item[i], err))
			return ssb_fail_prefix(err, "--fix: ");
	for (size_t i = 0; i < o->range.count; i++)
		if (!range_one(problem, o->range.item[i], spectrum_meta, err))
			return ssb_fail_prefix(err, "--range: ");
	return check(problem, o, spectrum_meta, err);
}
