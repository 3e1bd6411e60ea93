// tests/errors/run/forward_mode_of_a_clipped_gradient.cc -- its backward function is not linear
// expect: this function has a custom_vjp whose backward function is not linear in the cotangent,
// expect: hint: use grad or vjp, or give the rule by custom_jvp
#include "tests/errors/fails.h"

MISTAKE(forward_mode_of_a_clipped_gradient) {
  const auto same = [](Tensor x) { return x; };
  const auto forward = [](Tensor x) { return std::pair{x, std::tuple<>()}; };
  const auto clipped = [](std::tuple<>, Tensor ct) { return clamp(ct, -1, 1); };
#ifdef ALLOWED
  grad(custom_vjp(same, forward, clipped))(1.0);
#else
  jvp(custom_vjp(same, forward, clipped))(1.0, 1.0);  // here
#endif
}
