// A pointer has a shadow, no adjoint.
// error: 'adjoin_out' before argument 3, which is a pointer: only values have an adjoint that is returned, a pointer has a shadow
#include <adjoin.h>
double f(double *p) { return *p; }
int main(void) {
  double x = 1;
  return __adjoin_autodiff((void *)f, adjoin_out, &x); // here
}
