// tests/errors/compile/branches_of_switch_of_other_types.cc -- branches of other C++ types
// expect: hom: both branches of cond return the same C++ type
#include "tests/errors/fails.h"

MISTAKE(branches_of_switch_of_other_types) {
  const auto one = [](Tensor x) { return x; };
  const auto two = [](Tensor x) { return std::pair{x, x}; };
#ifdef ALLOWED
  switch_(1, std::tuple{one, one}, 1.0);
  switch_(1, std::tuple{two, two}, 1.0);
#else
  switch_(1, std::tuple{one, two}, 1.0);  // here
#endif
}
