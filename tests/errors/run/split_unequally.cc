// tests/errors/run/split_unequally.cc -- a split into parts that would not be equal
// expect: split: axis 0 of [5] does not divide into 2 equal parts
#include "tests/errors/fails.h"

MISTAKE(split_unequally) {
  const Tensor x = ones({5});
#ifdef ALLOWED
  split(x, 5);
#else
  split(x, 2);  // here
#endif
}
