// tests/errors/run/window_outside.cc -- a computed window that leaves its tensor
// expect: dynamic_slice:
// expect: 2
// expect: axis 0
#include "tests/errors/fails.h"

MISTAKE(window_outside) {
  const Tensor x = ones({3});
  const Tensor start = tensor({2});
#ifdef ALLOWED
  dynamic_slice(x, start, {2}, Bounds::clip);
#else
  dynamic_slice(x, start, {2});  // here
#endif
}
