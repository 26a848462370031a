// Tables that say nothing sensible.
// anywhere: this registration has 1 entry, it takes two: the function and its derivative
// anywhere: entry 2 of this registration is not the address of a function
// anywhere: there is no known function 'lg1p'
// anywhere: 'f' does not have the type of 'atan2'
// anywhere: 'wrong' cannot be a rule of 'g': it must take 'double', 'double'
// anywhere: unknown registration '__adjoin_register_tangent_x'
#include <adjoin.h>
double f(double x) { return x * x; }
double g(double x) { return x * x; }
double wrong(double x) { return x; }
__attribute__((used)) void *__adjoin_register_derivative_a[] = {f};
__attribute__((used)) void *__adjoin_register_derivative_b[] = {f, 0};
__attribute__((used)) void *__adjoin_function_like_c[] = {f, "lg1p"};
__attribute__((used)) void *__adjoin_function_like_d[] = {f, "atan2"};
__attribute__((used)) void *__adjoin_register_derivative_e[] = {g, wrong};
__attribute__((used)) void *__adjoin_register_tangent_x[] = {f};
int main(void) { return 0; }
