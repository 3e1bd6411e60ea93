// tests/errors/run/axis_named_twice.cc -- an axis that is reduced twice
// expect: sum: axes [0, -2] name an axis twice
#include "tests/errors/fails.h"

MISTAKE(axis_named_twice) {
  const Tensor x = ones({2, 3});
#ifdef ALLOWED
  sum(x, {0, -1});
#else
  sum(x, {0, -2});  // here
#endif
}
