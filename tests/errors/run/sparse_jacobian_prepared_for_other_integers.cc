// tests/errors/run/sparse_jacobian_prepared_for_other_integers.cc -- positions that move, though
// the pattern is for those before
//
// expect: sparse_jacobian: argument 1, i32[2], differs from the integers that the pattern is for
// expect: hint: call prepare(x...) again, or with the type of that argument in its place
#include "tests/errors/fails.h"

MISTAKE(sparse_jacobian_prepared_for_other_integers) {
  const auto f = [](Tensor x, Tensor i) { return take(x, i); };
  const auto J = sparse_jacobian(f).prepare(f64[{3}], tensor({0, 2}));  // here
#ifdef ALLOWED
  J(ones({3}), tensor({0, 2}));
#else
  J(ones({3}), tensor({1, 2}));
#endif
}
