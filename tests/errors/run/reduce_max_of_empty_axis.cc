// tests/errors/run/reduce_max_of_empty_axis.cc -- the largest of no elements
// expect: axis 1 of f64[3, 0] is empty
// expect: hint: max_or and min_or take an initial value
#include "tests/errors/fails.h"

MISTAKE(reduce_max_of_empty_axis) {
  const Tensor x = zeros({3, 0});
#ifdef ALLOWED
  max_or(x, 0, 1);
  max(x, 0);
#else
  max(x, 1);  // here
#endif
}
