// tests/errors/run/compiled_window_outside.cc -- a window that leaves the tensor, compiled
//
// expect: dynamic_slice: a window of 2 that starts at index 2 is out of range on axis 0
// expect: whose extent is 3
// expect: the start may be 0 … 1
#include "tests/errors/fails.h"

MISTAKE(compiled_window_outside) {
  const auto window = compile(
      [](Tensor x, Tensor start) {
        return dynamic_slice(x, start, {2});  // here
      },
      {.tier = Tier::interpreter});
#ifdef ALLOWED
  window(ones({3}), tensor({1}));
#else
  window(ones({3}), tensor({2}));
#endif
}
