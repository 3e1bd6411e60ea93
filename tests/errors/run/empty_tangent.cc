// tests/errors/run/empty_tangent.cc -- a direction that is missing
// expect: tangent
// expect: is empty, but belongs to f64[3]
// expect: hint: pass zeros for what does not vary
#include "tests/errors/fails.h"

MISTAKE(empty_tangent) {
  const auto f = [](Tensor x) { return sin(x); };
  const Tensor x = ones({3});
#ifdef ALLOWED
  jvp(f)(x, zeros({3}));
#else
  jvp(f)(x, Tensor());  // here
#endif
}
