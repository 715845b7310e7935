#include "tools/ssb-fit/objective.h"

#include <stdlib.h>

static const double EPSILON = 1e-6; /* of max W: bins below it are left out of L */

bool objective_make(objective *o, const backend *b, const evidence *e, const size_t *bin, size_t count, evaluations *budget)
{
	*o = (objective){.b = b, .e = e, .budget = budget};
	o->frequency = calloc(count + 1, sizeof *o->frequency);
	o->multiplicity = calloc(count + 1, sizeof *o->multiplicity);
	o->weight = calloc(count + 1, sizeof *o->weight);
	o->sums = calloc(count + 1, sizeof *o->sums);
	if (!o->frequency || !o->multiplicity || !o->weight || !o->sums) {
		objective_free(o);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		const double m = evidence_multiplicity(e, bin[i]);
		if (m == 0)
			continue;
		o->frequency[o->count].bin = bin[i];
		evidence_q(e, bin[i], o->frequency[o->count].q);
		o->multiplicity[o->count++] = m;
	}
	return true;
}

void objective_free(objective *o)
{
	free(o->frequency);
	free(o->multiplicity);
	free(o->weight);
	free(o->sums);
	*o = (objective){0};
}

bool objective_value(objective *o, const optics_parameters *p, double *L, ssb_error *err)
{
	double most = 0;
	if (o->budget) {
		o->budget->spent++;
		o->budget->passes += (double)o->count / (double)o->budget->bins;
	}
	*L = 0;
	if (!o->b->sums(o->e, p, o->frequency, o->count, false, o->sums, err))
		return false;
	for (size_t i = 0; i < o->count; i++)
		most = o->sums[i].W > most ? o->sums[i].W : most;
	for (size_t i = 0; i < o->count; i++) {
		const sums *s = &o->sums[i];
		o->weight[i] = s->W > EPSILON * most ? o->multiplicity[i] : 0;
		if (o->weight[i] > 0)
			*L += o->weight[i] * (creal(s->S) * creal(s->S) + cimag(s->S) * cimag(s->S)) / s->W;
	}
	return true;
}

bool objective_derivatives(const objective *o, const optics_parameters *p, const int *parameter, size_t n, likelihood *out,
                           ssb_error *err)
{
	return o->b->derivatives(o->e, p, parameter, n, o->frequency, o->count, o->weight, o->sums, out, err);
}

bool objective_spent(const objective *o)
{
	return o->budget && o->budget->passes >= o->budget->most;
}
