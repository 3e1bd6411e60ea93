// tests/errors/run/conv_kernel_does_not_fit.cc -- a dilated kernel that reaches too far
//
// expect: conv: a window of 9 does not fit axis 1 of f64[8, 6, 1] with 2 places of padding
// expect: hint: pad, or take a smaller window
#include "tests/errors/fails.h"

MISTAKE(conv_kernel_does_not_fit) {
  const Tensor x = ones({8, 6, 1});
#ifdef ALLOWED
  conv(x, ones({3, 1, 1}), {.padding = {2}, .dilation = {4}});
#else
  conv(x, ones({3, 1, 1}), {.padding = {1}, .dilation = {4}});  // here
#endif
}
