// The address of something else.
// error: the first argument, 'table', is not a function
// error: the function to differentiate is a null pointer
#include <adjoin.h>
double table[4] = {1, 2, 3, 4};
int main(void) {
  double t = __adjoin_fwddiff(table, 1.0, 1.0); // here
  return t + __adjoin_fwddiff((void *)0, 1.0, 1.0); // here
}
