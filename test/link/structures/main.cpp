// Checks model'(x) for model(x) = sin(x) (x^2 + exp(x)). Compiled without LTO.
#include <cmath>
#include <cstdio>
extern "C" double value(double), tangent(double);
int main() {
  double x = 0.7, rate = x * x + std::exp(x);
  double v = std::sin(x) * rate;
  double t = std::cos(x) * rate + std::sin(x) * (2 * x + std::exp(x));
  std::printf("%.17g %.17g, expected %.17g %.17g\n", value(x), tangent(x), v, t);
  return !(std::fabs(value(x) - v) < 1e-14 && std::fabs(tangent(x) - t) < 1e-14);
}
