// A stride in a register.
// error: 'adjoin_dupv' before argument 6, which is no pointer
#include <adjoin.h>
double f(double x) { return x * x; }
int main(void) { return __adjoin_fwddiff((void *)f, adjoin_width, 1, adjoin_dupv, 8, 1.0, 1.0); } // here
