// tests/errors/run/jacobian_of_truth_values.cc -- the Jacobian of a comparison
// expect: jacobian: the function returns bool[3], and only floats have derivatives
#include "tests/errors/fails.h"

MISTAKE(jacobian_of_truth_values) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  jacobian([](Tensor t) { return where(t > 0, t, 0); })(x);
#else
  jacobian([](Tensor t) { return t > 0; })(x);  // here
#endif
}
