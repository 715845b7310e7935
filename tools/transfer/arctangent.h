/* Arc tangent of floats without branches, so that a loop over it becomes vector code on every machine. */
#ifndef TRANSFER_ARCTANGENT_H
#define TRANSFER_ARCTANGENT_H

#include <math.h>

/* atan2(y, x) for x >= 0, relative error below 3e-7 (tested); 0 at the origin. A polynomial in t^2 for atan(t)/t on 0 <= t <= 1, whose
 * own error of at most 2.4e-9 is the least possible at its degree. */
static inline float arc_tangent(float y, float x)
{
	const float size = fabsf(y), top = size > x ? x : size, bottom = size > x ? size : x;
	const float t = top / (bottom > 0 ? bottom : 1), z = t * t;
	const float angle = t * (0.9999999976f + z * (-0.3333328364f + z * (0.1999826603f + z * (-0.1426193304f + z * (0.1094203031f
	                  + z * (-0.08377314411f + z * (0.05755208413f + z * (-0.03080457921f + z * (0.01072693441f
	                  + z * -0.001753927992f)))))))));
	return copysignf(size > x ? (float)M_PI_2 - angle : angle, y);
}

#endif
