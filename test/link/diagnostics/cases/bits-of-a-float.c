// A float out of the bits of a float.
// anywhere: *bits of an active floating-point value
#include <adjoin.h>
#include <string.h>
double f(double x) {
  unsigned long bits;
  memcpy(&bits, &x, sizeof(bits));
  bits += 1;
  memcpy(&x, &bits, sizeof(bits));
  return x;
}
int main(void) { return __adjoin_fwddiff((void *)f, 1.0, 1.0); }
