// tests/errors/run/pool_with_too_few_strides.cc -- one stride for two spatial axes
//
// expect: max_pool: stride [2] has 1 entries for 2 spatial axes
// expect: hint: lists have one entry for each spatial axis, such as height and width
#include "tests/errors/fails.h"

MISTAKE(pool_with_too_few_strides) {
  const Tensor x = ones({8, 4, 4, 3});
#ifdef ALLOWED
  max_pool(x, {3, 3}, {.stride = {1, 1}});
#else
  max_pool(x, {3, 3}, {.stride = {2}});  // here
#endif
}
