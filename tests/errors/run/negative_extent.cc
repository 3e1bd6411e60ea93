// tests/errors/run/negative_extent.cc -- a shape with a negative extent
// expect: shape [2, -1] has a negative extent
#include "tests/errors/fails.h"

MISTAKE(negative_extent) {
#ifdef ALLOWED
  zeros({2, 0});
#else
  zeros({2, -1});  // here
#endif
}
