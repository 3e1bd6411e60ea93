// tests/errors/run/pad_by_a_negative_amount.cc -- padding that would take elements away
// expect: pad: low [-1] is negative
// expect: hint: slice takes elements away
#include "tests/errors/fails.h"

MISTAKE(pad_by_a_negative_amount) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  slice(x, {1}, {2}, {1});
#else
  pad(x, 0, {-1}, {0});  // here
#endif
}
