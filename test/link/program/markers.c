/* Derivatives of the C++ and the mixed kernels, asked for in C. Tags are passed by value. */
extern int adjoin_dup, adjoin_const;
double __adjoin_fwddiff_c(void *, ...);

#define SCALAR(f)                                                                                                     \
  double f(double, double);                                                                                           \
  double derivative_##f(double x, double dx, double y, double dy) {                                                   \
    return __adjoin_fwddiff_c((void *)f, adjoin_dup, x, dx, adjoin_dup, y, dy);                                       \
  }
#define BUFFER(f)                                                                                                     \
  double f(double *, int);                                                                                            \
  double derivative_##f(double *p, double *dp, int n) {                                                               \
    return __adjoin_fwddiff_c((void *)f, adjoin_dup, p, dp, adjoin_const, n);                                         \
  }
#define KERNELS_CXX
#define KERNELS_MIXED
#include "chosen.def"
