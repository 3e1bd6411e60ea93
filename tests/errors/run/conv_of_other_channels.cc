// tests/errors/run/conv_of_other_channels.cc -- a kernel in another layout
//
// expect: conv: x f32[8, 28, 28, 3] has 28 channels, and a kernel f32[16, 3, 5, 5] takes 3
// expect: hint: x is [batch..., channels, spatial...], the kernel [channels of the result, channels
#include "tests/errors/fails.h"

MISTAKE(conv_of_other_channels) {
  const Tensor x = ones({8, 28, 28, 3}, f32);
  const Tensor kernel = ones({16, 3, 5, 5}, f32);
#ifdef ALLOWED
  conv(move_axis(x, -1, 1), kernel, {.channels = Channels::first});
#else
  conv(x, kernel, {.channels = Channels::first});  // here
#endif
}
