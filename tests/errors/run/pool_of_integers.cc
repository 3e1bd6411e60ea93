// tests/errors/run/pool_of_integers.cc -- the mean of windows of integers
//
// expect: avg_pool: takes floats, got i64[6, 1]
// expect: hint: convert with astype(f32) or astype(f64)
#include "tests/errors/fails.h"

MISTAKE(pool_of_integers) {
  const Tensor x = ones({6, 1}, i64);
#ifdef ALLOWED
  avg_pool(x.astype(f32), {2});
#else
  avg_pool(x, {2});  // here
#endif
}
