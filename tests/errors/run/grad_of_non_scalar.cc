// tests/errors/run/grad_of_non_scalar.cc -- the gradient of a function that returns a matrix
// expect: grad: the function returns f64[3, 4], not one tensor of rank 0
// expect: hint: reduce it with sum or mean; jacobian and vjp differentiate other results
#include "tests/errors/fails.h"

MISTAKE(grad_of_non_scalar) {
  const auto f = [](Tensor x) { return x * ones({3, 4}); };
#ifdef ALLOWED
  grad([&](Tensor x) { return sum(f(x)); })(2.0);
  jacobian(f)(2.0);
#else
  grad(f)(2.0);  // here
#endif
}
