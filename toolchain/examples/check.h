/* Compares numbers of an example with what they must be. C and C++. */
#ifndef ADJOIN_EXAMPLES_CHECK_H
#define ADJOIN_EXAMPLES_CHECK_H

#include <math.h>
#include <stdio.h>

static int wrong = 0;

/* Prints a number, and notes when it is not what is expected. */
static inline void check(const char *what, double found, double expected) {
  int ok = fabs(found - expected) <= 1e-12 * (1 + fabs(expected));
  printf("%-40s %22.15g%s\n", what, found, ok ? "" : "   WRONG");
  if (!ok) {
    printf("%-40s %22.15g   expected\n", "", expected);
    wrong++;
  }
}

#endif
