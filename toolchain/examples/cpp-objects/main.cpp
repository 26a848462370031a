// The C++ header: objects that are duplicated (span, vector, array, structs, Eigen).
#include "../check.h"
#include <Eigen/Dense>
#include <adjoin/adjoin.hpp>
#include <array>
#include <cmath>
#include <span>
#include <vector>

static double norm2(std::span<const double> x) {
  double sum = 0;
  for (double e : x)
    sum += e * e;
  return sum;
}
static double last(const std::vector<double> &x) { return x.back() * x.back(); }
static double mean(std::array<double, 4> x) { return (x[0] + x[1] + x[2] + x[3]) / 4; }

struct Vec3 {
  double x, y, z;
};
struct Body {
  Vec3 position;
  double mass;
  std::vector<double> charges;
};
static double potential(const Body &b) { return b.mass * b.position.z + b.charges[1] * b.position.x; }
static Vec3 cross(Vec3 a, const Vec3 &b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static std::vector<double> powers(double x) {
  std::vector<double> result;
  for (double p = x; result.size() < 4; p *= x)
    result.push_back(p);
  return result;
}
static double quadratic(const Eigen::VectorXd &x) { return x.squaredNorm() + x(0) * x(1); }

int main() {
  std::vector<double> x{1, 2, 3}, gx(3);
  double v = adjoin::reverse(norm2, adjoin::dup(std::span<const double>(x), std::span(gx)));
  check("span", v, 14);
  check("span, its adjoint", gx[2], 6);
  v = adjoin::reverse([](std::span<const double> s) { return norm2(s); }, adjoin::dup(x, gx));
  check("vector as span, added", gx[2], 12);

  auto gl = adjoin::gradient(last, x);
  check("vector", gl[2], 6);
  check("vector, untouched", gl[0], 0);
  auto gm = adjoin::gradient(mean, std::array<double, 4>{1, 2, 3, 4});
  check("array by value", gm[3], 0.25);

  Body body{{1, 2, 3}, 4, {5, 6}}, shadow{{0, 0, 0}, 0, {0, 0}};
  v = adjoin::reverse(potential, adjoin::dup(body, shadow));
  check("struct", v, 18);
  check("struct, d / d position.x", shadow.position.x, 6);
  check("struct, d / d position.z", shadow.position.z, 4);
  check("struct, d / d mass", shadow.mass, 3);
  check("struct, d / d charges[1]", shadow.charges[1], 1);

  Vec3 t = adjoin::forward(cross, adjoin::dup(Vec3{1, 2, 3}, Vec3{1, 0, 0}), adjoin::constant(Vec3{4, 5, 6}));
  check("struct result, tangent y", t.y, -6);
  check("struct result, tangent z", t.z, 5);
  auto [p, dp] = adjoin::value_and_forward(powers, adjoin::dup(2.0, 1.0));
  check("vector result", p[3], 16);
  check("vector result, tangent", dp[3], 32);

  Eigen::VectorXd e(3);
  e << 1, 2, 3;
  Eigen::VectorXd ge = adjoin::gradient(quadratic, e);
  check("Eigen", ge(0), 4);
  check("Eigen", ge(2), 6);
  return wrong;
}
