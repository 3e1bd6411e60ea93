// tests/errors/run/conv_of_unequal_groups.cc -- channels that groups do not divide
//
// expect: conv: 3 groups do not divide the 4 channels of a kernel f64[3, 3, 1, 4]
// expect: hint: x is [batch..., spatial..., channels], the kernel [spatial..., channels of x
#include "tests/errors/fails.h"

MISTAKE(conv_of_unequal_groups) {
  const Tensor x = ones({8, 9, 9, 3});
#ifdef ALLOWED
  conv(x, ones({3, 3, 1, 6}), {.groups = 3});
#else
  conv(x, ones({3, 3, 1, 4}), {.groups = 3});  // here
#endif
}
