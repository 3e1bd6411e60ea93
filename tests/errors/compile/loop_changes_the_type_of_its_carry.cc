// tests/errors/compile/loop_changes_the_type_of_its_carry.cc -- its body returns another C++ type
// expect: hom: the body of a loop returns the carry in the C++ type in which it takes it
#include "tests/errors/fails.h"

MISTAKE(loop_changes_the_type_of_its_carry) {
  const auto goes_on = [](Tensor x, Tensor) { return x < 10; };
#ifdef ALLOWED
  while_loop(goes_on, [](Tensor x, Tensor y) { return std::pair{x + y, y}; }, std::pair{1.0, 2.0});
#else
  while_loop(goes_on, [](Tensor x, Tensor y) { return x + y; }, std::pair{1.0, 2.0});  // here
#endif
}
