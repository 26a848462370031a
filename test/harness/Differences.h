// Derivatives from function values alone: central differences, extrapolated to
// step zero, with an estimate of their error.
#ifndef ADJOIN_TEST_HARNESS_DIFFERENCES_H
#define ADJOIN_TEST_HARNESS_DIFFERENCES_H

#include <functional>
#include <vector>

namespace adjoin::test {

/// A derivative and how far off it may be.
struct Estimate {
  double Value;
  double Error;
  double Size = 0; ///< the largest function value met
};

/// The derivative at zero of every output of a function of one variable.
///
/// \p F takes a step t, which it may replace by the one that it really made
/// (rounded to a float, say), and returns the outputs. Central differences at
/// First, First/2, … fill a Neville table in powers of t^2 (Richardson's
/// extrapolation; Ridders, Advances in Engineering Software 4(2), 1982: the
/// entry with the smallest change wins). \p Unit is the relative rounding
/// error of the outputs. An output that is not finite at the larger steps is
/// taken from the smaller ones; one that never is has an infinite error.
std::vector<Estimate>
differences(const std::function<std::vector<double>(double &)> &F, double First,
            unsigned Levels, double Unit);

} // namespace adjoin::test

#endif
