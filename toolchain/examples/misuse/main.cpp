// Wrong use of the C++ header: each CASE must fail to compile with the sentence behind it.
#include <adjoin/adjoin.hpp>
#include <memory>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

double f(double x, double y);
double g(const double *x, int n);
int counts(double x);
double takes(const std::vector<double> &x);
struct NoZero {
  std::unique_ptr<double> p;
};
double owner(const NoZero &x);

void use(double *p, const double *c, std::vector<double> &v, std::vector<float> &w, NoZero &z) {
  int n = 3;
#if CASE == 1 // the function cannot be called with these arguments
  adjoin::gradient(f, 1.0);
#elif CASE == 2 // the function must return a floating-point number
  adjoin::gradient(counts, 1.0);
#elif CASE == 3 // the shadow is missing
  adjoin::reverse(g, adjoin::dup(p), n);
#elif CASE == 4 // an integer has no derivative
  adjoin::forward(g, adjoin::dup(p, p), adjoin::dup(n, 1));
#elif CASE == 5 // the shadow of a number is a number
  adjoin::forward(f, adjoin::dup(1.0, p), adjoin::constant(1.0));
#elif CASE == 6 // the shadow of a pointer is a pointer
  adjoin::reverse(g, adjoin::dup(p, 1.0), n);
#elif CASE == 7 // the shadow must be of the argument's type
  adjoin::reverse(takes, adjoin::dup(v, w));
#elif CASE == 8 // in reverse mode a number is passed plainly
  adjoin::gradient(f, adjoin::dup(1.0, 1.0), 2.0);
#elif CASE == 9 // reverse mode adds to the shadow, which must not be const
  adjoin::reverse(g, adjoin::dup(p, c), n);
#elif CASE == 10 // a pointer or object needs dup(argument, shadow) or constant(argument)
  adjoin::reverse(g, p, n);
#elif CASE == 11 // a number, pointer or object needs dup(argument, tangent) or constant(argument)
  adjoin::forward(f, 1.0, adjoin::dup(2.0, 1.0));
#elif CASE == 12 // a pointer needs dup(pointer, shadow) or constant(pointer)
  adjoin::gradient(g, p, n);
#elif CASE == 13 // no shadow can be made for this type
  adjoin::gradient(owner, z);
#elif CASE == 14 // a floating-point number, an object or nothing
  adjoin::forward(counts, adjoin::dup(1.0, 1.0));
#elif CASE == 15 // the function must take (const T *x, T *y)
  adjoin::jacobian(f, v, 2);
#elif CASE == 16 // a span does not own its elements
  adjoin::gradient([](std::span<double> s) { return s[0]; }, std::span<double>(v));
#endif
}
