// tests/errors/run/reshape_wrong_count.cc -- a reshape that would lose elements
// expect: reshape:
// expect: f64[2, 3]
// expect: [4]
#include "tests/errors/fails.h"

MISTAKE(reshape_wrong_count) {
  const Tensor x = ones({2, 3});
#ifdef ALLOWED
  reshape(x, {6});
  reshape(x, {3, -1});
#else
  reshape(x, {4});  // here
#endif
}
