// A tag that does not exist.
// error: unknown tag 'adjoin_duplicate'
#include <adjoin.h>
extern int adjoin_duplicate;
double f(double x) { return x * x; }
int main(void) { return __adjoin_fwddiff((void *)f, adjoin_duplicate, 1.0, 1.0); } // here
