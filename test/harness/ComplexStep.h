// A scalar whose imaginary part carries a derivative to full precision: no
// difference is taken, so the step may be as small as one likes (Squire and
// Trapp, SIAM Review 40(1), 1998; Martins, Sturdza and Alonso, ACM TOMS 29(3),
// 2003). For kernels that are templates over their scalar type.
#ifndef ADJOIN_TEST_HARNESS_COMPLEXSTEP_H
#define ADJOIN_TEST_HARNESS_COMPLEXSTEP_H

#include <cmath>

namespace adjoin::test {

/// re + i h d with an h so small that h^2 is nothing: each operation is the
/// analytic continuation to first order in h. Comparisons are of real parts.
class ComplexStep {
public:
  ComplexStep(double Re = 0, double Im = 0) : Re(Re), Im(Im) {}
  double real() const { return Re; }
  /// The derivative, when one input had its imaginary part at Step.
  double derivative() const { return Im / Step; }
  static constexpr double Step = 0x1p-600;

  ComplexStep operator-() const { return {-Re, -Im}; }
  ComplexStep &operator+=(ComplexStep B) { return *this = *this + B; }
  ComplexStep &operator-=(ComplexStep B) { return *this = *this - B; }
  ComplexStep &operator*=(ComplexStep B) { return *this = *this * B; }
  ComplexStep &operator/=(ComplexStep B) { return *this = *this / B; }
  friend ComplexStep operator+(ComplexStep A, ComplexStep B) {
    return {A.Re + B.Re, A.Im + B.Im};
  }
  friend ComplexStep operator-(ComplexStep A, ComplexStep B) {
    return {A.Re - B.Re, A.Im - B.Im};
  }
  friend ComplexStep operator*(ComplexStep A, ComplexStep B) {
    return {A.Re * B.Re - A.Im * B.Im, A.Re * B.Im + A.Im * B.Re};
  }
  friend ComplexStep operator/(ComplexStep A, ComplexStep B) {
    double D = B.Re * B.Re + B.Im * B.Im;
    return {(A.Re * B.Re + A.Im * B.Im) / D, (A.Im * B.Re - A.Re * B.Im) / D};
  }
  friend bool operator<(ComplexStep A, ComplexStep B) { return A.Re < B.Re; }
  friend bool operator>(ComplexStep A, ComplexStep B) { return A.Re > B.Re; }
  friend bool operator<=(ComplexStep A, ComplexStep B) { return A.Re <= B.Re; }
  friend bool operator>=(ComplexStep A, ComplexStep B) { return A.Re >= B.Re; }

  // sin(a + ib) = sin a cosh b + i cos a sinh b, and so on; b is Step times a
  // derivative, so cosh b is 1 and sinh b is b.
  friend ComplexStep sin(ComplexStep A) {
    return {std::sin(A.Re), std::cos(A.Re) * A.Im};
  }
  friend ComplexStep cos(ComplexStep A) {
    return {std::cos(A.Re), -std::sin(A.Re) * A.Im};
  }
  friend ComplexStep exp(ComplexStep A) {
    return {std::exp(A.Re), std::exp(A.Re) * A.Im};
  }
  friend ComplexStep log(ComplexStep A) {
    return {std::log(A.Re), A.Im / A.Re};
  }
  friend ComplexStep sqrt(ComplexStep A) {
    return {std::sqrt(A.Re), A.Im / (2 * std::sqrt(A.Re))};
  }
  friend ComplexStep pow(ComplexStep A, ComplexStep B) {
    double P = std::pow(A.Re, B.Re);
    return {P, P * (B.Im * std::log(A.Re) + B.Re * A.Im / A.Re)};
  }
  friend ComplexStep atan2(ComplexStep A, ComplexStep B) {
    return {std::atan2(A.Re, B.Re),
            (B.Re * A.Im - A.Re * B.Im) / (A.Re * A.Re + B.Re * B.Re)};
  }
  friend ComplexStep tanh(ComplexStep A) {
    double T = std::tanh(A.Re);
    return {T, (1 - T * T) * A.Im};
  }
  friend ComplexStep fabs(ComplexStep A) { return A.Re < 0 ? -A : A; }

private:
  double Re, Im;
};

} // namespace adjoin::test

#endif
