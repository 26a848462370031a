/* What reverse mode returns. */
#include "check.h"
struct pair {
  double a, b;
};
struct floats {
  float a, b;
};
struct big {
  double v[5];
};
struct valued {
  double value, a, b;
};
struct mixed {
  float f;
  double d;
};
struct pair __adjoin_autodiff_pair(void *, ...);
struct floats __adjoin_autodiff_floats(void *, ...);
struct big __adjoin_autodiff_big(void *, ...);
struct valued __adjoin_autodiff_valued(void *, ...);
struct mixed __adjoin_autodiff_mixed(void *, ...);

static double f(double x, double y) { return x * x * y; }
static double of_pair(struct pair p) { return p.a * p.b; }
static float of_floats(struct floats p) { return p.a * p.b; }
static double of_big(struct big b) { return b.v[0] * b.v[4]; }
static double of_mixed(float x, double y) { return x * y; }
static void writes(double x, double *y) { *y = x * x; }
static int counts(double x, double *y) {
  *y = 3 * x;
  return 7;
}
static struct pair returns_pair(double x) { return (struct pair){x * x, 5 * x}; }
static struct big returns_big(double x) { return (struct big){{x, x * x}}; }

int main(void) {
  struct pair p = __adjoin_autodiff_pair((void *)f, 3.0, 4.0);
  CHECK(p.a, 24);
  CHECK(p.b, 9);
  struct valued v = __adjoin_autodiff_valued((void *)f, adjoin_primal_return, adjoin_out, 3.0, 4.0);
  CHECK(v.value, 36);
  CHECK(v.a, 24);
  CHECK(v.b, 9);
  CHECK(__adjoin_autodiff((void *)f, adjoin_const, 3.0, adjoin_out, 4.0), 9);
  CHECK(__adjoin_autodiff((void *)f, adjoin_primal_return, 3.0, 4.0), 36);

  struct pair q = {2, 3};
  p = __adjoin_autodiff_pair((void *)of_pair, adjoin_out, q);
  CHECK(p.a, 3);
  CHECK(p.b, 2);
  struct floats r = {2, 3}, dr = __adjoin_autodiff_floats((void *)of_floats, adjoin_out, r);
  CHECK(dr.a, 3);
  CHECK(dr.b, 2);
  struct big b = {{2, 0, 0, 0, 3}}, db = __adjoin_autodiff_big((void *)of_big, adjoin_out, b);
  CHECK(db.v[0], 3);
  CHECK(db.v[1], 0);
  CHECK(db.v[4], 2);
  struct mixed m = __adjoin_autodiff_mixed((void *)of_mixed, 2.0f, 3.0);
  CHECK(m.f, 3);
  CHECK(m.d, 2);

  double y = 0, dy = 1;
  CHECK(__adjoin_autodiff((void *)writes, 3.0, &y, &dy), 6);
  CHECK(y, 9);
  CHECK(dy, 0);
  dy = 2;
  CHECK(__adjoin_autodiff((void *)counts, 3.0, &y, &dy), 6);
  // The seed is one in each member of a returned struct.
  CHECK(__adjoin_autodiff((void *)returns_pair, 3.0), 11);
  CHECK(__adjoin_autodiff((void *)returns_big, 3.0), 7);
  CHECK(__adjoin_autodiff((void *)f, adjoin_const_return, 3.0, 4.0), 0);
  return wrong;
}
