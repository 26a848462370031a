// A shadow that is the primal.
// abort: the shadow of argument 3 is the argument itself (adjoin_runtime_activity takes that as constant), in the derivative of 'f' requested *
#include <adjoin.h>
double f(double *p) { return *p * *p; }
double *volatile place;
int main(void) {
  double x = 2;
  place = &x;
  return __adjoin_fwddiff((void *)f, adjoin_dup, place, place);
}
