// The kernels with double, for the compiler that makes their IR.
#include "Kernels.h"

#define KERNEL(F)                                                              \
  extern "C" double F(const double *X, int N) {                                \
    return adjoin::test::F<double>(X, N);                                      \
  }
ADJOIN_TEST_KERNELS(KERNEL)
