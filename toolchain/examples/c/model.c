/* What is differentiated: a chain of springs, in an object of its own. */
#include "model.h"

double spring(double stretch, double stiffness) { return 0.5 * stiffness * stretch * stretch; }

double energy(const double *x, int n, double stiffness) {
  double sum = 0;
  for (int i = 1; i < n; ++i)
    sum += spring(x[i] - x[i - 1] - 1, stiffness);
  return sum;
}

void relax(double *x, int n, double rate) {
  for (int i = 1; i + 1 < n; ++i)
    x[i] += rate * (x[i - 1] + x[i + 1] - 2 * x[i]);
}
