// An argument that cannot be the parameter.
// error: argument 3 is 'i32', which cannot be parameter 1 of 'f', 'double'
// error: argument 5 is 'double', which cannot be parameter 2 of 'g', 'ptr'
#include <adjoin.h>
double f(double x) { return x * x; }
double g(double x, const double *p) { return x * *p; }
int main(void) {
  double t = __adjoin_fwddiff((void *)f, adjoin_const, 1); // here
  return t + __adjoin_fwddiff((void *)g, adjoin_const, 1.0, adjoin_const, 2.0); // here
}
