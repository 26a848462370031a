/* The other family of names: a tag holds for one argument, the next one has its default. */
#include "check.h"
extern int enzyme_const, enzyme_dup, enzyme_dupnoneed, enzyme_out, enzyme_width, enzyme_primal_return;
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
struct two {
  double a, b;
};
struct two __enzyme_autodiff_two(void *, ...);
struct two __enzyme_fwddiff_two(void *, ...);

static double f(double x, double y) { return x * x * y; }
static double g(const double *p, int n, double s) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += s * p[i] * p[i];
  return sum;
}

int main(void) {
  CHECK(__enzyme_autodiff((void *)f, enzyme_out, 3.0, enzyme_const, 4.0), 24);
  CHECK(__enzyme_autodiff((void *)f, enzyme_const, 3.0, 4.0), 9);
  struct two d = __enzyme_autodiff_two((void *)f, 3.0, 4.0);
  CHECK(d.a, 24);
  CHECK(d.b, 9);
  double p[3] = {1, 2, 3}, dp[3] = {0, 0, 0};
  CHECK(__enzyme_autodiff((void *)g, enzyme_dup, p, dp, 3, 2.0), 14);
  CHECK(dp[2], 12);
  double t[3] = {1, 0, 0};
  CHECK(__enzyme_fwddiff((void *)g, enzyme_dup, p, t, 3, enzyme_const, 2.0), 4);
  CHECK(__enzyme_fwddiff((void *)g, p, t, 3, 2.0, 1.0), 4 + 14);
  d = __enzyme_fwddiff_two((void *)f, enzyme_width, 2, enzyme_dup, 3.0, 1.0, 0.0, 4.0, 0.0, 1.0);
  CHECK(d.a, 24);
  CHECK(d.b, 9);
  d = __enzyme_fwddiff_two((void *)f, enzyme_primal_return, 3.0, 1.0, enzyme_const, 4.0);
  CHECK(d.a, 36);
  CHECK(d.b, 24);
  return wrong;
}
