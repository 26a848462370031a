// Reverse mode in two calls.
// error: reverse mode in two calls is not supported yet
// error: reverse mode in two calls is not supported yet
#include <adjoin.h>
double f(double x) { return x * x; }
void *first(void) {
  return __adjoin_augmentfwd((void *)f, 1.0); // here
}
int main(void) {
  return __adjoin_reverse((void *)f, 1.0, 1.0, first()); // here
}
