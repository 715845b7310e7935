/* What a fit and a reconstruction ask of the evidence: one table of functions, one instance per device.
 *
 * Every sum runs over k in the order of the pixels and each q belongs to one thread, so results are the same bytes for any number
 * of threads and from run to run. Functions fail (SSB_RUNTIME) only when memory or the device fails. */
#ifndef TRANSFER_BACKEND_H
#define TRANSFER_BACKEND_H

#include "tools/transfer/evidence.h"

/* A scan frequency at which sums are wanted. */
typedef struct frequency {
	size_t bin;      /* whose G is used */
	bool conjugate;  /* G(-q) = G*(q): use the conjugate */
	double q[2];     /* where gamma is taken, 1/A, scan frame (differs from the bin's own q when upsampling) */
} frequency;

/* The sums over k at one frequency. */
typedef struct sums {
	double complex S;  /* sum G conj(gamma) */
	double W;          /* sum |gamma|^2 */
	double complex U;  /* sum of G conj(gamma)/|gamma|, 0 where |gamma| <= 1e-8; only when asked for */
} sums;

/* L with its derivatives by n parameters (physics.md section 5); matrices n x n, row-major. */
typedef struct likelihood {
	double L;
	double multiplicity;                    /* sum of m over the bins used */
	double gradient[FIT_PARAMETERS];
	double hessian[FIT_PARAMETERS * FIT_PARAMETERS];
	double gauss_newton[FIT_PARAMETERS * FIT_PARAMETERS]; /* J = 2 sum m kappa |S|^2/W */
	double sum_kappa[FIT_PARAMETERS * FIT_PARAMETERS];    /* 2 sum m kappa */
} likelihood;

/* Candidates of the exhaustive search: every (C10, C12a, C12b) of `candidate`, A. */
typedef struct candidate { double C_A[3]; } candidate;

typedef struct backend {
	const char *name;

	/* Before the first use of e and after the last, for a device with a memory of its own: take e there as far as it fits. NULL on the
	 * CPU; use backend_attach and backend_detach. */
	bool (*attach)(evidence *e, ssb_error *err);
	void (*detach)(evidence *e);

	/* S, W (and U if with_U) at each frequency. */
	bool (*sums)(const evidence *e, const optics_parameters *p, const frequency *f, size_t count, bool with_U, sums *out,
	             ssb_error *err);

	/* L, gradient, Hessian, J and sum kappa over the frequencies with weight m (0: left out) and known S, W. */
	bool (*derivatives)(const evidence *e, const optics_parameters *p, const int *parameter, size_t n,
	                    const frequency *f, size_t count, const double *weight, const sums *known, likelihood *out,
	                    ssb_error *err);

	/* Score of every candidate by one look-up per bin (physics.md section 5, search 2), with the rotation, the transposition and the
	 * higher orders of p (C10, C12 of p do not count, tilt and thickness are not modelled); score[count] is overwritten. */
	bool (*search)(const evidence *e, const optics_parameters *p, const size_t *bin, const double *m, size_t bins,
	               const candidate *c, size_t count, double *score, ssb_error *err);

	/* Mean over k of the phase images phi_k (section 5), `factor` times upsampled: image[f R x f C], rad; variance: the published
	 * loss, mean over R of the variance over k of phi_k (may be NULL). */
	bool (*mean_phase)(const evidence *e, const optics_parameters *p, size_t factor, double *image, double *variance,
	                   ssb_error *err);
} backend;

extern const backend backend_cpu;

/* The backend for --device: "cpu"; "cuda", SSB_NO_BACKEND when this build or machine lacks it; "auto" takes CUDA where it works and
 * says which it took. NULL (not given) is "auto" that says so only with -v. */
const backend *backend_open(const char *device, ssb_error *err);

bool backend_attach(const backend *b, evidence *e, ssb_error *err);
void backend_detach(const backend *b, evidence *e); /* NULL, and an e never attached, are allowed */

#endif
