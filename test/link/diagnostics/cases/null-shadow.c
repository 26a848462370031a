// A shadow that is null.
// abort: the shadow of argument 3 is null*
#include <adjoin.h>
double f(double *p) { return *p * *p; }
double *volatile place;
int main(void) {
  double x = 2;
  return __adjoin_fwddiff((void *)f, adjoin_dup, &x, place);
}
