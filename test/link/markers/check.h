/* Comparing numbers: a program of this folder exits with the number of those that are wrong. */
#include <adjoin.h>
#include <math.h>
#include <stdio.h>

static int wrong;
static void check(int line, double have, double want) {
  if (fabs(have - want) <= 1e-6 * (1 + fabs(want)))
    return;
  printf("line %d: %.17g, not %.17g\n", line, have, want);
  ++wrong;
}
#define CHECK(have, want) check(__LINE__, have, want)
