// tests/errors/run/mismatched_inner_extents.cc -- a matrix product of matrices that do not fit
// expect: matmul: inner extents differ: lhs f32[64, 784] · rhs f32[128, 10] (784 ≠ 128)
// expect: hint: the weight of an affine layer is [inputs, outputs]
#include "tests/errors/fails.h"

MISTAKE(mismatched_inner_extents) {
  const Tensor x = ones({64, 784}, f32);
#ifdef ALLOWED
  matmul(x, ones({784, 10}, f32));
#else
  matmul(x, ones({128, 10}, f32));  // here
#endif
}
