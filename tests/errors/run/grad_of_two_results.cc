// tests/errors/run/grad_of_two_results.cc -- the gradient of a function that returns a pair
// expect: grad: the function returns (f64[], f64[]), not one tensor of rank 0
#include <utility>

#include "tests/errors/fails.h"

MISTAKE(grad_of_two_results) {
  const auto f = [](Tensor x) { return std::pair{x, x * x}; };
#ifdef ALLOWED
  grad([&](Tensor x) { return f(x).second; })(2.0);
#else
  grad(f)(2.0);  // here
#endif
}
