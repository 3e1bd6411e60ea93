// tests/errors/run/mismatched_shapes.cc -- extents that are neither equal nor 1
// expect: add: shapes do not broadcast: f64[3] and f64[4] (axis -1: 3 ≠ 4)
// expect: hint: extents must be equal or 1, counted from the last axis
#include "tests/errors/fails.h"

MISTAKE(mismatched_shapes) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  x + ones({3});
  x + ones({4, 3});
#else
  x + ones({4});  // here
#endif
}
