// tests/errors/run/tangent_of_wrong_shape.cc -- a direction of another shape than the argument
// expect: tangent
// expect: f64[4], not f64[3]
#include "tests/errors/fails.h"

MISTAKE(tangent_of_wrong_shape) {
  const auto f = [](Tensor x) { return sin(x); };
  const Tensor x = ones({3});
#ifdef ALLOWED
  jvp(f)(x, ones({3}));
#else
  jvp(f)(x, ones({4}));  // here
#endif
}
