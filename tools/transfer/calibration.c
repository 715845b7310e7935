#include "tools/transfer/calibration.h"

#include <math.h>
#include "tools/common/meta.h"

static bool same(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

static bool same_number(const json_t *fit, const json_t *spectrum, const char *key, ssb_error *err)
{
	double a, b;
	if (!meta_number(fit, key, &a, err) || !meta_number(spectrum, key, &b, err))
		return false;
	return same(a, b) || ssb_fail(err, SSB_BAD_INPUT, "%s is %.9g in the fit and %.9g in the spectrum", key, a, b);
}

static bool same_pair(const json_t *fit, const json_t *spectrum, const char *key, ssb_error *err)
{
	double a[2], b[2];
	if (!meta_pair(fit, key, a, err) || !meta_pair(spectrum, key, b, err))
		return false;
	return (same(a[0], b[0]) && same(a[1], b[1])) ||
	       ssb_fail(err, SSB_BAD_INPUT, "%s is %.9g, %.9g in the fit and %.9g, %.9g in the spectrum", key, a[0], a[1], b[0], b[1]);
}

bool calibration_same(const json_t *fit, const char *fit_path, const json_t *spectrum, const char *spectrum_path, ssb_error *err)
{
	return (same_number(fit, spectrum, "high_tension_kV", err) && same_number(fit, spectrum, "wavelength_A", err) &&
	        same_number(fit, spectrum, "semiangle_mrad", err) && same_pair(fit, spectrum, "detector_sampling_mrad", err)) ||
	       ssb_fail_prefix(err, "cannot use '%s' with '%s': ", fit_path, spectrum_path);
}
