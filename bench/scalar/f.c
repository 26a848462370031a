/* f(x) = exp(x) / sqrt(sin(x)^3 + cos(x)^3), in an object of its own, and the best derivative by hand. */
#include "f.h"
#include <math.h>

double f(double x) {
  double s = sin(x), c = cos(x);
  return exp(x) / sqrt(s * s * s + c * c * c);
}

/* Shares sin, cos, exp and the root: f' = f * (1 - 3/2 (s^2 c - c^2 s) / (s^3 + c^3)). */
double f_by_hand(double x) {
  double s = sin(x), c = cos(x);
  double d = s * s * s + c * c * c;
  return exp(x) / sqrt(d) * (1 - 1.5 * (s * s * c - c * c * s) / d);
}
