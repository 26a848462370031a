// Results that do not fit what the marker returns.
// error: the marker is declared to return 'float', the results are 'double'
// error: the marker is declared to return 'ptr', the results are 'double'
// error: the marker is declared to return '{ double, double }', the results are 'double'
// error: the marker is declared to return 'double', the results are nothing
#include <adjoin.h>
struct two { double a, b; };
struct two __adjoin_fwddiff_two(void *, ...);
void *__adjoin_fwddiff_pointer(void *, ...);
double f(double x) { return x * x; }
int g(double x) { return x; }
void *volatile keep;
int main(void) {
  double t = __adjoin_fwddiff_float((void *)f, 1.0, 1.0); // here
  keep = __adjoin_fwddiff_pointer((void *)f, 1.0, 1.0); // here
  t += __adjoin_fwddiff_two((void *)f, 1.0, 1.0).b; // here
  return t + __adjoin_fwddiff((void *)g, 1.0, 1.0); // here
}
