/* Sums over k where chi is quadratic (C10 and C12 alone) and the specimen thin: physics.md section 4. Both terms share the phase factor
 * e^{i L.k} of rows.h's psi = L.u, a row factor times a column factor:
 *   gamma = e^{iL.k} (a_- e^{-i chi(q)} - a_+ e^{i chi(q)}),   S = e^{i chi(q)} X_- - e^{-i chi(q)} X_+,   X_-+ = sum G a_-+ e^{-iL.k}
 *   W = sum a_-^2 + a_+^2 - 2 cos 2 chi(q) sum a_- a_+
 * X is summed in single precision along a row and in double over the rows and the soft pixels; W is exact.
 *
 * Error: with u = 2^-24, the column factor and each product round once, and a lane adds at most n = (columns of a row) / 4 of them:
 * |error of X| <= (n + 3) u sum |G| a, and its typical size is u sqrt(sum |G|^2 a^2), some 1e-8 of the sum of moduli. */
#ifndef TRANSFER_QUADRATIC_H
#define TRANSFER_QUADRATIC_H

#include "tools/transfer/cpu.h"
#include "tools/transfer/rows.h"

/* Whether these parameters are such. */
bool quadratic_suits(const row_table *t);

/* S and W at each frequency; false when memory runs out. */
bool quadratic_sums(const evidence *e, const row_table *t, const frequency *f, size_t count, sums *out);

/* Whether the parameters fitted are among C10, C12a, C12b and the rotation, too. */
bool quadratic_derivatives_suit(const row_table *t, const int *parameter, size_t n);

/* As derivatives of backend.h, one part per task of bins_per_task frequencies, lower triangles; false when memory runs out. */
bool quadratic_derivatives(const evidence *e, const row_table *t, const int *parameter, size_t n, const frequency *f, size_t count,
                           const double *weight, const sums *known, likelihood *part);

#endif
