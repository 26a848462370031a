// A tag that is chosen when the program runs.
// error: argument 2 is a tag that is not known at link time
#include <adjoin.h>
double f(double x) { return x * x; }
int main(int argc, char **argv) {
  return __adjoin_fwddiff((void *)f, argc > 1 ? &adjoin_dup : &adjoin_const, 1.0, 1.0); // here
}
