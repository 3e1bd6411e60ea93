// tests/errors/run/sparse_jacobian_of_truth_values.cc -- the sparse Jacobian of a comparison
// expect: sparse_jacobian: the function returns bool[3], and only floats have derivatives
#include "tests/errors/fails.h"

MISTAKE(sparse_jacobian_of_truth_values) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  sparse_jacobian([](Tensor t) { return where(t > 0, t, 0); })(x);
#else
  sparse_jacobian([](Tensor t) { return t > 0; })(x);  // here
#endif
}
