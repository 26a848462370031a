/* What the generated programs share. With REFERENCE defined all floating point is long double, for the differences: the
 * functions have the same source and other names. */
#ifndef FUZZ_H
#define FUZZ_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sincos */
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern FILE *sink; /* what the programs print goes there */

#ifdef REFERENCE

typedef void run_function(const long double *in, long double *out, int n);
#include "long_double.h"
#define REAL "%Lg"
#define REAL_ARG(x) ((wide)(x))
typedef unsigned __int128 __attribute__((may_alias)) bits;
#define FLIP_SIGN(x) (-(x))
#define CLEAR_SIGN(x) fabs(x)
#define SET_SIGN(x) (-fabs(x))
#define MOVE_PAIR(to, from) (*(to) = *(from))

#else

typedef void run_function(const double *in, double *out, int n);
#define REAL "%g"
#define REAL_ARG(x) ((double)(x))
typedef uint64_t __attribute__((may_alias)) bits;

/* Signs changed by arithmetic on the bits. */
static inline double with_bits(double x, uint64_t keep, uint64_t flip, uint64_t set) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  b = ((b & keep) ^ flip) | set;
  memcpy(&x, &b, sizeof x);
  return x;
}
#define SIGN (UINT64_C(1) << 63)
#define FLIP_SIGN(x) with_bits(x, ~UINT64_C(0), SIGN, 0)
#define CLEAR_SIGN(x) with_bits(x, ~SIGN, 0, 0)
#define SET_SIGN(x) with_bits(x, ~UINT64_C(0), 0, SIGN)
/* Two floats moved as one integer. */
#define MOVE_PAIR(to, from)                                                                                            \
  do {                                                                                                                 \
    uint64_t moved;                                                                                                    \
    memcpy(&moved, from, sizeof moved);                                                                                \
    memcpy(to, &moved, sizeof moved);                                                                                  \
  } while (0)

#endif

static const int scatter[12] = {3, 8, 1, 11, 0, 6, 9, 2, 7, 4, 10, 5};

#define reset_all() (reset_a(), reset_b())
#define state_all() (state_a() + state_b())

#endif
