// The same, with the wrapper between.
// anywhere: the function to differentiate is chosen at run time
// note: '*wrap*' is called *
#include <adjoin.h>
static double f(double x) { return x * x; }
static double g(double x) { return x; }
template <typename F> __attribute__((noinline)) static double wrap(F *h) {
  return __adjoin_fwddiff(reinterpret_cast<void *>(h), 1.0, 1.0);
}
int main(int argc, char **) { return wrap(argc > 1 ? f : g); }
