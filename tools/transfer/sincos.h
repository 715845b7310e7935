/* Sine and cosine of one double without branches, so that a loop over it becomes vector code on every machine. */
#ifndef TRANSFER_SINCOS_H
#define TRANSFER_SINCOS_H

#include "tools/transfer/optics.h"

/* Error at most 2 ulp of 1 for |x| < 1e6 (tested); argument reduction by pi/2 in three parts of 33 bits, Taylor polynomials on
 * |r| <= pi/4, where the first term left out is below 1e-17. */
SSB_HD void sine_cosine(double x, double *sine, double *cosine)
{
#ifdef __CUDA_ARCH__
	sincos(x, sine, cosine);
#else
	const double shift = 0x1.8p52; /* adding it leaves the nearest whole number in the low bits */
	const double n = (x * 0.63661977236758134308 + shift) - shift;
	const double r = ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
	const double z = r * r;
	const double s = r + r * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800
	               + z * (1.0 / 6227020800 + z * (-1.0 / 1307674368000 + z * (1.0 / 355687428096000))))))));
	const double c = 1 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800
	               + z * (1.0 / 479001600 + z * (-1.0 / 87178291200 + z * (1.0 / 20922789888000))))))));
	const int quadrant = (int)n;
	const double odd_s = (quadrant & 1) ? c : s, odd_c = (quadrant & 1) ? s : c;
	*sine = (quadrant & 2) ? -odd_s : odd_s;
	*cosine = ((quadrant + 1) & 2) ? -odd_c : odd_c;
#endif
}

#endif
