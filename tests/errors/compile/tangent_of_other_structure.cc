// tests/errors/compile/tangent_of_other_structure.cc -- a tensor for the tangent of a pair
// expect: hom: a tangent or cotangent has the structure of the value it belongs to
#include "tests/errors/fails.h"

MISTAKE(tangent_of_other_structure) {
  const auto f = [](std::pair<Tensor, Tensor> x) { return x.first * x.second; };
  const std::pair<Tensor, Tensor> x{1.0, 2.0};
#ifdef ALLOWED
  jvp(f)(x, x);
#else
  jvp(f)(x, 1.0);  // here
#endif
}
