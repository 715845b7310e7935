/* Optics of the probe: wavelength, aberration function, aperture, and the map from detector pixels to scan frequencies
 * (design: physics.md sections 1 and 3). Per-element functions are written once, inline, for the host and for CUDA.
 *
 * Units here: lengths A, angles rad, frequencies 1/A. Vectors are (row, column). The row axis is x of chi's azimuth. */
#ifndef TRANSFER_OPTICS_H
#define TRANSFER_OPTICS_H

#include <math.h>
#include <stdbool.h>

#ifdef __CUDACC__
#define SSB_HD __host__ __device__ static inline
#else
#define SSB_HD static inline
#endif

enum { ABERRATIONS = 25 }; /* Cartesian coefficients of the fourteen orders */

/* Index of each Cartesian coefficient: C_a = C cos m phi, C_b = C sin m phi; m = 0 has no b. */
enum aberration {
	C10, C12a, C12b, C21a, C21b, C23a, C23b, C30, C32a, C32b, C34a, C34b,
	C41a, C41b, C43a, C43b, C45a, C45b, C50, C52a, C52b, C54a, C54b, C56a, C56b,
};

/* Name ("C12a"), order n and symmetry m of each coefficient; `sine` for the b part. */
typedef struct aberration_term {
	char name[8];
	int n, m;
	bool sine;
} aberration_term;
extern const aberration_term aberration_terms[ABERRATIONS];

/* What a microscope and a specimen are described by; everything 0 is a perfect thin case. */
typedef struct optics_parameters {
	double C_A[ABERRATIONS];  /* by enum aberration */
	double tilt_rad[2];       /* scan frame */
	double thickness_A;
	double rotation_rad;      /* detector frame to scan frame, after the transposition */
	double log_sampling;      /* ln(detector sampling / the spectrum's); the semiangle scales with it: the disk's radius in pixels stays */
	bool transposed;          /* the detector's axes are swapped before the rotation */
} optics_parameters;

/* Fit parameters: the 25 aberrations (enum aberration), then these. Units A and rad; SAMPLING is a logarithm. */
enum { TILT_R = ABERRATIONS, TILT_C, THICKNESS, ROTATION, SAMPLING, FIT_PARAMETERS };

/* Name of a fit parameter: "C12a", "tilt_r", "tilt_c", "thickness", "rotation", "sampling". */
const char *fit_parameter_name(int parameter);
double fit_parameter_get(const optics_parameters *p, int parameter);
void fit_parameter_set(optics_parameters *p, int parameter, double value);

/* What is known before a fit. */
typedef struct optics_geometry {
	double wavelength_A;
	double semiangle_rad;
	double sampling_rad[2];   /* detector, per pixel */
	double centre_px[2];      /* of the bright-field disk, full-detector pixels */
} optics_geometry;

/* Relativistic wavelength in A of electrons accelerated by `kilovolt` kV (section 1, CODATA 2018). */
double optics_wavelength_A(double kilovolt);

/* A polynomial sum_ij b[i][j] v_r^i v_c^j with i + j <= degree <= 6. chi is one (2 <= i + j), in rad for v in 1/A. */
typedef struct polynomial {
	double b[7][7];
	int degree;
} polynomial;

extern const double polynomial_binomial[7][7]; /* n over k */

/* The polynomial of all 25 coefficients C_A at this wavelength (section 3). */
polynomial chi_from_coefficients(const double C_A[ABERRATIONS], double wavelength_A);

/* d^dr/dv_r^dr d^dc/dv_c^dc of p. */
polynomial polynomial_derivative(const polynomial *p, int dr, int dc);

/* The same data seen with rotation + pi: every coefficient of even m and the tilt change sign (section 7). */
optics_parameters optics_opposite_branch(const optics_parameters *parameters);

/* p(r, c), for each bound on the degree: what is left out is 0. */
SSB_HD double polynomial_value2(const double b[7][7], double r, double c)
{
	return b[0][0] + c * (b[0][1] + c * b[0][2]) + r * (b[1][0] + c * b[1][1] + r * b[2][0]);
}

SSB_HD double polynomial_value4(const double b[7][7], double r, double c)
{
	const double q0 = b[0][0] + c * (b[0][1] + c * (b[0][2] + c * (b[0][3] + c * b[0][4])));
	const double q1 = b[1][0] + c * (b[1][1] + c * (b[1][2] + c * b[1][3]));
	const double q2 = b[2][0] + c * (b[2][1] + c * b[2][2]);
	const double q3 = b[3][0] + c * b[3][1];
	return q0 + r * (q1 + r * (q2 + r * (q3 + r * b[4][0])));
}

SSB_HD double polynomial_value6(const double b[7][7], double r, double c)
{
	const double q0 = b[0][0] + c * (b[0][1] + c * (b[0][2] + c * (b[0][3] + c * (b[0][4] + c * (b[0][5] + c * b[0][6])))));
	const double q1 = b[1][0] + c * (b[1][1] + c * (b[1][2] + c * (b[1][3] + c * (b[1][4] + c * b[1][5]))));
	const double q2 = b[2][0] + c * (b[2][1] + c * (b[2][2] + c * (b[2][3] + c * b[2][4])));
	const double q3 = b[3][0] + c * (b[3][1] + c * (b[3][2] + c * b[3][3]));
	const double q4 = b[4][0] + c * (b[4][1] + c * b[4][2]);
	const double q5 = b[5][0] + c * b[5][1];
	return q0 + r * (q1 + r * (q2 + r * (q3 + r * (q4 + r * (q5 + r * b[6][0])))));
}

SSB_HD double polynomial_value(const polynomial *p, double r, double c)
{
	return p->degree <= 2 ? polynomial_value2(p->b, r, c) : p->degree <= 4 ? polynomial_value4(p->b, r, c) : polynomial_value6(p->b, r, c);
}

/* A(v): the aperture, its edge one detector pixel soft; v in the *detector* frame. */
SSB_HD double aperture_value(double r, double c, double wavelength, double semiangle, const double sampling[2])
{
	const double v = sqrt(r * r + c * c);
	const double d_v = sqrt(r * sampling[0] * (r * sampling[0]) + c * sampling[1] * (c * sampling[1])); /* d |v| */
	const double a = (semiangle - wavelength * v) * v / (d_v > 0 ? d_v : 1) + 0.5;
	return d_v > 0 ? (a < 0 ? 0 : a > 1 ? 1 : a) : 1;
}

/* Detector frame to scan frame: swap when transposed, then rotate by the angle of (cosine, sine). */
SSB_HD void to_scan_frame(const double detector[2], bool transposed, double cosine, double sine, double scan[2])
{
	const double r = detector[transposed ? 1 : 0], c = detector[transposed ? 0 : 1];
	scan[0] = r * cosine - c * sine;
	scan[1] = r * sine + c * cosine;
}

/* Scan frame to detector frame: the inverse. */
SSB_HD void to_detector_frame(const double scan[2], bool transposed, double cosine, double sine, double detector[2])
{
	detector[transposed ? 1 : 0] = scan[0] * cosine + scan[1] * sine;
	detector[transposed ? 0 : 1] = scan[1] * cosine - scan[0] * sine;
}

/* Frequency of DFT index i of n at spacing `step`: the Nyquist frequency of an even axis is negative. */
SSB_HD double dft_frequency(long i, long n, double step)
{
	return (double)(i < (n + 1) / 2 ? i : i - n) / ((double)n * step);
}

#endif
