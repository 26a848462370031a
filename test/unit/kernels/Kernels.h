// Numeric kernels as templates over their scalar type: compiled to IR with
// double, run in the tests with a scalar that carries the derivative.
#ifndef ADJOIN_TEST_UNIT_KERNELS_H
#define ADJOIN_TEST_UNIT_KERNELS_H

#include <cmath>

namespace adjoin::test {

/// Rosenbrock's function.
template <typename T> T rosenbrock(const T *X, int N) {
  T S = 0;
  for (int I = 0; I + 1 < N; ++I) {
    T A = X[I + 1] - X[I] * X[I], B = T(1) - X[I];
    S += T(100) * A * A + B * B;
  }
  return S;
}

/// Log of a sum of exponentials, shifted by the largest.
template <typename T> T logSumExp(const T *X, int N) {
  using std::exp;
  using std::log;
  T M = X[0];
  for (int I = 1; I < N; ++I)
    if (X[I] > M)
      M = X[I];
  T S = 0;
  for (int I = 0; I < N; ++I)
    S += exp(X[I] - M);
  return M + log(S);
}

/// Lennard-Jones energy of N/3 particles.
template <typename T> T lennardJones(const T *X, int N) {
  T E = 0;
  for (int I = 0; I + 2 < N; I += 3)
    for (int J = 0; J < I; J += 3) {
      T R2 = 0;
      for (int K = 0; K < 3; ++K) {
        T D = X[I + K] - X[J + K];
        R2 += D * D;
      }
      T R6 = T(1) / (R2 * R2 * R2);
      E += T(4) * (R6 * R6 - R6);
    }
  return E;
}

/// A pendulum by the classic Runge-Kutta method: angle, velocity, length,
/// damping.
template <typename T> T pendulum(const T *X, int N) {
  using std::sin;
  T A = X[0], V = X[1], L = X[2], C = X[3 % N], H = 0.05;
  auto F = [&](T P, T Q) { return T(-9.81) / L * sin(P) - C * Q; };
  for (int I = 0; I < 40; ++I) {
    T K1 = V, L1 = F(A, V);
    T K2 = V + H / T(2) * L1, L2 = F(A + H / T(2) * K1, K2);
    T K3 = V + H / T(2) * L2, L3 = F(A + H / T(2) * K2, K3);
    T K4 = V + H * L3, L4 = F(A + H * K3, K4);
    A += H / T(6) * (K1 + T(2) * (K2 + K3) + K4);
    V += H / T(6) * (L1 + T(2) * (L2 + L3) + L4);
  }
  return A * V;
}

/// The log determinant of a matrix near the identity, by LU decomposition with
/// row pivoting.
template <typename T> T logDeterminant(const T *X, int N) {
  using std::fabs;
  using std::log;
  const int M = 3;
  T A[M][M];
  for (int I = 0; I < M; ++I)
    for (int J = 0; J < M; ++J)
      A[I][J] = X[(I * M + J) % N] + (I == J ? T(3) : T(0));
  T S = 0;
  for (int K = 0; K < M; ++K) {
    int P = K;
    for (int I = K + 1; I < M; ++I)
      if (fabs(A[I][K]) > fabs(A[P][K]))
        P = I;
    for (int J = 0; J < M; ++J) {
      T Held = A[K][J];
      A[K][J] = A[P][J];
      A[P][J] = Held;
    }
    S += log(fabs(A[K][K]));
    for (int I = K + 1; I < M; ++I) {
      T F = A[I][K] / A[K][K];
      for (int J = K; J < M; ++J)
        A[I][J] -= F * A[K][J];
    }
  }
  return S;
}

/// Cubic spline through the points, evaluated between them (tridiagonal solve).
template <typename T> T spline(const T *X, int N) {
  T C[32], D[32];
  C[0] = 0;
  D[0] = 0;
  for (int I = 1; I + 1 < N; ++I) {
    T M = T(4) - C[I - 1];
    C[I] = T(1) / M;
    D[I] = (T(6) * (X[I + 1] - T(2) * X[I] + X[I - 1]) - D[I - 1]) / M;
  }
  T Next = 0, S = 0;
  for (int I = N - 2; I > 0; --I) {
    Next = D[I] - C[I] * Next;
    S += Next * X[I];
  }
  return S;
}

/// A small network: tanh layers with weights taken from X in turn.
template <typename T> T network(const T *X, int N) {
  using std::tanh;
  T H[4] = {T(0.1), T(0.2), T(-0.3), T(0.4)};
  int W = 0;
  for (int Layer = 0; Layer < 3; ++Layer) {
    T G[4];
    for (int I = 0; I < 4; ++I) {
      T S = 0;
      for (int J = 0; J < 4; ++J, W = (W + 1) % N)
        S += X[W] * H[J];
      G[I] = tanh(S);
    }
    for (int I = 0; I < 4; ++I)
      H[I] = G[I];
  }
  return H[0] * H[1] + H[2] - H[3];
}

/// Two-body orbit elements: powers, arc tangents, square roots.
template <typename T> T orbit(const T *X, int N) {
  using std::atan2;
  using std::cos;
  using std::pow;
  using std::sqrt;
  T R = sqrt(X[0] * X[0] + X[1] * X[1]), V2 = X[2] * X[2] + X[3] * X[3];
  T A = T(1) / (T(2) / R + V2 / T(2.5));
  T E = sqrt(fabs(T(1) - pow(X[0] * X[3] - X[1] * X[2], T(2)) / A / T(2.5)));
  T Nu = atan2(X[1], X[0]) + X[4 % N];
  return A * (T(1) - E * E) / (T(1) + E * cos(Nu)) + pow(A, T(1.5));
}

#define ADJOIN_TEST_KERNELS(K)                                                 \
  K(rosenbrock)                                                                \
  K(logSumExp)                                                                 \
  K(lennardJones)                                                              \
  K(pendulum)                                                                  \
  K(logDeterminant)                                                            \
  K(spline)                                                                    \
  K(network)                                                                   \
  K(orbit)

} // namespace adjoin::test

#endif
