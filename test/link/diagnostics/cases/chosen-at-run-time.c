// The function is chosen when the program runs.
// error: the function to differentiate is chosen at run time
#include <adjoin.h>
double f(double x) { return x * x; }
double g(double x) { return x; }
int main(int argc, char **argv) {
  double (*h)(double) = argc > 1 ? f : g;
  return __adjoin_fwddiff((void *)h, 1.0, 1.0); // here
}
