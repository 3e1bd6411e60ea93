// tests/errors/run/cotangent_of_wrong_shape.cc -- a cotangent of another shape than the result
// expect: cotangent
// expect: f64[2], not f64[3]
#include "tests/errors/fails.h"

MISTAKE(cotangent_of_wrong_shape) {
  const auto f = [](Tensor x) { return sin(x); };
  const Tensor x = ones({3});
#ifdef ALLOWED
  vjp(f)(x).second(ones({3}));
#else
  const auto pullback = vjp(f)(x).second;
  pullback(ones({2}));  // here
#endif
}
