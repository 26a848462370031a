/* How C passes things: promotions, structs in registers and in memory, returned structs, numbers. */
#include "check.h"
#include <stdbool.h>
#include <stddef.h>

struct pair {
  double a, b;
};
struct floats {
  float a, b;
};
struct three {
  float a, b, c;
};
struct big {
  double v[5];
};
struct mixed {
  double *p;
  double s;
};
struct float_result {
  float value, tangent;
};

static float promoted(float x, bool negative, char times, short more) {
  return (negative ? -x : x) * x * times * more;
}
static double of_pair(struct pair p, double z) { return p.a * p.b * z; }
static float of_floats(struct floats p) { return p.a * p.b; }
static float of_three(struct three p) { return p.a * p.b + p.c * p.c; }
static double of_big(struct big b, double z) { return b.v[0] * b.v[4] * z; }
static double of_mixed(struct mixed m) { return *m.p * m.s; }
static double sized(const double *p, size_t n) { return p[n - 1] * p[n - 1]; }
static struct pair returns_pair(double x) { return (struct pair){x * x, 2 * x}; }
static struct big returns_big(double x) { return (struct big){{x, x * x, 0, 0, 7}}; }
static double *returns_pointer(double *p) {
  *p *= *p;
  return p;
}

float __adjoin_fwddiff_f(void *, ...);
struct float_result __adjoin_fwddiff_fr(void *, ...);
struct pair __adjoin_fwddiff_pair(void *, ...);
struct big __adjoin_fwddiff_big(void *, ...);
struct two_bigs {
  struct big value, tangent;
} __adjoin_fwddiff_two_bigs(void *, ...);
struct two_pairs {
  struct pair value, tangent;
} __adjoin_fwddiff_two_pairs(void *, ...);
double *__adjoin_fwddiff_p(void *, ...);
double __adjoin_fwddiff_fixed(double (*)(const double *, size_t), int, const double *, const double *, int, size_t);

int main(void) {
  float x = 3;
  CHECK(__adjoin_fwddiff_f((void *)promoted, adjoin_dup, x, 1.0f, adjoin_const, true, (char)2, (short)5), -60);
  struct float_result fr =
      __adjoin_fwddiff_fr((void *)promoted, adjoin_primal_return, adjoin_dup, x, 1.0f, adjoin_const, false, (char)2, (short)5);
  CHECK(fr.value, 90);
  CHECK(fr.tangent, 60);

  struct pair p = {2, 3}, dp = {1, 0};
  CHECK(__adjoin_fwddiff((void *)of_pair, adjoin_dup, p, dp, adjoin_const, 4.0), 12);
  CHECK(__adjoin_fwddiff((void *)of_pair, adjoin_const, p, adjoin_dup, 4.0, 1.0), 6);
  struct floats q = {2, 3}, dq = {0, 1};
  CHECK(__adjoin_fwddiff_f((void *)of_floats, adjoin_dup, q, dq), 2);
  struct three t = {2, 3, 4}, dt = {0, 0, 1};
  CHECK(__adjoin_fwddiff_f((void *)of_three, adjoin_dup, t, dt), 8);
  struct big b = {{2, 0, 0, 0, 3}}, db = {{1, 0, 0, 0, 1}};
  CHECK(__adjoin_fwddiff((void *)of_big, adjoin_dup, b, db, adjoin_const, 4.0), 20);
  double inner = 5, dinner = 1;
  struct mixed m = {&inner, 2}, dm = {&dinner, 0};
  CHECK(__adjoin_fwddiff((void *)of_mixed, adjoin_dup, m, dm), 2);

  double v[2] = {1, 3}, dv[2] = {0, 1};
  CHECK(__adjoin_fwddiff((void *)sized, adjoin_dup, v, dv, adjoin_const, 2), 6);
  CHECK(__adjoin_fwddiff((void *)sized, v, dv, (size_t)2), 6);
  CHECK(__adjoin_fwddiff((void *)sized, adjoin_dup, v, (size_t)2, dv, (size_t)0), 6);
  CHECK(__adjoin_fwddiff((void *)sized, adjoin_dup, v, dv, (size_t)2), 6);
  CHECK(__adjoin_fwddiff_fixed(sized, adjoin_dup, v, dv, adjoin_const, 2), 6);

  struct pair rp = __adjoin_fwddiff_pair((void *)returns_pair, x + 0.0, 1.0);
  CHECK(rp.a, 6);
  CHECK(rp.b, 2);
  struct two_pairs rpp = __adjoin_fwddiff_two_pairs((void *)returns_pair, adjoin_primal_return, 3.0, 1.0);
  CHECK(rpp.value.a, 9);
  CHECK(rpp.tangent.b, 2);
  struct big rb = __adjoin_fwddiff_big((void *)returns_big, 3.0, 1.0);
  CHECK(rb.v[1], 6);
  CHECK(rb.v[4], 0);
  struct two_bigs rbb = __adjoin_fwddiff_two_bigs((void *)returns_big, adjoin_primal_return, 3.0, 1.0);
  CHECK(rbb.value.v[4], 7);
  CHECK(rbb.tangent.v[1], 6);
  // Members may be left off at the end.
  rp = __adjoin_fwddiff_pair((void *)returns_pair, adjoin_primal_return, 3.0, 1.0);
  CHECK(rp.a, 9);

  double w = 3, dw = 1;
  double *shadow = __adjoin_fwddiff_p((void *)returns_pointer, adjoin_dup_return, &w, &dw);
  CHECK(shadow == &dw, 1);
  CHECK(dw, 6);
  return wrong;
}
