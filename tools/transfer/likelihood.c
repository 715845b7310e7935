/* From the sums over k to L and its derivatives, and what those sums need to know (physics.md section 5). */
#include "tools/transfer/host.h"

derivative_model derivative_model_make(const pixel_table *table, const int *parameter, size_t n)
{
	derivative_model m = {.n = n, .thick = table->thickness != 0};
	static const int order[6][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
	for (int i = 0; i < 6; i++)
		m.chi[i] = polynomial_derivative(&table->chi, order[i][0], order[i][1]);
	for (size_t i = 0; i < n; i++) {
		m.parameter[i] = parameter[i];
		m.moves |= parameter[i] == ROTATION || parameter[i] == SAMPLING;
		m.thick |= parameter[i] >= TILT_R && parameter[i] <= THICKNESS;
		if (parameter[i] >= ABERRATIONS)
			continue;
		double unit[ABERRATIONS] = {0};
		unit[parameter[i]] = 1;
		m.basis[i][0] = chi_from_coefficients(unit, table->wavelength);
		for (int j = 1; j < 3; j++)
			m.basis[i][j] = polynomial_derivative(&m.basis[i][0], order[j][0], order[j][1]);
	}
	return m;
}

void likelihood_add_bin(likelihood *out, size_t n, const derivative_sums *s, double m, const sums *known)
{
	const double W = known->W, P = creal(known->S) * creal(known->S) + cimag(known->S) * cimag(known->S);
	out->L += m * P / W;
	out->multiplicity += m;
	for (size_t i = 0; i < n; i++) {
		const double Ri = 2 * creal(conj(known->S) * s->S1[i]), Wi = 2 * creal(s->V[i]);
		out->gradient[i] += m * (Ri / W - P * Wi / (W * W));
		for (size_t j = 0; j <= i; j++) {
			const double Rj = 2 * creal(conj(known->S) * s->S1[j]), Wj = 2 * creal(s->V[j]);
			const double Rij = 2 * creal(conj(s->S1[i]) * s->S1[j] + conj(known->S) * s->S2[i][j]);
			const double Wij = 2 * (s->X[i][j] + s->Y[i][j]);
			const double kappa = s->X[i][j] / W - creal(conj(s->V[i]) * s->V[j]) / (W * W);
			const size_t at = i * n + j;
			out->hessian[at] += m * (Rij / W - (Ri * Wj + Rj * Wi + P * Wij) / (W * W) + 2 * P * Wi * Wj / (W * W * W));
			out->gauss_newton[at] += 2 * m * kappa * P / W;
			out->sum_kappa[at] += 2 * m * kappa;
		}
	}
}

void likelihood_mirror(likelihood *out, size_t n)
{
	double *matrices[3] = {out->hessian, out->gauss_newton, out->sum_kappa};
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < i; j++)
				matrices[k][j * n + i] = matrices[k][i * n + j];
}
