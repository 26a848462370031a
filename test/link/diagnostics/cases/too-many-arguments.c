// An argument without a parameter.
// error: argument 4 is one too many: 'f' has 1 parameter
#include <adjoin.h>
double f(double x) { return x * x; }
int main(void) { return __adjoin_fwddiff((void *)f, 1.0, 1.0, 2.0, 0.0); } // here
