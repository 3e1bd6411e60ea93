// tests/errors/run/window_max_of_padding_only.cc -- the largest element of a window without any
//
// expect: window_max: window 0 along axis 0 of f64[4] has only padding
// expect: and the extreme of no elements does not exist
#include "tests/errors/fails.h"

MISTAKE(window_max_of_padding_only) {
  const Tensor x = ones({4});
#ifdef ALLOWED
  window_max(x, {.window = {2}, .low = {1}});
#else
  window_max(x, {.window = {2}, .low = {2}});  // here
#endif
}
