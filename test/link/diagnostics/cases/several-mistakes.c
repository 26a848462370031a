// Every mistake of a link is told.
// error: the shadow of argument 3 is missing
// error: unknown tag 'adjoin_duplicate'
// error: the function to differentiate is a null pointer
#include <adjoin.h>
extern int adjoin_duplicate;
double f(double x) { return x * x; }
double g(void) { return __adjoin_fwddiff((void *)f, adjoin_dup, 1.0); } // here
double h(void) { return __adjoin_fwddiff((void *)f, adjoin_duplicate, 1.0, 1.0); } // here
double k(void) { return __adjoin_fwddiff((void *)0, 1.0, 1.0); } // here
int main(void) { return g() + h() + k() + __adjoin_fwddiff((void *)f, 1.0, 1.0); }
