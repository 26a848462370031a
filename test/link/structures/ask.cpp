// The derivative of the C function, asked for in C++.
extern "C" {
double __adjoin_fwddiff(void *, ...);
extern int adjoin_dup;
double model(double);
__attribute__((visibility("default"))) double value(double x) {
  return model(x);
}
__attribute__((visibility("default"))) double tangent(double x) {
  return __adjoin_fwddiff(reinterpret_cast<void *>(model), adjoin_dup, x, 1.0);
}
}
