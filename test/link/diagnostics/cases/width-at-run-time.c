// A width that is chosen when the program runs.
// error: argument 3, a number behind 'adjoin_width', is not known at link time
#include <adjoin.h>
double f(double x) { return x * x; }
int main(int argc, char **argv) { return __adjoin_fwddiff((void *)f, adjoin_width, argc, 1.0, 1.0); } // here
