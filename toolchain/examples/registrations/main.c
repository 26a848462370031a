/* Registrations: custom rules, a function like a known one, an inactive one. */
#include "../check.h"
#include "functions.h"
#include <adjoin.h>

static double model(double x, double y) {
  report(x);
  return integral(x) * my_log1p(y);
}

struct partials {
  double x, y;
};
struct partials __adjoin_autodiff_partials(void *, ...);

int main(void) {
  double x = 0.5, y = 2, value = integral(x), logarithm = my_log1p(y);
  check("forward, x", __adjoin_fwddiff((void *)model, x, 1.0, y, 0.0), exp(-x * x) * logarithm);
  check("forward, y", __adjoin_fwddiff((void *)model, x, 0.0, y, 1.0), value / 3);
#ifndef FORWARD_ONLY
  struct partials g = __adjoin_autodiff_partials((void *)model, x, y);
  check("reverse, x", g.x, exp(-x * x) * logarithm);
  check("reverse, y", g.y, value / 3);
  double v[2] = {3, 4}, dv[2] = {0, 0};
  __adjoin_autodiff((void *)norm, adjoin_dup, v, dv, adjoin_const, 2);
  check("custom gradient", dv[0], 6);
  check("custom gradient", dv[1], 8);
#endif
  return wrong;
}
