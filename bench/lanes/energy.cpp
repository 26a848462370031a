// Lennard-Jones energy, in an object of its own.
#include "energy.h"

double energy(const double *x) {
  double sum = 0;
  for (std::size_t i = 0; i < particles; ++i)
    for (std::size_t j = i + 1; j < particles; ++j) {
      double r2 = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        double d = x[3 * i + k] - x[3 * j + k];
        r2 += d * d;
      }
      double inverse = 1 / r2, s = inverse * inverse * inverse;
      sum += 4 * s * (s - 1);
    }
  return sum;
}

double energy_by_hand(const double *x, const double *dx) {
  double sum = 0;
  for (std::size_t i = 0; i < particles; ++i)
    for (std::size_t j = i + 1; j < particles; ++j) {
      double r2 = 0, t = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        double d = x[3 * i + k] - x[3 * j + k];
        r2 += d * d;
        t += d * (dx[3 * i + k] - dx[3 * j + k]);
      }
      double inverse = 1 / r2, s = inverse * inverse * inverse;
      // d(4 s (s - 1)) = 4 (2 s - 1) ds, ds = -3 s / r2 d(r2), d(r2) = 2 t
      sum += -24 * (2 * s - 1) * s * inverse * t;
    }
  return sum;
}
