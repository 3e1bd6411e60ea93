// tests/errors/compile/custom_vjp_backward_of_other_parameters.cc -- it takes the cotangent only
// expect: hom: the backward function of custom_vjp takes the residuals, as forward returns them,
#include "tests/errors/fails.h"

MISTAKE(custom_vjp_backward_of_other_parameters) {
  const auto f = [](Tensor x) { return 2 * x; };
  const auto forward = [](Tensor x) { return std::pair{2 * x, std::tuple<>()}; };
#ifdef ALLOWED
  custom_vjp(f, forward, [](std::tuple<>, Tensor ct) { return 2 * ct; })(1.0);
#else
  custom_vjp(f, forward, [](Tensor ct) { return 2 * ct; })(1.0);  // here
#endif
}
