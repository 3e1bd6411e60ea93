// tests/errors/run/custom_jvp_not_linear.cc -- a rule not linear in the tangent, in reverse mode
// expect: mul is not linear here: both factors depend on the input
#include "tests/errors/fails.h"

MISTAKE(custom_jvp_not_linear) {
  const auto f = [](Tensor x) { return x * x; };
#ifdef ALLOWED
  grad(custom_jvp(f, [](Tensor x, Tensor, Tensor dx) { return 2 * x * dx; }))(1.0);
#else
  const auto rule = [](Tensor x, Tensor, Tensor dx) {
    return x * dx * dx;  // here
  };
  grad(custom_jvp(f, rule))(1.0);
#endif
}
