// tests/errors/run/implicit_residual_of_wrong_shape.cc -- more equations than unknowns
// expect: implicit: the `residual` is f64[2], not f64[]
#include "tests/errors/fails.h"

MISTAKE(implicit_residual_of_wrong_shape) {
  const auto root = [](Tensor a) { return sqrt(a); };
#ifdef ALLOWED
  grad(implicit(root, [](Tensor x, Tensor a) { return x * x - a; }))(4.0);
#else
  const auto residual = [](Tensor x, Tensor a) { return stack({x * x - a, x}); };
  grad(implicit(root, residual))(4.0);  // here
#endif
}
