// The C++ header: Hessian times vector, forward over reverse mode.
#include "../check.h"
#include <adjoin/adjoin.hpp>
#include <span>
#include <vector>

static double rosenbrock(std::span<const double> x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
    sum += 100 * a * a + b * b;
  }
  return sum;
}

int main() {
  std::vector<double> at{1, 1}, along{1, 2};
  std::vector<double> hv = adjoin::hvp(rosenbrock, at, along);
  // The Hessian at (1, 1) is {802, -400; -400, 200}.
  check("(H v)[0]", hv[0], 2);
  check("(H v)[1]", hv[1], 0);
  return wrong;
}
