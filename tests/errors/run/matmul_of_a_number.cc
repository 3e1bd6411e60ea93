// tests/errors/run/matmul_of_a_number.cc -- a matrix product with a tensor of rank 0
// expect: matmul: takes tensors of rank 1 or more, got lhs f64[2, 2] · rhs f64[]
// expect: hint: multiply by a number with *
#include "tests/errors/fails.h"

MISTAKE(matmul_of_a_number) {
  const Tensor x = ones({2, 2});
#ifdef ALLOWED
  sum(x * Tensor(2.0));
#else
  matmul(x, Tensor(2.0));  // here
#endif
}
