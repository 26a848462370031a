// A wrapper that calls itself cannot be inlined.
// error: the function to differentiate is chosen at run time: 'wrap' calls itself
#include <adjoin.h>
double f(double x) { return x * x; }
__attribute__((noinline)) static double wrap(double (*h)(double), int n) {
  volatile double below = n > 0 ? wrap(h, n - 1) : 0;
  return below + __adjoin_fwddiff((void *)h, 1.0, 1.0); // here
}
int main(int argc, char **argv) { return wrap(argc > 5 ? 0 : f, argc); }
