// tests/errors/run/symmetric_colouring_of_another_pattern.cc -- a star colouring of what is not
// symmetric
//
// expect: colour_symmetric: a pattern of 2 × 2 is not symmetric
// expect: hint: unite it with its transpose, or colour its columns
#include "tests/errors/fails.h"

MISTAKE(symmetric_colouring_of_another_pattern) {
  const SparsityPattern pattern = sparsity_pattern(2, 2, {{0, 1}});
#ifdef ALLOWED
  colour_symmetric(unite(pattern, transpose(pattern)));
#else
  colour_symmetric(pattern);  // here
#endif
}
