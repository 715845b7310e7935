/* How much phase one unit of each fit parameter makes: the common measure of steps, distances and error bars. */
#ifndef SSB_FIT_SCALES_H
#define SSB_FIT_SCALES_H

#include "tools/transfer/evidence.h"

/* Phase, rad per unit (A, rad), by which psi = +-(chi(k) - chi(k -+ q)) changes at the aperture's edge and frequency q_rms (1/A):
 * 2 pi alpha^n q for a coefficient of order n. Rotation and sampling move every coefficient at once; tilt and thickness: x of the
 * weight sin(x)/x (physics.md section 3). */
double scale_rad(const evidence *e, double q_rms, const optics_parameters *p, int parameter);

/* Of n parameters: rad[n]. */
void scale_all_rad(const evidence *e, double q_rms, const optics_parameters *p, const int *parameter, size_t n, double *rad);

/* Phase of one A of this coefficient at the aperture's edge: (2 pi/lambda) alpha^(n+1)/(n+1). */
double scale_edge_rad(const evidence *e, int aberration);

/* Distance of two optima in rad: root of the sum of squares over all parameters. Opposite branches are one optimum; transpositions
 * are not (INFINITY). */
double scale_distance_rad(const evidence *e, double q_rms, const optics_parameters *a, const optics_parameters *b);

#endif
