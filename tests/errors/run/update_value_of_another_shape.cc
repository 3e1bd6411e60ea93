// tests/errors/run/update_value_of_another_shape.cc -- a value that does not broadcast to the
// indexed elements
//
// expect: set: a value f64[3] does not broadcast to [2]
// expect: indexed elements of f64[3, 2]
#include "tests/errors/fails.h"

MISTAKE(update_value_of_another_shape) {
  const Tensor x = ones({3, 2});
#ifdef ALLOWED
  x.at(0).set(ones({2}));
  x.at(0).set(ones({1, 1, 2}));
#else
  x.at(0).set(ones({3}));  // here
#endif
}
