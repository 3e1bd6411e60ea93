// tests/errors/run/sparse_pattern_of_another_size.cc -- entries to be stored in another matrix
// expect: sparse_jacobian: the pattern to be stored is [2, 2], and the matrix [3, 3]
#include "tests/errors/fails.h"

MISTAKE(sparse_pattern_of_another_size) {
  const auto f = [](Tensor x) { return sin(x); };
#ifdef ALLOWED
  sparse_jacobian(f, {.stored = sparsity_pattern(3, 3, {{0, 1}})})(ones({3}));
#else
  sparse_jacobian(f, {.stored = sparsity_pattern(2, 2, {{0, 1}})})(ones({3}));  // here
#endif
}
