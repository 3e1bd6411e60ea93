// tests/errors/run/sparse_jacobian_of_more_arguments.cc -- a prepared Jacobian called with another
// number of tensors
//
// expect: sparse_jacobian: prepared for 1 tensors, called with 2
#include "tests/errors/fails.h"

MISTAKE(sparse_jacobian_of_more_arguments) {
  const auto f = [](Tensor x) { return sin(x); };
  const auto J = sparse_jacobian(f).prepare(f64[{3}]);  // here
#ifdef ALLOWED
  J(ones({3}));
#else
  J(ones({3}), ones({3}));
#endif
}
