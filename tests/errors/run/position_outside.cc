// tests/errors/run/position_outside.cc -- a computed position beyond the last element, where that
// is to be checked
//
// expect: set: position 3 is outside axis 0 of f64[3, 2]
// expect: Bounds::clip
#include "tests/errors/fails.h"

MISTAKE(position_outside) {
  const Tensor x = ones({3, 2});
  const Tensor positions = tensor({0, 3});
#ifdef ALLOWED
  x.at(positions).set(1.0);
  x.at(positions).set(1.0, Bounds::clip);
#else
  x.at(positions).set(1.0, Bounds::check);  // here
#endif
}
