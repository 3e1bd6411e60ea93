// tests/errors/run/too_many_indices.cc -- more indices than axes
// expect: index: 2 indices for f64[3], which has rank 1
#include "tests/errors/fails.h"

MISTAKE(too_many_indices) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  x(0);
#else
  x(0, 0);  // here
#endif
}
