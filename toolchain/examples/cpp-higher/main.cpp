// The C++ header: Jacobian.
#include "../check.h"
#include <adjoin/adjoin.hpp>
#include <cmath>
#include <vector>

// Five inputs, three outputs.
static void model(const double *x, double *y) {
  y[0] = x[0] * x[1];
  y[1] = std::sin(x[2]) + x[4];
  y[2] = x[3] * x[3] * x[0];
}

int main() {
  std::vector<double> x{1, 2, 0.5, 3, 4};
  auto j = adjoin::jacobian(model, x, 3);
  check("J(0, 0)", j(0, 0), 2);
  check("J(0, 1)", j(0, 1), 1);
  check("J(1, 2)", j(1, 2), std::cos(0.5));
  check("J(1, 4)", j(1, 4), 1);
  check("J(2, 0)", j(2, 0), 9);
  check("J(2, 3)", j(2, 3), 6);
  check("J(0, 4)", j.data()[4], 0);
  return wrong;
}
