// An integer has no adjoint.
// error: 'adjoin_out' before argument 5, which is no floating-point value
#include <adjoin.h>
double f(double x, int n) { return x * n; }
int main(void) { return __adjoin_autodiff((void *)f, adjoin_out, 1.0, adjoin_out, 2); } // here
