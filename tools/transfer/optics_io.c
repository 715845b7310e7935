#include "tools/transfer/optics_io.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "tools/common/meta.h"
#include "tools/common/quantity.h"

const optics_order optics_orders[OPTICS_ORDERS] = {
	{"C10", "c10", 1, 0, "minus the defocus"},
	{"C12", "c12", 1, 2, "two-fold astigmatism"},
	{"C21", "c21", 2, 1, "coma"},
	{"C23", "c23", 2, 3, "three-fold astigmatism"},
	{"C30", "c30", 3, 0, "spherical aberration"},
	{"C32", "c32", 3, 2, "star aberration"},
	{"C34", "c34", 3, 4, "four-fold astigmatism"},
	{"C41", "c41", 4, 1, "coma of fourth order"},
	{"C43", "c43", 4, 3, "three-lobe aberration"},
	{"C45", "c45", 4, 5, "five-fold astigmatism"},
	{"C50", "c50", 5, 0, "spherical aberration of fifth order"},
	{"C52", "c52", 5, 2, "star aberration of fifth order"},
	{"C54", "c54", 5, 4, "rosette aberration"},
	{"C56", "c56", 5, 6, "six-fold astigmatism"},
};

static const double RAD = M_PI / 180;

int optics_find_order(const char *name)
{
	for (int i = 0; i < OPTICS_ORDERS; i++)
		if (!strcasecmp(name, optics_orders[i].name))
			return i;
	return -1;
}

int optics_first(int order)
{
	int i = 0;
	for (int o = 0; o < order; o++)
		i += optics_orders[o].m ? 2 : 1;
	return i;
}

void optics_set(optics_parameters *p, int order, double C_nm, double phi_deg)
{
	const int i = optics_first(order), m = optics_orders[order].m;
	p->C_A[i] = 10 * C_nm * (m ? cos(m * phi_deg * RAD) : 1);
	if (m)
		p->C_A[i + 1] = 10 * C_nm * sin(m * phi_deg * RAD);
}

void optics_get(const optics_parameters *p, int order, double *C_nm, double *phi_deg)
{
	const int i = optics_first(order), m = optics_orders[order].m;
	*C_nm = m ? hypot(p->C_A[i], p->C_A[i + 1]) / 10 : p->C_A[i] / 10;
	*phi_deg = m ? atan2(p->C_A[i + 1], p->C_A[i]) / m / RAD : 0;
}

/* A quantity that must state its unit, in `unit`; exact when typed in it, so that a printed value is the value. */
static bool parse_stated(const char *text, size_t length, enum quantity dimension, const char *unit, double *value, ssb_error *err)
{
	return quantity_parse_n(text, length, dimension, NULL, value, err) && quantity_in(text, length, dimension, unit, value, err);
}

bool optics_parse_order(const char *text, int order, double *C_nm, double *phi_deg, ssb_error *err)
{
	const char *comma = strchr(text, ',');
	const size_t length = comma ? (size_t)(comma - text) : strlen(text);
	*C_nm = *phi_deg = 0;
	if (strcmp(text, "0") != 0 && !parse_stated(text, length, QUANTITY_LENGTH, "nm", C_nm, err))
		return false;
	if (comma && !optics_orders[order].m)
		return ssb_fail(err, SSB_USAGE, "'%s': %s has no azimuth", text, optics_orders[order].name);
	if (!comma && optics_orders[order].m && *C_nm != 0)
		return ssb_fail(err, SSB_USAGE, "'%s': %s needs its azimuth too, as in 2nm,20deg", text, optics_orders[order].name);
	return !comma || parse_stated(comma + 1, strlen(comma + 1), QUANTITY_ANGLE, "deg", phi_deg, err);
}

static double rounded(double x)
{
	return round(x * 1e6) / 1e6 + 0.0; /* + 0.0: no negative zero in a header */
}

static void put(json_t *optics, const char *key, double value)
{
	json_object_set_new(optics, key, json_real(rounded(value)));
}

json_t *optics_to_json(const optics_parameters *p)
{
	json_t *optics = json_object();
	for (int o = 0; o < OPTICS_ORDERS; o++) {
		double C_nm, phi_deg;
		char key[16];
		optics_get(p, o, &C_nm, &phi_deg);
		if (rounded(C_nm) == 0)
			continue;
		snprintf(key, sizeof key, "%.3s_nm", optics_orders[o].name);
		put(optics, key, C_nm);
		snprintf(key, sizeof key, "phi%.2s_deg", optics_orders[o].name + 1);
		if (optics_orders[o].m)
			put(optics, key, phi_deg);
	}
	put(optics, "rotation_deg", p->rotation_rad / RAD);
	json_object_set_new(optics, "transposed", json_boolean(p->transposed));
	if (p->tilt_rad[0] != 0 || p->tilt_rad[1] != 0)
		json_object_set_new(optics, "tilt_mrad", json_pack("[f, f]", rounded(p->tilt_rad[0] * 1e3), rounded(p->tilt_rad[1] * 1e3)));
	if (p->thickness_A != 0)
		put(optics, "thickness_nm", p->thickness_A / 10);
	if (rounded(exp(p->log_sampling)) != 1)
		put(optics, "detector_scale", exp(p->log_sampling));
	return optics;
}

/* Take order `o` from the object; adds the keys it used to *used. */
static bool take_order(optics_parameters *p, const json_t *optics, int o, size_t *used, ssb_error *err)
{
	char key[16], angle[16];
	double C_nm, phi_deg = 0;
	snprintf(key, sizeof key, "%.3s_nm", optics_orders[o].name);
	snprintf(angle, sizeof angle, "phi%.2s_deg", optics_orders[o].name + 1);
	if (!json_object_get(optics, key))
		return true;
	if (!meta_number(optics, key, &C_nm, err) || (optics_orders[o].m && !meta_number(optics, angle, &phi_deg, err)))
		return false;
	*used += optics_orders[o].m ? 2 : 1;
	optics_set(p, o, C_nm, phi_deg);
	return true;
}

bool optics_from_json(optics_parameters *p, const json_t *optics, ssb_error *err)
{
	double rotation_deg, tilt_mrad[2] = {0, 0}, thickness_nm = 0, scale = 1;
	size_t used = 2;
	*p = (optics_parameters){0};
	if (!meta_number(optics, "rotation_deg", &rotation_deg, err) || !meta_boolean(optics, "transposed", &p->transposed, err))
		return false;
	for (int o = 0; o < OPTICS_ORDERS; o++)
		if (!take_order(p, optics, o, &used, err))
			return false;
	if (json_object_get(optics, "tilt_mrad") && (!meta_pair(optics, "tilt_mrad", tilt_mrad, err) || !++used))
		return false;
	if (json_object_get(optics, "thickness_nm") && (!meta_number(optics, "thickness_nm", &thickness_nm, err) || !++used))
		return false;
	if (json_object_get(optics, "detector_scale") && (!meta_number(optics, "detector_scale", &scale, err) || !++used))
		return false;
	if (!(scale > 0))
		return ssb_fail(err, SSB_BAD_INPUT, "'detector_scale' is not positive");
	if (used != json_object_size(optics))
		return ssb_fail(err, SSB_BAD_INPUT, "'optics' holds a key that this version does not know");
	p->rotation_rad = rotation_deg * RAD;
	p->tilt_rad[0] = tilt_mrad[0] * 1e-3, p->tilt_rad[1] = tilt_mrad[1] * 1e-3;
	p->thickness_A = thickness_nm * 10;
	p->log_sampling = log(scale);
	return true;
}
