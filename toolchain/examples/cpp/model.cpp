// The functions of model.h.
#include "model.h"
#include <cmath>

double product(double x, double y) { return x * y + std::sin(x); }
float blend(float x, double y) { return x * x * float(y); }
double dot(const double *x, const double *y, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += x[i] * y[i];
  return sum;
}
void square(const double &x, double &y) { y = x * x; }
double Polynomial::value(double x) const { return c[0] + x * (c[1] + x * c[2]); }
double overloaded(double x) { return x * x * x; }
float overloaded(float x) { return x; }
