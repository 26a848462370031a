// The main of the program without a marker.
#include <iostream>
#include <string>

#define PARTS(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7)
#define DECLARE(i) std::string part##i(unsigned seed);
PARTS(DECLARE)

int main(int argc, char **) {
#define CALL(i) std::cout << part##i(unsigned(argc)) << '\n';
  PARTS(CALL)
}
