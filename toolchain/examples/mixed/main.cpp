// The outermost function, in C++, and the program that asks for its derivative and its gradient.
#include <adjoin.h>
#include <cmath>
#include <cstdio>

extern "C" double spring_energy(double length, double rest); // Rust

// Energy of a mass at (x, y) that two springs hold.
static double energy(double x, double y) {
  double left = std::sqrt(x * x + y * y);
  double right = std::sqrt((3.0 - x) * (3.0 - x) + y * y);
  return spring_energy(left, 1.0) + spring_energy(right, 2.0) + 0.1 * y;
}

struct gradient {
  double dx, dy;
};
extern "C" gradient __adjoin_autodiff_gradient(void *, ...);

static bool report(const char *what, double ours, double difference) {
  std::printf("%-34s %.12f   differences %.9f\n", what, ours, difference);
  return std::fabs(ours - difference) <= 1e-7 * std::fabs(difference);
}

int main() {
  const double x = 1.25, y = 0.75, h = 1e-5;
  // What central differences say of both partial derivatives.
  double fx = (energy(x + h, y) - energy(x - h, y)) / (2 * h);
  double fy = (energy(x, y + h) - energy(x, y - h)) / (2 * h);

  // Forward mode: the derivative in the direction (1, 2).
  double along = __adjoin_fwddiff((void *)energy, adjoin_dup, x, 1.0, adjoin_dup, y, 2.0);
  // Reverse mode: both partial derivatives at once.
  gradient g = __adjoin_autodiff_gradient((void *)energy, adjoin_out, x, adjoin_out, y);

  bool right = report("forward, along (1, 2)", along, fx + 2 * fy);
  right &= report("reverse, d energy / d x", g.dx, fx);
  right &= report("reverse, d energy / d y", g.dy, fy);
  return right ? 0 : 1;
}
