// tests/errors/run/patterns_of_other_sizes_united.cc -- the entries of two matrices that differ in
// size
//
// expect: unite: a pattern of 2 × 3 and one of 3 × 2
#include "tests/errors/fails.h"

MISTAKE(patterns_of_other_sizes_united) {
  const SparsityPattern pattern = sparsity_pattern(2, 3, {{0, 1}});
#ifdef ALLOWED
  unite(pattern, sparsity_pattern(2, 3, {}));
#else
  unite(pattern, transpose(pattern));  // here
#endif
}
