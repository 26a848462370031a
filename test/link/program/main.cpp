// Compares every kernel's derivative with extrapolated differences, and prints
// the primal values, which may not depend on the plugin. Compiled without LTO.
#include "harness/Differences.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace adjoin::test;

#define SCALAR(f)                                                              \
  extern "C" double f(double, double);                                         \
  extern "C" double derivative_##f(double, double, double, double);
#define BUFFER(f)                                                              \
  extern "C" double f(double *, int);                                          \
  extern "C" double derivative_##f(double *, double *, int);
#define KERNELS_C
#define KERNELS_CXX
#define KERNELS_RUST
#define KERNELS_MIXED
#include "chosen.def"
#undef SCALAR
#undef BUFFER

static int Failures = 0, Entries = 0;

/// Kernels that compute in single precision.
static bool isSingle(const char *Name) {
  return std::strstr(Name, "float") != nullptr;
}

static void compare(const char *Name, size_t Input, size_t Output, double Got,
                    const Estimate &Want, double Unit) {
  ++Entries;
  double Scale = std::fmax(1.0, std::fabs(Want.Value));
  bool Vague = !(Want.Error <= std::fmax(1e-6, 4096 * Unit) * Scale);
  if (!Vague &&
      std::fabs(Got - Want.Value) <= 16 * Want.Error + 64 * Unit * Scale)
    return;
  ++Failures;
  std::printf("wrong %s: d%zu/d%zu is %.15g, expected %.15g (error %.3g)%s\n",
              Name, Output, Input, Got, Want.Value, Want.Error,
              Vague ? ", the differences do not converge" : "");
}

static std::vector<Estimate>
column(const std::vector<double> &X, size_t I, double Unit,
       std::vector<double> (*Call)(void *, std::vector<double>), void *F) {
  bool Single = Unit > 1e-12;
  return differences(
      [&](double &Step) {
        std::vector<double> At = X;
        At[I] += Step;
        if (Single)
          At[I] = static_cast<float>(At[I]);
        Step = At[I] - X[I];
        return Call(F, At);
      },
      Single ? 1.0 / 16 : 1.0 / 128, Single ? 4 : 7, Unit);
}

static std::vector<double> callScalar(void *F, std::vector<double> X) {
  return {reinterpret_cast<double (*)(double, double)>(F)(X[0], X[1])};
}

static void scalar(const char *Name, double (*F)(double, double),
                   double (*D)(double, double, double, double)) {
  std::vector<double> X = {1.3125, 0.71875};
  double Unit = isSingle(Name) ? 6e-8 : 1.2e-16;
  std::printf("value %s %a\n", Name, F(X[0], X[1]));
  std::fflush(stdout);
  if (!D)
    return;
  double Got[2] = {D(X[0], 1, X[1], 0), D(X[0], 0, X[1], 1)};
  for (size_t I = 0; I != 2; ++I)
    compare(Name, I, 0, Got[I],
            column(X, I, Unit, callScalar, reinterpret_cast<void *>(F))[0],
            Unit);
  if (F(X[0], X[1]) != F(X[0], X[1]) && ++Failures)
    std::printf("wrong %s: its value changes\n", Name);
}

static std::vector<double> callBuffer(void *F, std::vector<double> X) {
  double R = reinterpret_cast<double (*)(double *, int)>(F)(X.data(),
                                                             (int)X.size());
  X.push_back(R);
  return X;
}

static void buffer(const char *Name, double (*F)(double *, int),
                   double (*D)(double *, double *, int)) {
  const std::vector<double> X = {0.9, 1.4, 0.3, 2.1, 1.1, 0.6, 1.7, 0.8};
  std::vector<double> Values =
      callBuffer(reinterpret_cast<void *>(F), X);
  for (double V : Values)
    std::printf("value %s %a\n", Name, V);
  std::fflush(stdout);
  if (!D)
    return;
  for (size_t I = 0; I != X.size(); ++I) {
    std::vector<double> P = X, T(X.size(), 0.0);
    T[I] = 1;
    double Got = D(P.data(), T.data(), (int)P.size());
    T.push_back(Got);
    std::vector<Estimate> Want =
        column(X, I, 1.2e-16, callBuffer, reinterpret_cast<void *>(F));
    for (size_t J = 0; J != Want.size(); ++J)
      compare(Name, I, J, T[J], Want[J], 1.2e-16);
    for (size_t J = 0; J != P.size(); ++J)
      if (std::fabs(P[J] - Values[J]) > 1e-14 * std::fabs(Values[J]) &&
          ++Failures)
        std::printf("wrong %s: primal memory after the derivative\n", Name);
  }
}

int main() {
#ifdef PRIMAL_ONLY
#define SCALAR(f) scalar(#f, f, nullptr);
#define BUFFER(f) buffer(#f, f, nullptr);
#else
#define SCALAR(f) scalar(#f, f, derivative_##f);
#define BUFFER(f) buffer(#f, f, derivative_##f);
#endif
#include "chosen.def"
  std::printf("%d of %d derivative entries are wrong\n", Failures, Entries);
  return Failures != 0;
}
