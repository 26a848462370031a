// ThinLTO has one module of many.
// flags: -flto=thin
// error: a derivative cannot be made in a ThinLTO link: compile with -flto or -flto=full (rustc: -Clto=fat)
#include <adjoin.h>
double f(double x) { return x * x; }
int main(void) { return __adjoin_fwddiff((void *)f, 1.0, 1.0); } // here
