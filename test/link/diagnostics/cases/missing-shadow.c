// A dup without its shadow.
// error: the shadow of argument 3 is missing
// error: the shadow of argument 4 is missing
#include <adjoin.h>
double f(double x) { return x * x; }
double g(double x, double *p) { return x * *p; }
int main(void) {
  double x = 1;
  double t = __adjoin_fwddiff((void *)f, adjoin_dup, 1.0); // here
  return t + __adjoin_fwddiff((void *)g, 1.0, 1.0, &x); // here
}
