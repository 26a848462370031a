/* Functions about which the plugin is told something: the registrations are in rules.cpp and here. */
#include "functions.h"
#include <adjoin.h>
#include <math.h>
#include <stdio.h>

ADJOIN_NOINLINE double integral(double x);
ADJOIN_NOINLINE double norm(const double *x, int n);

/* Keeps a log in a global: nothing of it is active. */
static double last_report;
ADJOIN_INACTIVE(report)
void report(double x) { last_report = 2 * x; }

/* A table look-up that stands for log1p. */
ADJOIN_LIKE(my_log1p, "log1p")
double my_log1p(double x) { return (float)log1p(x); }

/* The integral of exp(-t*t) from 0 to x, by a rule that stops when it is good enough: not to be differentiated. */
double integral(double x) {
  double sum = 0;
  for (int n = 2; n < 2000000; n *= 2) {
    double next = 0, h = x / n;
    for (int i = 0; i < n; ++i)
      next += h * exp(-(i + 0.5) * h * ((i + 0.5) * h));
    if (fabs(next - sum) < 1e-9)
      return next;
    sum = next;
  }
  return sum;
}

double norm(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sqrt(sum);
}
