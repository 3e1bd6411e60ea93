// tests/errors/run/concat_mismatch.cc -- parts that differ in another axis than the joined one
// expect: concat: extents differ besides axis 0: f64[2, 3] and f64[2, 4]
#include "tests/errors/fails.h"

MISTAKE(concat_mismatch) {
  const Tensor x = ones({2, 3});
#ifdef ALLOWED
  concat({x, ones({2, 4})}, 1);
#else
  concat({x, ones({2, 4})});  // here
#endif
}
