#include "tools/transfer/backend.h"

static double *slot(optics_parameters *p, int parameter)
{
	switch (parameter) {
	case TILT_R: return &p->tilt_rad[0];
	case TILT_C: return &p->tilt_rad[1];
	case THICKNESS: return &p->thickness_A;
	case ROTATION: return &p->rotation_rad;
	case SAMPLING: return &p->log_sampling;
	default: return &p->C_A[parameter];
	}
}

const char *fit_parameter_name(int parameter)
{
	static const char *const specimen[] = {"tilt_r", "tilt_c", "thickness", "rotation", "sampling"};
	return parameter < ABERRATIONS ? aberration_terms[parameter].name : specimen[parameter - ABERRATIONS];
}

double fit_parameter_get(const optics_parameters *p, int parameter)
{
	return *slot((optics_parameters *)p, parameter);
}

void fit_parameter_set(optics_parameters *p, int parameter, double value)
{
	*slot(p, parameter) = value;
}
