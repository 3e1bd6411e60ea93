// tests/errors/run/mask_of_another_shape.cc -- a mask that has not the shape of the leading axes
// expect: index: a mask bool[2] for f64[3, 2]
#include "tests/errors/fails.h"

MISTAKE(mask_of_another_shape) {
  const Tensor x = ones({3, 2});
#ifdef ALLOWED
  x.at(tensor({true, false, true})).set(0.0);
  x.at(x > 0).set(0.0);
#else
  x.at(tensor({true, false})).set(0.0);  // here
#endif
}
