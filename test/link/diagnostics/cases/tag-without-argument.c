// Nothing behind a tag.
// error: 'adjoin_const' has no argument behind it
// error: 'adjoin_width' has no number behind it
#include <adjoin.h>
double f(double x, double y) { return x * y; }
int main(void) {
  double t = __adjoin_fwddiff((void *)f, adjoin_dup, 1.0, 1.0, adjoin_const); // here
  return t + __adjoin_fwddiff((void *)f, adjoin_const, 1.0, 1.0, adjoin_width); // here
}
