// tests/errors/run/sparse_jacobian_prepared_for_another_shape.cc -- a pattern for three elements
// and four of them
//
// expect: sparse_jacobian: argument 0 is f64[4], and the pattern is for f64[3]
// expect: hint: call prepare(x...) again for other types
#include "tests/errors/fails.h"

MISTAKE(sparse_jacobian_prepared_for_another_shape) {
  const auto f = [](Tensor x) { return sin(x); };
  const auto J = sparse_jacobian(f).prepare(f64[{3}]);  // here
#ifdef ALLOWED
  J(ones({3}));
#else
  J(ones({4}));
#endif
}
