// tests/errors/run/index_out_of_range.cc -- a written index beyond the last element
// expect: index: 3 is outside axis 0 of f64[3]
#include "tests/errors/fails.h"

MISTAKE(index_out_of_range) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  x[2];
  x[-3];
#else
  x[3];  // here
#endif
}
