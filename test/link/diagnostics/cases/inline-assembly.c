// Nothing is known of assembly.
// error: *assembly*
#include <adjoin.h>
double f(double x) {
  double y;
  __asm__("sqrtsd %1, %0" : "=x"(y) : "x"(x)); // here
  return y;
}
int main(void) { return __adjoin_fwddiff((void *)f, 1.0, 1.0); }
