// tests/errors/run/conv_transpose_to_other_extents.cc -- a result that the convolution does not
// take to y
//
// expect: conv_transpose: a convolution of extent 12 makes 5 along axis 0 of the spatial
// expect: hint: extents are those of the result, one for each spatial axis
#include "tests/errors/fails.h"

MISTAKE(conv_transpose_to_other_extents) {
  const Tensor y = ones({1, 4, 2});
  const Tensor kernel = ones({3, 1, 2});
#ifdef ALLOWED
  conv_transpose(y, kernel, {.stride = {2}, .extents = {10}});
#else
  conv_transpose(y, kernel, {.stride = {2}, .extents = {12}});  // here
#endif
}
