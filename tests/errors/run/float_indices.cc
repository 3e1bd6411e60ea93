// tests/errors/run/float_indices.cc -- indices that are not integers
// expect: gather: indices are f64, not an integer tensor
// expect: hint: convert with indices.astype(i64)
#include "tests/errors/fails.h"

MISTAKE(float_indices) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  take(x, x.astype(i64));
#else
  take(x, x);  // here
#endif
}
