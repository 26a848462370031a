// A shadow of another type.
// error: argument 4, the shadow of argument 3, is 'double', not 'ptr'
#include <adjoin.h>
double f(double *p) { return *p; }
int main(void) {
  double x = 1;
  return __adjoin_fwddiff((void *)f, adjoin_dup, &x, 1.0); // here
}
