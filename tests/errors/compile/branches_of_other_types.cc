// tests/errors/compile/branches_of_other_types.cc -- branches that return different C++ types
// expect: hom: both branches of cond return the same C++ type
#include "tests/errors/fails.h"

MISTAKE(branches_of_other_types) {
  const auto one = [](Tensor x) { return x; };
  const auto two = [](Tensor x) { return std::pair{x, x}; };
#ifdef ALLOWED
  grad([&](Tensor x) { return cond(x > 0, two, two, x).first; })(1.0);
  static_cast<void>(one);
#else
  grad([&](Tensor x) { return cond(x > 0, one, two, x); })(1.0);  // here
#endif
}
