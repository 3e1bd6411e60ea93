// tests/errors/run/scatter_out_of_range.cc -- an update outside, where that is asked to be an error
// expect: scatter:
// expect: 5
// expect: axis 0
#include "tests/errors/fails.h"

MISTAKE(scatter_out_of_range) {
  const Tensor x = ones({3});
  const Tensor places = tensor({{5}});
#ifdef ALLOWED
  scatter(x, places, ones({1}), {0}, Combine::add);
#else
  scatter(x, places, ones({1}), {0}, Combine::add, Bounds::check);  // here
#endif
}
