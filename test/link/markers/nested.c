/* A marker inside of what is differentiated. */
#include "check.h"
static double f(double x) { return x * x * x; }
static double first(double x) { return __adjoin_fwddiff((void *)f, x, 1.0); }
static double second(double x) { return __adjoin_fwddiff((void *)first, x, 1.0); }
static double gradient(double x) { return __adjoin_autodiff((void *)f, x); }
static double library(double x) { return __adjoin_fwddiff((void *)sin, x, 1.0); }

int main(void) {
  double x = 2;
  CHECK(first(x), 12);
  CHECK(second(x), 12);
  CHECK(__adjoin_fwddiff((void *)second, x, 1.0), 6);
  CHECK(__adjoin_fwddiff((void *)gradient, x, 1.0), 12);
  CHECK(__adjoin_autodiff((void *)first, x), 12);
  CHECK(library(x), cos(x));
  CHECK(__adjoin_autodiff((void *)library, x), -sin(x));
  return wrong;
}
