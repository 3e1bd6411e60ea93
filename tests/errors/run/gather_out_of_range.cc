// tests/errors/run/gather_out_of_range.cc -- an index beyond the last element
// expect: gather: index 7 is out of range on axis 0 of f64[3]
#include "tests/errors/fails.h"

MISTAKE(gather_out_of_range) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  take(x, tensor({0, 2}));
  take(x, tensor({0, 7}), 0, Bounds::clip);
#else
  take(x, tensor({0, 7}));  // here
#endif
}
