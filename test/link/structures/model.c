/* A function in C that calls Rust. */
#include <math.h>
double rate(double x);
double model(double x) { return sin(x) * rate(x); }
