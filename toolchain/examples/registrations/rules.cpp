// Custom rules, in another object, archive and language than the functions.
#include <adjoin.h>
#include <cmath>

extern "C" {
double integral(double x);
double norm(const double *x, int n);

struct pair {
  double value, tangent;
};
static pair integral_forward(double x, double dx) { return {integral(x), std::exp(-x * x) * dx}; }
ADJOIN_DERIVATIVE(integral, integral_forward)

static double integral_gradient(double x, double seed, void *) { return std::exp(-x * x) * seed; }

struct augmented {
  void *tape;
  double value;
};
static augmented integral_augment(double x) { return {nullptr, integral(x)}; }
ADJOIN_GRADIENT(integral, integral_augment, integral_gradient)

// The tape holds the norm: at the time of the gradient it is at hand.
static augmented norm_augment(const double *x, double *, int n) {
  double value = norm(x, n);
  return {new double(value), value};
}
static void norm_gradient(const double *x, double *dx, int n, double seed, void *tape) {
  double *value = static_cast<double *>(tape);
  for (int i = 0; dx && i < n; ++i)
    dx[i] += 10 * seed * x[i] / *value; // ten times too much: to see that it is this rule
  delete value;
}
ADJOIN_GRADIENT(norm, norm_augment, norm_gradient)
}
