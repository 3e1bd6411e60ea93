// tests/errors/run/slice_outside.cc -- a slice that leaves its tensor
// expect: slice: start 2, size 2, step 1 leaves axis 0 of f64[3]
#include "tests/errors/fails.h"

MISTAKE(slice_outside) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  slice(x, {1}, {2}, {1});
#else
  slice(x, {2}, {2}, {1});  // here
#endif
}
