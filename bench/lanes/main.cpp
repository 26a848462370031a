// Vector forward mode: W directions at once against W passes.
#include "energy.h"
#include <adjoin.h>
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr std::size_t n = 3 * particles;

struct Four {
  double t[4];
};
struct Eight {
  double t[8];
};
extern "C" Four __adjoin_fwddiff_four(void *, ...);
extern "C" Eight __adjoin_fwddiff_eight(void *, ...);

struct Data {
  std::vector<double> x = std::vector<double>(n), dx = std::vector<double>(8 * n);
  Data() {
    // A jittered grid, so that no two particles meet.
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t p = i / 3, k = i % 3;
      std::size_t cell = k == 0 ? p % 4 : k == 1 ? p / 4 % 4 : p / 16;
      x[i] = 1.2 * double(cell) + 0.1 * std::sin(double(i));
    }
    for (std::size_t i = 0; i < 8 * n; ++i)
      dx[i] = std::cos(double(i));
  }
};

static double along(const double *x, const double *dx) {
  return __adjoin_fwddiff((void *)energy, adjoin_dup, x, dx);
}
static Four along4(const double *x, const double *dx) {
  return __adjoin_fwddiff_four((void *)energy, adjoin_width, 4, adjoin_dupv, n * sizeof(double), x, dx);
}
static Eight along8(const double *x, const double *dx) {
  return __adjoin_fwddiff_eight((void *)energy, adjoin_width, 8, adjoin_dupv, n * sizeof(double), x, dx);
}

template <typename Body> static void repeat(benchmark::State &state, Body body) {
  Data data;
  for (auto _ : state) {
    benchmark::DoNotOptimize(data.x.data());
    benchmark::DoNotOptimize(data.dx.data());
    benchmark::ClobberMemory();
    body(data.x.data(), data.dx.data());
  }
}

static void primal(benchmark::State &state) {
  repeat(state, [](const double *x, const double *) { benchmark::DoNotOptimize(energy(x)); });
}
static void by_hand(benchmark::State &state) {
  repeat(state, [](const double *x, const double *dx) { benchmark::DoNotOptimize(energy_by_hand(x, dx)); });
}
static void width1(benchmark::State &state) {
  repeat(state, [](const double *x, const double *dx) { benchmark::DoNotOptimize(along(x, dx)); });
}
static void width4(benchmark::State &state) {
  repeat(state, [](const double *x, const double *dx) { benchmark::DoNotOptimize(along4(x, dx)); });
}
static void width8(benchmark::State &state) {
  repeat(state, [](const double *x, const double *dx) { benchmark::DoNotOptimize(along8(x, dx)); });
}
BENCHMARK(primal)->Name("primal");
BENCHMARK(by_hand)->Name("by hand");
BENCHMARK(width1)->Name("width 1");
BENCHMARK(width4)->Name("width 4");
BENCHMARK(width8)->Name("width 8");

int main(int argc, char **argv) {
  Data data;
  const double *x = data.x.data(), *dx = data.dx.data();
  Four four = along4(x, dx);
  Eight eight = along8(x, dx);
  for (std::size_t k = 0; k < 8; ++k) {
    double right = energy_by_hand(x, dx + k * n);
    for (double found : {along(x, dx + k * n), k < 4 ? four.t[k] : right, eight.t[k]})
      if (std::fabs(found - right) > 1e-10 * (1 + std::fabs(right))) {
        std::fprintf(stderr, "wrong derivative, lane %zu: %.17g, expected %.17g\n", k, found, right);
        return EXIT_FAILURE;
      }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
