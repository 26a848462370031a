// A registration by macro knows its line.
// always: there is no known function 'lg1p'
#include <adjoin.h>
double f(double x);
ADJOIN_LIKE(f, "lg1p") // here
double f(double x) { return x * x; }
int main(void) { return f(1); }
