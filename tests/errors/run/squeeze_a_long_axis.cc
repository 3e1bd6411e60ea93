// tests/errors/run/squeeze_a_long_axis.cc -- dropping an axis that holds more than one element
// expect: squeeze: axis 0 of [2, 1] has extent 2, not 1
#include "tests/errors/fails.h"

MISTAKE(squeeze_a_long_axis) {
  const Tensor x = ones({2, 1});
#ifdef ALLOWED
  squeeze(x, {1});
#else
  squeeze(x, {0});  // here
#endif
}
