// A function that it calls has no IR.
// native
// error: cannot differentiate call of 'missing'*: it has no IR in this link and no rule
// note: needed for the derivative of 'f' requested *
#include <adjoin.h>
double missing(double);
double f(double x) {
  return 2 * missing(x); // here
}
int main(void) { return __adjoin_fwddiff((void *)f, 1.0, 1.0); }
