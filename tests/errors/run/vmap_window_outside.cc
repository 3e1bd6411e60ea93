// tests/errors/run/vmap_window_outside.cc -- a lane whose window leaves its tensor, in a map
//
// expect: dynamic_slice: a window of 2 that starts at index 3 is out of range on axis 1
// expect: whose extent is 4
// expect: hint: the start may be 0 … 2
#include "tests/errors/fails.h"

MISTAKE(vmap_window_outside) {
  const Tensor x = ones({3, 4});
  const Tensor starts = stack({tensor({0, 1}), tensor({0, 3})});
#ifdef ALLOWED
  vmap([&](Tensor start) { return dynamic_slice(x, start, {1, 2}, Bounds::clip); })(starts);
#else
  const auto f = [&](Tensor start) { return dynamic_slice(x, start, {1, 2}); };  // here
  vmap(f)(starts);
#endif
}
