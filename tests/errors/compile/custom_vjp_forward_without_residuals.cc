// tests/errors/compile/custom_vjp_forward_without_residuals.cc -- it returns the result only
// expect: hom: the forward function of custom_vjp returns pair{{f(x…), residuals}}.
#include "tests/errors/fails.h"

MISTAKE(custom_vjp_forward_without_residuals) {
  const auto f = [](Tensor x) { return 2 * x; };
  const auto backward = [](std::tuple<>, Tensor ct) { return 2 * ct; };
#ifdef ALLOWED
  custom_vjp(f, [](Tensor x) { return std::pair{2 * x, std::tuple<>()}; }, backward)(1.0);
#else
  custom_vjp(f, f, backward)(1.0);  // here
#endif
}
