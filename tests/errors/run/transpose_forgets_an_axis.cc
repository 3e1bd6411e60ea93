// tests/errors/run/transpose_forgets_an_axis.cc -- a permutation of fewer axes than there are
// expect: transpose: permutation [0] has 1 entries for a tensor of rank 2
#include "tests/errors/fails.h"

MISTAKE(transpose_forgets_an_axis) {
  const Tensor x = ones({2, 3});
#ifdef ALLOWED
  transpose(x, {1, 0});
#else
  transpose(x, {0});  // here
#endif
}
