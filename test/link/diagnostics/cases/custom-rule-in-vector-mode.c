// A custom rule knows one lane.
// error: cannot use the registered derivative of 'f' in vector mode
#include <adjoin.h>
struct two { double a, b; };
struct two __adjoin_fwddiff_two(void *, ...);
double f(double x);
struct two f_forward(double x, double dx) { return (struct two){x * x, 2 * x * dx}; }
ADJOIN_DERIVATIVE(f, f_forward)
double f(double x) { return x * x; }
double g(double x) {
  return f(x) + 1; // here
}
int main(void) { return __adjoin_fwddiff_two((void *)g, adjoin_width, 2, 1.0, 1.0, 2.0).a; }
