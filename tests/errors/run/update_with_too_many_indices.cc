// tests/errors/run/update_with_too_many_indices.cc -- more indices than axes
// expect: index: 3 indices for f64[3, 2], which has rank 2
#include "tests/errors/fails.h"

MISTAKE(update_with_too_many_indices) {
  const Tensor x = ones({3, 2});
#ifdef ALLOWED
  x.at(0, 0).set(1.0);
#else
  x.at(0, 0, 0).set(1.0);  // here
#endif
}
