// tests/errors/run/pool_without_channels.cc -- an image whose channels are missing
//
// expect: max_pool: a window [2, 2] does not slide over f64[4, 4]
// expect: hint: x is [batch..., spatial..., channels], with one entry of the window
#include "tests/errors/fails.h"

MISTAKE(pool_without_channels) {
  const Tensor x = ones({4, 4});
#ifdef ALLOWED
  max_pool(expand_dims(x, -1), {2, 2});
#else
  max_pool(x, {2, 2});  // here
#endif
}
