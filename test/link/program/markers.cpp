// Derivatives of the Rust kernels, asked for in C++ through a template that
// passes tags by address.
extern "C" int adjoin_dup, adjoin_const;
template <typename R, typename... T> R __adjoin_fwddiff(void *, T...);

template <typename F, typename... T> static double tangent(F *f, T... args) {
  return __adjoin_fwddiff<double>(reinterpret_cast<void *>(f), args...);
}

#define SCALAR(f)                                                              \
  extern "C" double f(double, double);                                         \
  extern "C" double derivative_##f(double x, double dx, double y, double dy) { \
    return tangent(f, &adjoin_dup, x, dx, &adjoin_dup, y, dy);                 \
  }
#define BUFFER(f)                                                              \
  extern "C" double f(double *, int);                                          \
  extern "C" double derivative_##f(double *p, double *dp, int n) {             \
    return tangent(f, &adjoin_dup, p, dp, &adjoin_const, n);                   \
  }
#define KERNELS_RUST
#include "chosen.def"
