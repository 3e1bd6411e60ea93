// tests/errors/run/pool_larger_than_the_image.cc -- a window that does not fit
//
// expect: max_pool: a window of 5 does not fit axis 1 of f64[8, 4, 4, 3]
// expect: hint: pad, or take a smaller window
#include "tests/errors/fails.h"

MISTAKE(pool_larger_than_the_image) {
  const Tensor x = ones({8, 4, 4, 3});
#ifdef ALLOWED
  max_pool(x, {4, 4});
#else
  max_pool(x, {5, 5});  // here
#endif
}
