// No lanes.
// error: the width is 0, it must be between 1 and 1024
#include <adjoin.h>
double f(double x) { return x * x; }
int main(void) { return __adjoin_fwddiff((void *)f, adjoin_width, 0, 1.0); } // here
