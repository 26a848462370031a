// Three lanes, two shadows.
// error: argument 5 needs 3 shadows, one for each lane: there are 2
#include <adjoin.h>
struct three { double lane[3]; };
struct three __adjoin_fwddiff_three(void *, ...);
double f(double x) { return x * x; }
int main(void) {
  return __adjoin_fwddiff_three((void *)f, adjoin_width, 3, adjoin_dup, 1.0, 1.0, 2.0).lane[0]; // here
}
