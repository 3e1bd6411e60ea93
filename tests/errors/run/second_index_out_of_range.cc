// tests/errors/run/second_index_out_of_range.cc -- an index outside the second axis
// expect: index: 5 is outside axis 1 of f64[2, 3]
#include "tests/errors/fails.h"

MISTAKE(second_index_out_of_range) {
  const Tensor x = ones({2, 3});
#ifdef ALLOWED
  x(0, 2);
#else
  x(0, 5);  // here
#endif
}
