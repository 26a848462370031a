// The function itself has no IR.
// native
// error: cannot differentiate 'missing': it has no IR in this link
// note: compile it with -flto*
#include <adjoin.h>
double missing(double);
int main(void) { return __adjoin_fwddiff((void *)missing, 1.0, 1.0); } // here
