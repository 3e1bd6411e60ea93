// tests/errors/run/stack_mismatch.cc -- parts of different shapes joined along a new axis
// expect: stack: shapes do not broadcast: f64[3] and f64[4]
#include "tests/errors/fails.h"

MISTAKE(stack_mismatch) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  stack({x, ones({3})});
#else
  stack({x, ones({4})});  // here
#endif
}
