// tests/errors/run/pool_of_padding_only.cc -- so much padding that a window has no element
//
// expect: avg_pool: window 0 along axis 1 of f64[8, 4, 4, 3] has only padding
// expect: hint: pad by less than a window reaches, or count the padding as zeros
#include "tests/errors/fails.h"

MISTAKE(pool_of_padding_only) {
  const Tensor x = ones({8, 4, 4, 3});
#ifdef ALLOWED
  avg_pool(x, {2, 2}, {.padding = {1, 1}});
#else
  avg_pool(x, {2, 2}, {.padding = {2, 2}});  // here
#endif
}
