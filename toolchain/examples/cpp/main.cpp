// The C++ header: functions, lambdas, function objects, member functions.
#include "../check.h"
#include "model.h"
#include <adjoin/adjoin.hpp>
#include <cmath>
#include <vector>

struct Power {
  int n;
  double operator()(double x) const { return std::pow(x, n); }
};

template <typename T> T cube(T x) { return x * x * x; }

int main() {
  // Functions, with everything active.
  auto [dx, dy] = adjoin::gradient(product, 0.5, 2.0);
  check("gradient, x", dx, 2 + std::cos(0.5));
  check("gradient, y", dy, 0.5);
  auto [v, vx, vy] = adjoin::value_and_gradient(product, 0.5, 2);
  check("value", v, 1 + std::sin(0.5));
  check("its gradient, x", vx, 2 + std::cos(0.5));
  check("its gradient, y", vy, 0.5);
  auto [bx, by] = adjoin::gradient(blend, 3.0f, 0.25);
  check("float, double: x", bx, 1.5);
  check("float, double: y", by, 9);
  check("constant", adjoin::gradient(product, adjoin::constant(0.5), 2.0), 0.5);

  // Memory.
  std::vector<double> x{1, 2, 3}, y{4, 5, 6}, gx(3), gy(3);
  double d = adjoin::reverse(dot, adjoin::dup(x.data(), gx.data()), adjoin::dup(y.data(), gy.data()), x.size());
  check("dot", d, 32);
  check("d dot / d x[1]", gx[1], 5);
  check("d dot / d y[2]", gy[2], 3);
  double t = adjoin::forward(dot, adjoin::dup(x.data(), y.data()), adjoin::constant(y.data()), x.size());
  check("dot, x along y", t, 77);
  double a = 3, b, da = 1, db;
  adjoin::forward(square, adjoin::dup(a, da), adjoin::dup(b, db));
  check("by reference, value", b, 9);
  check("by reference, tangent", db, 6);

  // Forward mode.
  check("forward", adjoin::forward(product, adjoin::dup(0.5, 1.0), adjoin::dup(2.0, 10.0)), 2 + std::cos(0.5) + 5);
  auto [fv, ft] = adjoin::value_and_forward(product, adjoin::dup(0.5, 1.0), adjoin::constant(2.0));
  check("forward, value", fv, 1 + std::sin(0.5));
  check("forward, tangent", ft, 2 + std::cos(0.5));

  // Whatever can be called.
  check("lambda", adjoin::gradient([](double x) { return x * x; }, 3.0), 6);
  double w = 5;
  check("lambda with captures", adjoin::gradient([&](double x) { return w * x * x; }, 3.0), 30);
  auto [lx, ly] = adjoin::gradient([](auto x, auto y) { return x * x * y; }, 3.0, 2.0f);
  check("generic lambda, double", lx, 12);
  check("generic lambda, float", ly, 9);
  check("function object", adjoin::gradient(Power{3}, 2.0), 12);
  check("template", adjoin::gradient(cube<double>, 2.0), 12);
  check("overload", adjoin::gradient(static_cast<double (*)(double)>(overloaded), 2.0), 12);
  Polynomial p{{1, 2, 3}}, dp{};
  check("member function", adjoin::gradient(&Polynomial::value, adjoin::constant(p), 2.0), 14);
  check("member function by name", adjoin::gradient(adjoin::function<&Polynomial::value>, adjoin::dup(p, dp), 2.0), 14);
  check("its object's adjoint", dp.c[2], 4);
  return wrong;
}
