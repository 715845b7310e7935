#include "tools/transfer/optics.h"

#include <string.h>

const aberration_term aberration_terms[ABERRATIONS] = {
	{"C10", 1, 0, false},  {"C12a", 1, 2, false}, {"C12b", 1, 2, true},  {"C21a", 2, 1, false}, {"C21b", 2, 1, true},
	{"C23a", 2, 3, false}, {"C23b", 2, 3, true},  {"C30", 3, 0, false},  {"C32a", 3, 2, false}, {"C32b", 3, 2, true},
	{"C34a", 3, 4, false}, {"C34b", 3, 4, true},  {"C41a", 4, 1, false}, {"C41b", 4, 1, true},  {"C43a", 4, 3, false},
	{"C43b", 4, 3, true},  {"C45a", 4, 5, false}, {"C45b", 4, 5, true},  {"C50", 5, 0, false},  {"C52a", 5, 2, false},
	{"C52b", 5, 2, true},  {"C54a", 5, 4, false}, {"C54b", 5, 4, true},  {"C56a", 5, 6, false}, {"C56b", 5, 6, true},
};

const double polynomial_binomial[7][7] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}, {1, 5, 10, 10, 5, 1}, {1, 6, 15, 20, 15, 6, 1}};

double optics_wavelength_A(double kilovolt)
{
	const double h = 6.62607015e-34, m = 9.1093837015e-31, e = 1.602176634e-19, c = 299792458.0;
	const double energy = e * kilovolt * 1e3;
	return 1e10 * h / sqrt(2 * m * energy * (1 + energy / (2 * m * c * c)));
}

/* Add w times the real or imaginary part of |v|^2j (v_r + i v_c)^m to b. */
static void add_term(double b[7][7], int j, int m, bool sine, double w)
{
	double re[7] = {1}, im[7] = {0}; /* by the power of v_c: (v_r + i v_c)^m */
	for (int step = 0; step < m; step++)
		for (int k = step + 1; k > 0; k--) {
			const double re_before = re[k - 1], im_before = im[k - 1];
			re[k] -= im_before;
			im[k] += re_before;
		}
	const double *part = sine ? im : re;
	for (int s = 0; s <= j; s++)
		for (int k = 0; k <= m; k++)
			b[2 * (j - s) + m - k][2 * s + k] += w * polynomial_binomial[j][s] * part[k];
}

polynomial chi_from_coefficients(const double C_A[ABERRATIONS], double wavelength_A)
{
	polynomial p;
	memset(&p, 0, sizeof p);
	for (int i = 0; i < ABERRATIONS; i++) {
		const aberration_term *t = &aberration_terms[i];
		if (C_A[i] == 0)
			continue;
		add_term(p.b, (t->n + 1 - t->m) / 2, t->m, t->sine,
		         C_A[i] * 2 * M_PI / wavelength_A * pow(wavelength_A, t->n + 1) / (t->n + 1));
		p.degree = t->n + 1 > p.degree ? t->n + 1 : p.degree;
	}
	return p;
}

polynomial polynomial_derivative(const polynomial *p, int dr, int dc)
{
	polynomial d = *p;
	for (; dr > 0; dr--)
		for (int i = 0; i < 7; i++)
			for (int j = 0; j < 7; j++)
				d.b[i][j] = i < 6 ? (i + 1) * d.b[i + 1][j] : 0;
	for (; dc > 0; dc--)
		for (int i = 0; i < 7; i++)
			for (int j = 0; j < 7; j++)
				d.b[i][j] = j < 6 ? (j + 1) * d.b[i][j + 1] : 0;
	return d;
}

optics_parameters optics_opposite_branch(const optics_parameters *parameters)
{
	optics_parameters other = *parameters;
	for (int i = 0; i < ABERRATIONS; i++)
		if (aberration_terms[i].m % 2 == 0)
			other.C_A[i] = -other.C_A[i];
	other.tilt_rad[0] = -other.tilt_rad[0];
	other.tilt_rad[1] = -other.tilt_rad[1];
	other.rotation_rad += M_PI;
	return other;
}
