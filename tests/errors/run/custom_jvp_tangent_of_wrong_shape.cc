// tests/errors/run/custom_jvp_tangent_of_wrong_shape.cc -- the tangent of something else
// expect: custom_jvp: the rule's `tangent` is f64[3], not f64[]
// expect: hint: it has the type of the value that it belongs to
#include "tests/errors/fails.h"

MISTAKE(custom_jvp_tangent_of_wrong_shape) {
  const auto f = [](Tensor x) { return sum(x * x); };
  const auto rule = [](Tensor x, Tensor, Tensor dx) { return 2 * sum(x * dx); };
  const auto other = [](Tensor x, Tensor, Tensor dx) { return 2 * x * dx; };
#ifdef ALLOWED
  grad(custom_jvp(f, rule))(ones({3}));
  static_cast<void>(other);
#else
  grad(custom_jvp(f, other))(ones({3}));  // here
  static_cast<void>(rule);
#endif
}
