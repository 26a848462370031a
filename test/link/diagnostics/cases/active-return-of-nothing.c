// Nothing to be active.
// error: adjoin_active_return: 'f' returns no floating-point value
// error: adjoin_dup_return: a returned pointer has a shadow in forward and split mode only
#include <adjoin.h>
int f(double x) { return x; }
double *g(double *p) { return p + 1; }
int main(void) {
  double x[2] = {1, 2}, dx[2] = {0, 0};
  __adjoin_fwddiff_void((void *)f, adjoin_active_return, 1.0, 1.0); // here
  __adjoin_autodiff_void((void *)g, adjoin_dup_return, x, dx); // here
}
