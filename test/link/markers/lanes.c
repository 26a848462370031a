/* Several tangents or adjoints at once. */
#include "check.h"
struct three {
  double lane[3];
};
struct valued {
  double value, lane[3];
};
struct two_by_two {
  double x[2], y[2];
};
struct pair {
  double a, b;
};
struct three __adjoin_fwddiff_three(void *, ...);
struct valued __adjoin_fwddiff_valued(void *, ...);
struct two_by_two __adjoin_autodiff_two_by_two(void *, ...);

static double f(double x, double y) { return x * x * y; }
static double g(const double *p, double s) { return s * p[0] * p[1]; }
static double h(struct pair p) { return p.a * p.b; }
static void both(const double *x, double *y) {
  y[0] = x[0] * x[1];
  y[1] = x[0] / x[1];
}

int main(void) {
  struct three t = __adjoin_fwddiff_three((void *)f, adjoin_width, 3, adjoin_dup, 3.0, 1.0, 0.0, 1.0, adjoin_dup, 4.0, 0.0, 1.0, 1.0);
  CHECK(t.lane[0], 24);
  CHECK(t.lane[1], 9);
  CHECK(t.lane[2], 33);
  struct valued v = __adjoin_fwddiff_valued((void *)f, &adjoin_primal_return, &adjoin_width, 3, 3.0, 1.0, 0.0, 1.0, 4.0, 0.0, 1.0, 1.0);
  CHECK(v.value, 36);
  CHECK(v.lane[2], 33);

  double p[2] = {2, 3}, d[3][2] = {{1, 0}, {0, 1}, {1, 1}};
  t = __adjoin_fwddiff_three((void *)g, adjoin_width, 3, adjoin_dup, p, d[0], d[1], d[2], adjoin_const, 4.0);
  CHECK(t.lane[0], 12);
  CHECK(t.lane[1], 8);
  CHECK(t.lane[2], 20);
  t = __adjoin_fwddiff_three((void *)g, adjoin_width, 3, adjoin_dupv, sizeof(d[0]), p, d, adjoin_const, 4.0);
  CHECK(t.lane[1], 8);
  CHECK(t.lane[2], 20);

  // A struct by value is two values, then come two lanes of two shadows.
  struct pair q = {2, 3}, e[3] = {{1, 0}, {0, 1}, {1, 1}};
  t = __adjoin_fwddiff_three((void *)h, adjoin_width, 3, adjoin_dup, q, e[0], e[1], e[2]);
  CHECK(t.lane[0], 3);
  CHECK(t.lane[1], 2);
  CHECK(t.lane[2], 5);

  double x[2] = {2, 4}, y[2], dx[2][2] = {{0, 0}, {0, 0}}, dy[2][2] = {{1, 0}, {0, 1}};
  __adjoin_autodiff_void((void *)both, adjoin_width, 2, adjoin_dup, x, dx[0], dx[1], adjoin_dup, y, dy[0], dy[1]);
  CHECK(y[0], 8);
  CHECK(dx[0][0], 4);
  CHECK(dx[0][1], 2);
  CHECK(dx[1][0], 0.25);
  CHECK(dx[1][1], -0.125);
  struct two_by_two w = __adjoin_autodiff_two_by_two((void *)f, adjoin_width, 2, 3.0, 4.0);
  CHECK(w.x[1], 24);
  CHECK(w.y[0], 9);
  return wrong;
}
