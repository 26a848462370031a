// A value has an adjoint that is returned.
// error: 'adjoin_dup' before argument 3, a floating-point value: in reverse mode it has an adjoint that is returned, not a shadow
#include <adjoin.h>
double f(double x) { return x * x; }
int main(void) { return __adjoin_autodiff((void *)f, adjoin_dup, 1.0, 1.0); } // here
