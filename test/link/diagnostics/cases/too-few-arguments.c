// A parameter without an argument.
// error: too few arguments: 'f' has 2 parameters, the marker gives arguments for 1
#include <adjoin.h>
double f(double x, double y) { return x * y; }
int main(void) { return __adjoin_fwddiff((void *)f, 1.0, 1.0); } // here
