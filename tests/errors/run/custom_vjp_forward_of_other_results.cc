// tests/errors/run/custom_vjp_forward_of_other_results.cc -- results that the function lacks
// expect: custom_vjp: forward returns (f64[3] and f64[3]), which does not start with the results
// expect: hint: forward returns the same results and then the residuals
#include "tests/errors/fails.h"

MISTAKE(custom_vjp_forward_of_other_results) {
  const auto f = [](Tensor x) { return sum(x * x); };
  const auto backward = [](Tensor x, Tensor ct) { return 2 * x * ct; };
#ifdef ALLOWED
  grad(custom_vjp(f, [](Tensor x) { return std::pair{sum(x * x), x}; }, backward))(ones({3}));
#else
  const auto forward = [](Tensor x) { return std::pair{x * x, x}; };
  grad(custom_vjp(f, forward, backward))(ones({3}));  // here
#endif
}
