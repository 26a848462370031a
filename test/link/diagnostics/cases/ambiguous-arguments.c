// Values and shadows that can be told in two ways.
// error: the arguments from argument 3 on fit the parameters of 'f' in more than one way: put a tag before each
#include <adjoin.h>
double f(long a, long b, long c, long d, long e) { return a + b + c + d + e; }
int main(void) {
  return __adjoin_fwddiff((void *)f, adjoin_dup, 1L, 2L, 3L, 4L, adjoin_dup, 5L, 6L, 7L, 8L); // here
}
