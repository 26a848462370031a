// A name that looks like a marker.
// error: '__adjoin_gradient' is no marker: there are autodiff, fwddiff, augmentfwd and reverse
double __adjoin_gradient(void *, ...);
double f(double x) { return x * x; }
int main(void) { return __adjoin_gradient((void *)f, 1.0); } // here
