// tests/errors/run/gradient_of_an_integer_leaf_used.cc -- using the unit
// expect: an empty tensor is used
// expect: integer leaves of a gradient are empty too
#include "tests/errors/fails.h"

MISTAKE(gradient_of_an_integer_leaf_used) {
  const auto f = [](Tensor x, Tensor n) { return x * n; };
  const auto [dx, dn] = grad(f, wrt<0, 1>)(1.0, 2);
#ifdef ALLOWED
  dx + 1;
#else
  dn + 1;  // here
#endif
}
