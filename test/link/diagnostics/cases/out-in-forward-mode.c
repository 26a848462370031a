// Forward mode has no adjoints.
// error: 'adjoin_out' before argument 3: there are no adjoints in forward mode
#include <adjoin.h>
double f(double x) { return x * x; }
int main(void) { return __adjoin_fwddiff((void *)f, adjoin_out, 1.0); } // here
