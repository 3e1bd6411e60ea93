// tests/errors/run/conv_transpose_of_other_channels.cc -- a kernel that is not the convolution's
//
// expect: conv_transpose: y f64[1, 4, 2] has 2 channels, and a kernel f64[3, 2, 1] made 1
// expect: hint: the kernel is that of the convolution: [spatial..., channels of the result / groups
#include "tests/errors/fails.h"

MISTAKE(conv_transpose_of_other_channels) {
  const Tensor y = ones({1, 4, 2});
#ifdef ALLOWED
  conv_transpose(y, ones({3, 1, 2}));
#else
  conv_transpose(y, ones({3, 2, 1}));  // here
#endif
}
