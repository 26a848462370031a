/* The innermost function, in C: a spring that stiffens as it stretches. */
#include <math.h>

double stiffness(double strain) { return 2.0 * exp(strain) + sqrt(1.0 + strain * strain); }
