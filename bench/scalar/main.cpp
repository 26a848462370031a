// The derivative of a scalar function in another object: ours, by hand, and by a dual-number class.
#include "f.h"
#include <adjoin/adjoin.hpp>
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// The usual way without a compiler: a number and its tangent.
struct Dual {
  double v, t;
};
static Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.t + b.t}; }
static Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.t * b.v + a.v * b.t}; }
static Dual operator/(Dual a, Dual b) { return {a.v / b.v, (a.t * b.v - a.v * b.t) / (b.v * b.v)}; }
static Dual sin(Dual a) { return {std::sin(a.v), std::cos(a.v) * a.t}; }
static Dual cos(Dual a) { return {std::cos(a.v), -std::sin(a.v) * a.t}; }
static Dual exp(Dual a) {
  double e = std::exp(a.v);
  return {e, e * a.t};
}
static Dual sqrt(Dual a) {
  double r = std::sqrt(a.v);
  return {r, a.t / (2 * r)};
}
static Dual f_dual(Dual x) {
  Dual s = sin(x), c = cos(x);
  return exp(x) / sqrt(s * s * s + c * c * c);
}

static std::vector<double> points() {
  std::vector<double> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 0.1 + 1.3 * double(i) / double(x.size());
  return x;
}

template <typename Derivative> static double sum(const std::vector<double> &x, Derivative derivative) {
  double total = 0;
  for (double at : x)
    total += derivative(at);
  return total;
}

static double primal(const std::vector<double> &x) {
  return sum(x, [](double at) { return f(at); });
}
static double by_hand(const std::vector<double> &x) {
  return sum(x, [](double at) { return f_by_hand(at); });
}
static double dual(const std::vector<double> &x) {
  return sum(x, [](double at) { return f_dual({at, 1}).t; });
}
static double forward(const std::vector<double> &x) {
  return sum(x, [](double at) { return adjoin::forward(f, adjoin::dup(at, 1.0)); });
}
static double reverse(const std::vector<double> &x) {
  return sum(x, [](double at) { return adjoin::gradient(f, at); });
}

template <double (*Loop)(const std::vector<double> &)> static void loop(benchmark::State &state) {
  std::vector<double> x = points();
  for (auto _ : state) {
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(Loop(x));
  }
}
BENCHMARK(loop<primal>)->Name("primal");
BENCHMARK(loop<by_hand>)->Name("by hand");
BENCHMARK(loop<forward>)->Name("forward");
BENCHMARK(loop<reverse>)->Name("reverse");
BENCHMARK(loop<dual>)->Name("dual numbers");

int main(int argc, char **argv) {
  std::vector<double> x = points();
  double right = by_hand(x);
  for (double found : {forward(x), reverse(x), dual(x)})
    if (std::fabs(found - right) > 1e-12 * std::fabs(right)) {
      std::fprintf(stderr, "wrong derivative: %.17g, expected %.17g\n", found, right);
      return EXIT_FAILURE;
    }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
