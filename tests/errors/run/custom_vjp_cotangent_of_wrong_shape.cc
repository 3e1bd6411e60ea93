// tests/errors/run/custom_vjp_cotangent_of_wrong_shape.cc -- the cotangent of something else
// expect: custom_vjp: the backward function's `cotangent` is f64[], not f64[3]
#include "tests/errors/fails.h"

MISTAKE(custom_vjp_cotangent_of_wrong_shape) {
  const auto f = [](Tensor x) { return sum(x * x); };
  const auto forward = [](Tensor x) { return std::pair{sum(x * x), x}; };
#ifdef ALLOWED
  grad(custom_vjp(f, forward, [](Tensor x, Tensor ct) { return 2 * x * ct; }))(ones({3}));
#else
  const auto backward = [](Tensor x, Tensor ct) { return 2 * sum(x * ct); };
  grad(custom_vjp(f, forward, backward))(ones({3}));  // here
#endif
}
