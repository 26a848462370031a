// A function with a variable number of arguments.
// error: cannot differentiate 'f': it takes a variable number of arguments
#include <adjoin.h>
double f(double x, ...) { return x; }
int main(void) { return __adjoin_fwddiff((void *)f, 1.0, 1.0); } // here
