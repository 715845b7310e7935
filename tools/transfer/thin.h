/* S and W of a thin specimen under any chi, in vectors of single precision: sines along the hard part of each row, the soft pixels in double.
 *
 * Error: the phase is a polynomial of k_c in double, reduced there to half a turn; with u = 2^-24, its rounding to float (2 pi / 4 u at
 * most), the sine (3 u), the difference of both terms, the product with G and a lane's at most n = (columns of a row) / 8 additions make
 * |error of S| <= (n + 8) u sum |G| (a_- + a_+), typically some 1e-8 of it. The squares in W are exact as in quadratic.h; in the product
 * |error of W| <= 2 (n + 12) u sum a_- a_+. */
#ifndef TRANSFER_THIN_H
#define TRANSFER_THIN_H

#include "tools/transfer/backend.h"
#include "tools/transfer/rows.h"

/* At each frequency; false when memory runs out. */
bool thin_sums(const evidence *e, const row_table *t, const frequency *f, size_t count, sums *out);

#endif
