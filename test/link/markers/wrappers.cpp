// Functions, tags and widths that are known only where a wrapper is called.
#include "check.h"
#include <utility>

template <class R, class... A> R __adjoin_fwddiff(void *, A...);

static double f(double x) { return x * x; }
static double g(double x, double y) { return x * y; }

// Everything comes from the caller, by value and by reference.
template <class F, class... A> static double wrap(F *fn, A &&...a) {
  return __adjoin_fwddiff<double>(reinterpret_cast<void *>(fn), std::forward<A>(a)...);
}
template <class F, class... A> static double twice(F *fn, A &&...a) { return wrap(fn, std::forward<A>(a)...); }

// Exported: other callers may exist.
double exported(double (*fn)(double), double x) { return __adjoin_fwddiff<double>(reinterpret_cast<void *>(fn), x, 1.0); }
__attribute__((noinline)) static double kept(double (*fn)(double), double x) {
  return __adjoin_fwddiff<double>(reinterpret_cast<void *>(fn), x, 1.0);
}

// The function is a member.
struct Solver {
  double (*fn)(double);
  Solver(double (*fn)(double)) : fn(fn) {}
  double (*get() const)(double) { return fn; }
  double at(double x) const { return __adjoin_fwddiff<double>(reinterpret_cast<void *>(get()), x, 1.0); }
};

// Variables and tables that nobody writes.
static double (*variable)(double) = f;
static double (*const table[])(double) = {f, [](double x) { return x * x * x; }};

template <double (*F)(double)> double parameter(double x) {
  return __adjoin_fwddiff<double>(reinterpret_cast<void *>(F), x, 1.0);
}

struct two {
  double lane[2];
};
static two lanes(int width, double (*fn)(double), double x) {
  return __adjoin_fwddiff<two>(reinterpret_cast<void *>(fn), &adjoin_width, width, x, 1.0, 2.0);
}
static double with_tag(int &tag, double x, double y) {
  return __adjoin_fwddiff<double>(reinterpret_cast<void *>(g), adjoin_dup, x, 1.0, tag, y);
}

// The wrapper throws through its marker.
struct Problem {
  double value;
};
__attribute__((noinline)) static double risky(double x) {
  if (x < 0)
    throw Problem{x};
  return std::sqrt(x);
}
struct Guard {
  int &count;
  ~Guard() { ++count; }
};
template <class F> static double guarded(F *fn, double x, int &count) {
  Guard guard{count};
  return __adjoin_fwddiff<double>(reinterpret_cast<void *>(fn), x, 1.0);
}

// Never called with a function that is known, and never called.
template <class F> double unused(F *fn) { return __adjoin_fwddiff<double>(reinterpret_cast<void *>(fn), 1.0, 1.0); }
template double unused(double (*)(double));

int main() {
  double x = 3, y = 4;
  CHECK(wrap(f, adjoin_dup, x, 1.0), 6);
  CHECK(wrap(f, x, 1.0), 6);
  CHECK(twice(g, &adjoin_dup, x, 1.0, &adjoin_const, y), 4);
  CHECK(twice(g, adjoin_const, x, adjoin_dup, y, 1.0), 3);
  CHECK(exported(f, x), 6);
  CHECK(kept(f, x), 6);
  CHECK(kept([](double v) { return std::sin(v); }, x), std::cos(x));
  CHECK(Solver(f).at(x), 6);
  CHECK(__adjoin_fwddiff<double>(reinterpret_cast<void *>(variable), x, 1.0), 6);
  CHECK(__adjoin_fwddiff<double>(reinterpret_cast<void *>(table[1]), x, 1.0), 27);
  CHECK(parameter<f>(x), 6);
  auto by_reference = [&](double (*fn)(double)) {
    return __adjoin_fwddiff<double>(reinterpret_cast<void *>(fn), x, 1.0);
  };
  CHECK(by_reference(f), 6);
  CHECK(lanes(2, f, x).lane[1], 12);
  CHECK(with_tag(adjoin_const, x, y), 4);
  int count = 0;
  CHECK(guarded(risky, x, count), 0.5 / std::sqrt(x));
  double caught = 0;
  try {
    guarded(risky, -1, count);
  } catch (const Problem &p) {
    caught = p.value;
  }
  CHECK(caught, -1);
  CHECK(count, 2);
  return wrong;
}
