// tests/errors/run/pattern_entry_outside.cc -- an entry in a column that the matrix does not have
// expect: sparsity_pattern: entry (1, 3) is outside a matrix of 2 × 3
#include "tests/errors/fails.h"

MISTAKE(pattern_entry_outside) {
#ifdef ALLOWED
  sparsity_pattern(2, 3, {{0, 0}, {1, 2}});
#else
  sparsity_pattern(2, 3, {{0, 0}, {1, 3}});  // here
#endif
}
