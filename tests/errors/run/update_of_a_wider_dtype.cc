// tests/errors/run/update_of_a_wider_dtype.cc -- an update that would lose digits
// expect: scatter: an update of dtype f64 does not fit a tensor of f32
#include "tests/errors/fails.h"

MISTAKE(update_of_a_wider_dtype) {
  const Tensor x = zeros({3}, f32);
  const Tensor places = tensor({{1}});
#ifdef ALLOWED
  scatter(x, places, ones({1}, f32), {0}, Combine::add);
#else
  scatter(x, places, ones({1}), {0}, Combine::add);  // here
#endif
}
