// A marker is no function that could be passed on.
// anywhere: the address of the marker '__adjoin_fwddiff' is taken: a marker can only be called
#include <adjoin.h>
typedef double marker(void *, ...);
marker *volatile keep;
int main(void) { keep = __adjoin_fwddiff; }
