// The compiler inlined what was registered.
// warning: 'f' is registered, and nothing in this link calls it*
#include <adjoin.h>
static double f(double x);
ADJOIN_INACTIVE(f)
static double f(double x) { return x * x; }
double g(double x) { return x; }
int main(void) { return __adjoin_fwddiff((void *)g, 1.0, 1.0); }
