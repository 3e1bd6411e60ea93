// tests/errors/run/argmax_of_empty.cc -- the position of the largest of no elements
// expect: argmax: axis 0 of f64[0] is empty
#include "tests/errors/fails.h"

MISTAKE(argmax_of_empty) {
  const Tensor x = zeros({0});
#ifdef ALLOWED
  argmax(ones({1}), 0);
  sum(x);
#else
  argmax(x, 0);  // here
#endif
}
